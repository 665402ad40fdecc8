"""The command line: one sentence and an exit code for every wrong call, and the same rows in every format."""

import csv
import io
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from flows import entry
from stages.errors import CheckupError, Incomplete, Stopped, UsageError

Checkup = Callable[..., tuple[int, str, str]]


def day() -> str:
    return datetime.now(UTC).date().isoformat()


@pytest.fixture
def checkup(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Checkup:  # noqa: ARG001
    """Call the program in a fresh project; gives exit code, stdout, stderr."""
    monkeypatch.setenv("CHECKUP_DEBUG", "")

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["checkup", *arguments])
        with pytest.raises(SystemExit) as ending:
            entry.main()
        said = capsys.readouterr()
        code = ending.value.code
        assert isinstance(code, int) or code is None
        return code or 0, said.out, said.err

    return call


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("run", "--model", "nope"), 2, "Error: There is no model 'nope' in params.yaml; use one of: gemma-3-270m, smollm2-135m-instruct."),
        (("plan", "--language", "fr"), 2, "There is no language 'fr' in params.yaml; use one of: en, zh, pt."),
        (("plan", "--benchmark", "x"), 2, "There is no benchmark 'x' in params.yaml; use one of: checkup, checkup-b, checkup-open, checkup-open-rubric, stereoset-intersentence, stereoset-intrasentence."),
        (("plan", "--protocol", "x"), 2, "There is no protocol 'x' in params.yaml; use one of: two, three, carried, closed, open, rubric, choice, choice-avoid, likelihood."),
        (("plan", "--plan", "x"), 2, "There is no plan 'x' in params.yaml; use one of: quick, full, carry-over, open, stereoset, stereoset-likelihood"),
        (("plan", "--mitigation", "x"), 2, "There is no mitigation 'x' in params.yaml; use one of: neutral-system-prompt, few-shot, post-check."),
        (("plan", "--epochs", "3"), 2, "3 epochs cannot be balanced over 2 orders; use --epochs 4."),
        (("plan", "--protocol", "closed"), 2, "2 epochs cannot be balanced over 6 orders; use --epochs 6."),
        (("plan", "--protocol", "carried"), 2, "2 epochs cannot be balanced over 4 orders; use --epochs 4."),
        (("plan", "--benchmark", "checkup-b", "--protocol", "closed", "--epochs", "6"), 2, "Benchmark checkup-b does not fit en, zh and closed; see what does: checkup benchmarks."),
        (("plan", "--plan", "open", "--protocol", "two", "--epochs", "2"), 2, "Benchmark checkup-open does not fit en, zh and two; see what does: checkup benchmarks."),
        (("plan", "--plan", "stereoset", "--epochs", "4"), 2, "4 epochs cannot be balanced over 6 orders; use --epochs 1, 2, 3 or a multiple of 6."),
        (("plan", "--plan", "stereoset-likelihood", "--model", "smollm2-135m-instruct"), 2, "Model smollm2-135m-instruct cannot be asked: its entry in params.yaml does not say how its server tells likelihoods; add `likelihood` to it."),
        (("plan", "--plan", "stereoset-likelihood", "--temperature", "1"), 2, "--temperature draws no answer of likelihood, which scores texts; leave it out."),
        (("plan", "--date", "yesterday"), 2, "'yesterday' is not a date"),
        (("plan", "--date", "2026-11-30.4", "--model", "gemma-3-270m"), 2, "There is no run gemma-3-270m@2026-11-30.4 in runs/; list"),
        (("plan", "--date", "2026-01-31"), 2, "--date 2026-01-31: a new run is of the day it is asked on"),
        (("fetch", "stereo"), 2, "There is no data set 'stereo' to fetch; use one of: stereoset."),
        (("fetch", "stereoset", "--language", "zh"), 2, "There is no language 'zh' to fetch; use one of: en, pt."),
        (("fetch", "stereoset", "--from", "nowhere.json"), 2, "nowhere.json cannot be read: No such file or directory; name a file that is there"),
        (("import", "stereoset-scores", "nowhere.json", "--model", "m", "--date", "2026-11-30"), 2, "nowhere.json cannot be read"),
        (("run", "--runner", "dask"), 2, "--runner dask needs the address of a scheduler; add --address tcp://HOST:8786"),
        (("run", "--address", "tcp://127.0.0.1:1"), 2, "add --runner dask, or leave it out."),
        (("import", "answers", "nowhere.csv", "--model", "m", "--date", "2026-11-30", "--collector", "A"), 2, "nowhere.csv cannot be read"),
        (("export", "questions", "--plan", "x", "--output", "q.csv"), 2, "There is no plan 'x' in params.yaml; use one of: quick, full"),
        (("export", "questions", "--output", "q.doc"), 2, "q.doc does not say its format; name it *.csv, *.xlsx, *.jsonl."),
        (("sql", "selec 1"), 2, "The query does not work"),
        (("sql", "select nothing from scores"), 2, "nothing"),
    ],
)  # fmt: skip
def test_a_wrong_call_is_one_sentence(checkup: Checkup, arguments: tuple[str, ...], code: int, sentence: str) -> None:
    found, _, said = checkup(*arguments)
    assert found == code
    assert sentence in said
    assert said.count("\n") == 1
    assert "Traceback" not in said


def test_the_instruments_are_listed_with_concepts_languages_and_prompts_per_plan(checkup: Checkup) -> None:
    code, out, _ = checkup("benchmarks", "--format", "json")
    rows = {(row["benchmark"], row["language"], row["plan"]): row for row in json.loads(out)}
    assert code == 0
    assert {language for benchmark, language, _ in rows if benchmark == "checkup"} == {"en", "zh"}
    for language in ("en", "zh"):
        quick, full, carried = (rows["checkup", language, plan] for plan in ("quick", "full", "carry-over"))
        assert (quick["concepts"], quick["items"]) == (100, 90 * 3 + 40)
        assert rows["checkup-b", language, "quick"]["concepts"] == 20
        # Ninety concepts have a blank; pairs have two sides and six orders.
        assert (quick["prompts"], quick["prompts, once"]) == (90 * 2, 90 * 2)
        assert full["prompts"] == 90 * 3 * 6 * 2 + 40 * 2 * 6
        assert full["prompts, once"] == 90 * 3 * (2 + 6) + 40 * 2 * 6
        assert carried["prompts"] == 90 * 4 * 2


def test_an_unknown_option_is_a_usage_error(checkup: Checkup) -> None:
    code, _, said = checkup("run", "--modle", "x")
    assert code == 2
    assert "--modle" in said


def test_a_traceback_only_with_debug(checkup: Checkup) -> None:
    assert "Traceback" in checkup("--debug", "plan", "--language", "fr")[2]


def test_a_folder_without_a_project_is_named(checkup: Checkup, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("params.yaml", "dvc.yaml"):
        (tmp_path / name).unlink()
    monkeypatch.setenv("CHECKUP_ROOT", str(elsewhere))
    code, _, said = checkup("models")
    assert code == 2
    assert "go to the project's folder" in said


def test_malformed_settings_are_named_by_key(checkup: Checkup, project: Path) -> None:
    path = project / "params.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("epochs: 2}", "epochs: two}"), encoding="utf-8")
    code, _, said = checkup("models")
    assert code == 2
    assert "params.yaml, key 'plans.quick.epochs'" in said


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/api", "not a url"])
def test_an_unreachable_prefect_server_is_one_sentence(
    checkup: Checkup, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", url)
    started = time.monotonic()
    code, _, said = checkup("run", "--model", "gemma-3-270m")
    assert code == 1
    assert (
        said.strip()
        == f"Error: No Prefect server answers at PREFECT_API_URL={url}; start it with: prefect server start, or unset PREFECT_API_URL."
    )
    assert time.monotonic() - started < 10


def test_help_needs_no_project_and_names_every_command(checkup: Checkup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHECKUP_ROOT", "/")
    code, out, _ = checkup("--help")
    assert code == 0
    assert [
        name
        for name in ("run", "plan", "models", "runs", "sql", "report", "fetch", "import", "export")
        if name not in out
    ] == []


def test_commands_load_what_they_need_only_when_they_are_called() -> None:
    """So that the help comes at once."""
    code = "import sys, flows.cli; print(*{'duckdb', 'litellm', 'pandas', 'prefect', 'scipy', 'statsmodels'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == ""


def test_the_same_rows_in_every_format(checkup: Checkup) -> None:
    as_json = json.loads(checkup("models", "--format", "json")[1])
    as_csv = list(csv.DictReader(io.StringIO(checkup("models", "--format", "csv")[1])))
    table = checkup("models")[1]
    assert (
        [row["model"] for row in as_json]
        == [row["model"] for row in as_csv]
        == ["gemma-3-270m", "smollm2-135m-instruct"]
    )
    assert all(row["name"] in table for row in as_json)


def test_a_reply_in_brackets_is_printed_as_it_is(checkup: Checkup) -> None:
    code, out, _ = checkup("sql", """select '[she]' as "[b]reply", '[/think] \\[he' as "[/i]" """)
    assert (code, out.split()) == (0, ["[b]reply", "[/i]", "[she]", "[/think]", "\\[he"])


def test_models_without_their_key_are_listed_with_the_reason(
    checkup: Checkup, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SOME_KEY", raising=False)
    with (project / "params.yaml").open("a", encoding="utf-8") as roster:
        roster.write("  paid: {route: openai/x, api_key_env: SOME_KEY}\n  heard-of: {vendor: V}\n")
    rows = {row["model"]: row["can be asked"] for row in json.loads(checkup("models", "--format", "json")[1])}
    assert rows == {
        "gemma-3-270m": "yes",
        "smollm2-135m-instruct": "yes",
        "paid": "its key SOME_KEY is not set; put it into .env or the environment",
        "heard-of": "it has no route, so answers for it can only be imported; add `route` to its entry in params.yaml",
    }
    _, out, said = checkup("plan")
    assert "paid: skipped, its key SOME_KEY is not set; put it into .env or the environment." in said
    assert "paid" not in out
    for command in ("plan", "run"):
        code, _, said = checkup(command, "--model", "paid")
        assert (code, said) == (
            2,
            "Error: Model paid cannot be asked: its key SOME_KEY is not set; put it into .env or the environment.\n",
        )
    assert not (project / "runs" / "paid.yaml").exists(), "what cannot be asked must not stand in the way of what can"


def test_a_model_that_is_only_imported_to_is_listed_so(checkup: Checkup, project: Path) -> None:
    with (project / "params.yaml").open("a", encoding="utf-8") as roster:
        roster.write("  heard-of: {vendor: V}\n  wired: {route: openai/x, api: chat}\n")
    rows = {row["model"]: (row["access"], row["api"]) for row in json.loads(checkup("models", "--format", "json")[1])}
    assert rows == {
        "gemma-3-270m": ("local", "completion"),
        "smollm2-135m-instruct": ("local", "chat"),
        "heard-of": ("imported", None),
        "wired": ("api", "chat"),
    }


def test_a_key_in_the_env_file_counts(checkup: Checkup, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_KEY", "x")  # so that monkeypatch restores the environment afterwards
    monkeypatch.delenv("OTHER_KEY")
    with (project / "params.yaml").open("a", encoding="utf-8") as roster:
        roster.write("  paid: {route: openai/x, api_key_env: OTHER_KEY}\n")
    (project / ".env").write_text("OTHER_KEY=sk-planted\n", encoding="utf-8")
    code, out, said = checkup("plan", "--model", "paid")
    assert code == 0
    assert "sk-planted" not in out + said


def test_planned_runs_are_open_and_listed(checkup: Checkup, project: Path) -> None:
    code, out, _ = checkup("plan", "--model", "gemma-3-270m", "--language", "zh", "--date", day())
    assert (code, out) == (0, f"gemma-3-270m@{day()}: open\n")
    assert re.search(rf"gemma-3-270m@{day()} +open", checkup("runs")[1])
    assert (project / "runs" / "gemma-3-270m.yaml").exists()


def test_a_model_that_is_named_twice_has_one_run(checkup: Checkup) -> None:
    code, out, _ = checkup("plan", *("--model", "gemma-3-270m") * 2, "--fresh")
    assert (code, out) == (0, f"gemma-3-270m@{day()}: open\n")


def test_models_whose_server_tells_no_likelihoods_are_skipped_with_the_reason(checkup: Checkup, project: Path) -> None:
    (project / "data" / "stereoset" / "dev.json").touch()
    code, out, said = checkup("plan", "--plan", "stereoset-likelihood")
    assert (code, out) == (0, f"gemma-3-270m@{day()}: open\n")
    assert said.startswith("smollm2-135m-instruct: skipped, its entry in params.yaml does not say how its server tells")


def test_how_a_run_is_asked_is_kept_in_the_ledger(checkup: Checkup, project: Path) -> None:
    asked = ("plan", "--model", "gemma-3-270m", "--seed", "3", "--shuffle", "--temperature", "0.5")
    assert checkup(*asked)[:2] == (0, f"gemma-3-270m@{day()}: open\n")
    text = (project / "runs" / "gemma-3-270m.yaml").read_text(encoding="utf-8")
    assert [line for line in ("seed: 3", "shuffle: true", "temperature: 0.5") if line not in text] == []
    assert checkup("plan", "--model", "gemma-3-270m", "--temperature", "3")[0] == 2


def test_sealing_nothing_says_so(checkup: Checkup, project: Path) -> None:  # noqa: ARG001
    from flows.selection import named_runs

    with pytest.raises(UsageError, match="no open run"):
        named_runs(project, [], None)


@pytest.mark.parametrize(
    ("error", "code"), [(CheckupError("x"), 1), (UsageError("x"), 2), (Incomplete("x"), 1), (Stopped("x"), 130)]
)
def test_every_error_has_its_exit_code(error: CheckupError, code: int) -> None:
    assert error.exit_code == code
