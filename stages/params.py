"""params.yaml -> typed settings; the only loader, and the only YAML dialect (1.2, as DVC reads it)."""

import os
import re
from collections.abc import Iterable
from math import lcm
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from stages.errors import UsageError
from stages.schema import STYLES

PARAMS_FILE = "params.yaml"
LEAST_CONVERSATIONS = 4
"""Different orders of the items that carried conversations are asked in, at least."""
_RESERVED = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(1, 10))}
_KEY = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


def model_key(key: str) -> str:
    """Return ``key`` if it can name a folder and a DVC parameter.

    :raises ValueError: it cannot; the message suggests one that can.
    """
    if _KEY.fullmatch(key) and key not in _RESERVED:
        return key
    suggestion = re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")[:40].strip("-") or "model"
    if suggestion in _RESERVED:
        suggestion = f"model-{suggestion}"
    raise ValueError(f"{key!r} cannot name a model: use a-z, 0-9 and '-', at most 40, e.g. {suggestion!r}")


def time_zone(name: str) -> str:
    """:raises ValueError: ``name`` names no time zone."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ValueError(f"{name!r} is not an IANA time zone such as 'Asia/Shanghai'") from error
    return name


def _style(name: str) -> str:
    if name not in STYLES:
        raise ValueError(f"{name!r} is no style, use one of: {', '.join(STYLES)}")
    return name


def _address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url!r} is no address; write it as https://… or http://…")
    return url


Address = Annotated[str, AfterValidator(_address)]


class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


class Template(Settings):
    """How a question is put to a chat model and to a completion model: {text} is the item, {options} its answers.

    ``system`` is the instruction before it: a chat's system message, or the first words of a completion prompt.
    """

    needed: ClassVar[tuple[str, ...]] = ("{text}", "{options}")
    chat: str
    completion: str
    system: str | None = None

    @model_validator(mode="after")
    def _placeholders(self) -> "Template":
        for name, text in (("chat", self.chat), ("completion", self.completion)):
            for placeholder in self.needed:
                if text.count(placeholder) != 1:
                    raise ValueError(f"{name} must contain {placeholder} exactly once")
        return self


class OpenTemplate(Template):
    """The same of an item that is a whole instruction and offers nothing."""

    needed: ClassVar[tuple[str, ...]] = ("{text}",)


class Wording(Settings):
    """What is said around an item in one language, by its task; ``or`` joins the last two words, ``comma`` those before."""

    comma: str
    or_: str = Field(alias="or")
    blank: Template | None = None
    pick: Template | None = None
    option: Template | None = None
    text: OpenTemplate | None = None

    def template(self, task: str) -> Template:
        """The template of ``task``, which the protocol's check saw to be there."""
        found: Template = getattr(self, task)
        return found

    def alternatives(self, options: list[str]) -> str:
        """The options as a choice in words: "he, she or they"."""
        return self.or_.join([self.comma.join(options[:-1]), options[-1]])


class Protocol(Settings):
    benchmarks: list[str]
    form: Literal["two", "three", "closed", "open"]
    """Answer form: the two gendered options only, the neutral one too, a closed set, or a text of the model's own."""
    elicitation: Literal["choice", "text", "likelihood"]
    """The model chooses among the options, writes a text, or is asked how likely it finds each option, which shows none and
    asks nothing."""
    conversation: Literal["fresh", "carried"]
    """Each question alone, or in growing conversations."""
    orders: Literal["per_item", "over_items"] = "per_item"
    """Whether every item meets each order equally often, or only all items together, so that few epochs will do."""
    temperature: float = Field(0, ge=0, le=2)
    top_p: float = Field(1, gt=0, le=1)
    max_tokens: int = Field(200, ge=1)
    stop: Annotated[list[str], Field(min_length=1)] | None = None
    """Texts: what ends a completion model's reply, as it would go on with the next task; it is no part of the reply."""
    wording: dict[str, Wording] = {}
    """Likelihoods need none, and fit every language of their benchmarks."""
    continued: list[str] | None = None
    """Likelihoods: benchmarks whose options go on from the item's text; elsewhere an option is a text of its own."""

    @property
    def scored(self) -> bool:
        """Whether options are scored by their likelihood: in no order, and once, as it would be the same again."""
        return self.elicitation == "likelihood"

    @property
    def written(self) -> bool:
        """Whether texts are asked for: no options, so no order, and no word that may alone be answered."""
        return self.elicitation == "text"

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks of the items that it asks."""
        if self.scored:
            return ("option",)
        if self.written:
            return ("text",)
        closed = tuple(t for t in ("pick", "option") if any(getattr(w, t) for w in self.wording.values()))
        return closed if self.form == "closed" else ("blank",)

    @property
    def cycle(self) -> int:
        """The epochs after which every item has met each order equally often, in enough different conversations."""
        if self.scored or self.written:
            return 1
        n_orders = 2 if self.form == "two" else 6
        return lcm(n_orders, LEAST_CONVERSATIONS) if self.conversation == "carried" else n_orders

    def speaks(self, language: str) -> bool:
        """Whether it can be put in ``language``."""
        return self.scored or language in self.wording

    @model_validator(mode="after")
    def _writable(self) -> "Protocol":
        if self.written != (self.form == "open") or (self.written and self.conversation != "fresh"):
            raise ValueError("elicitation 'text' goes with form 'open' and conversation 'fresh'")
        if self.stop is not None and not self.written:
            raise ValueError("stop goes with elicitation 'text' only")
        return self

    @model_validator(mode="after")
    def _worded(self) -> "Protocol":
        if not self.scored and not (self.wording and self.tasks):
            raise ValueError(f"wording lacks a language, or a task that form {self.form!r} asks for")
        for language, wording in self.wording.items():
            for task in self.tasks:
                if getattr(wording, task) is None:
                    raise ValueError(f"wording.{language} lacks {task!r}, which form {self.form!r} asks for")
        return self

    @model_validator(mode="after")
    def _scorable(self) -> "Protocol":
        if self.scored and (self.form, self.conversation) != ("closed", "fresh"):
            raise ValueError("elicitation 'likelihood' goes with form 'closed' and conversation 'fresh'")
        if self.continued is not None and not self.scored:
            raise ValueError("continued goes with elicitation 'likelihood' only")
        return self


class Plan(Settings):
    benchmarks: list[str] = Field(min_length=1)
    protocols: list[str] = Field(min_length=1)
    styles: list[Annotated[str, AfterValidator(_style)]] = []
    """Of the check-up's wording styles; items that have none are asked by every plan."""
    epochs: int = Field(ge=1)


class Price(Settings):
    """US dollars for a million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)
    """Of a prompt's tokens that the provider had read before; else they cost what the others do."""


class Model(Settings):
    """A roster entry. Without ``route`` answers for the model can only be imported."""

    route: str | None = None
    snapshot: str | None = None
    weights: str | None = None
    api_base: Address | None = None
    api_key_env: str | None = None
    api: Literal["chat", "completion"] = "chat"
    constrain: Literal["logit_bias"] | None = None
    likelihood: Literal["prompt_logprobs", "llama_cpp"] | None = None
    """How its server tells how likely a text is: as vLLM does with a completion's prompt, or llama.cpp token by token."""
    beginning: str = ""
    """The token that a text begins with, where the model's tokenizer puts none there by itself (GPT-2, Qwen)."""
    top_logprobs: int = Field(20, ge=1)
    deterministic: bool = False
    seed: bool = False
    vendor: str | None = None
    country: str | None = None
    region: str | None = None
    temperature: float | None = Field(None, ge=0, le=2)
    max_tokens: int | None = Field(None, ge=1)
    """Instead of what the protocol allows; of a text never less than that."""
    max_connections: int = Field(8, ge=1)
    requests_per_minute: float | None = Field(None, gt=0)
    tokens_per_minute: float | None = Field(None, gt=0)
    """Of prompts and replies together."""
    timeout: float = Field(60, gt=0)
    run_timeout: float | None = Field(None, gt=0)
    """Seconds for all questions of a run together."""
    max_attempts: int = Field(5, ge=1)
    cool_off: float = Field(15, gt=0)
    """Seconds of the first pause when it refuses call after call; each further one is twice as long."""
    price: Price | None = None
    """Else what litellm's list says of the provider's own endpoint."""
    extra_body: dict[str, Any] = {}
    """Sent with every question beside what the protocol asks for."""
    omit: list[Literal["temperature", "top_p", "max_tokens", "seed"]] = []
    """Parameters never sent to it, beyond those that litellm knows the model to reject."""
    headers: dict[str, str] = {}
    """Sent with every call; the key has its own place."""
    proxy: Address | None = None
    """URL of the proxy to reach it through; else what the environment says."""
    ca_bundle: str | None = None
    """File with the certificates to trust, where its server's is signed by none that the system knows."""

    @property
    def is_local(self) -> bool:
        return self.weights is not None

    @property
    def stays(self) -> bool:
        """Whether it is asked from here also where there are workers: it runs here, or is asked in llama.cpp's own way."""
        return self.is_local or self.constrain is not None or self.likelihood == "llama_cpp"

    @model_validator(mode="after")
    def _reached(self) -> "Model":
        if self.likelihood and not (self.weights or self.api_base):
            raise ValueError("likelihood needs the server's own address; add `api_base` to the entry")
        if self.likelihood == "prompt_logprobs" and self.weights:
            raise ValueError("an embedded model is served by llama.cpp; write likelihood: llama_cpp")
        return self

    def obstacle(self, protocols: Iterable[Protocol] = (), elsewhere: bool = False) -> str | None:
        """Why this model cannot be asked, at all or by ``protocols``, with the mend; null when it can.

        ``elsewhere``: by other machines, which have keys of their own.
        """
        if self.route is None:
            return "it has no route, so answers for it can only be imported; add `route` to its entry in params.yaml"
        return (None if elsewhere else self.keyless()) or self.unscorable(protocols)

    def keyless(self) -> str | None:
        """Why this process has no key for it, with the mend; null when it has one, or none is needed."""
        key = os.environ.get(self.api_key_env or "", "")
        if self.api_key_env and not key:
            return f"its key {self.api_key_env} is not set; put it into .env or the environment"
        if not key.isascii():
            return f"its key {self.api_key_env} holds a character that no key has; copy it into .env again"
        return None

    def unscorable(self, protocols: Iterable[Protocol]) -> str | None:
        """Why texts cannot be scored that one of ``protocols`` wants scored, with the mend; null when they can."""
        if self.likelihood or not any(protocol.scored for protocol in protocols):
            return None
        return "its entry in params.yaml does not say how its server tells likelihoods; add `likelihood` to it"

    def changes(self) -> dict[str, Any]:
        """The sampling parameters that this entry has otherwise than the protocol."""
        own = {"temperature": self.temperature, "max_tokens": self.max_tokens}
        return {name: value for name, value in own.items() if value is not None}

    def name(self, key: str) -> str:
        """The true name asked for: the snapshot, else the last part of the route, else the key."""
        return self.snapshot or (self.route or key).split("/", 1)[-1]


class Params(Settings):
    timezone: Annotated[str, AfterValidator(time_zone)] = "UTC"
    resume_within: float = Field(48, gt=0)
    budget: float | None = Field(None, ge=0)
    """US dollars that one command may spend; no limit without."""
    languages: list[str] = Field(min_length=1)
    """Asked where no language is named."""
    benchmarks: dict[str, Annotated[list[str], Field(min_length=1)]] = Field(min_length=1)
    """Benchmark -> the languages it is there in."""
    default_plan: str
    plans: dict[str, Plan]
    protocols: dict[str, Protocol]
    models: dict[Annotated[str, AfterValidator(model_key)], Model]

    @property
    def spoken(self) -> list[str]:
        """Every language of any benchmark."""
        return list(dict.fromkeys(language for languages in self.benchmarks.values() for language in languages))

    def fits(self, benchmark: str, language: str, protocol: str) -> bool:
        """Whether ``benchmark`` can be asked in ``language`` by ``protocol``."""
        asked = self.protocols[protocol]
        return language in self.benchmarks[benchmark] and benchmark in asked.benchmarks and asked.speaks(language)

    @model_validator(mode="after")
    def _references(self) -> "Params":
        _known("default_plan", self.default_plan, self.plans)
        for name, plan in self.plans.items():
            for protocol in plan.protocols:
                _known(f"plans.{name}.protocols", protocol, self.protocols)
            for benchmark in plan.benchmarks:
                _known(f"plans.{name}.benchmarks", benchmark, self.benchmarks)
        for language in self.languages:
            _known("languages", language, self.spoken)
        for name, asked in self.protocols.items():
            for benchmark in asked.benchmarks:
                _known(f"protocols.{name}.benchmarks", benchmark, self.benchmarks)
            for benchmark in asked.continued or []:
                _known(f"protocols.{name}.continued", benchmark, asked.benchmarks)
        return self


def _known(where: str, name: str, known: "dict[str, Any] | list[str]") -> None:
    if name not in known:
        raise ValueError(f"{where} lacks or names {name!r}, known are: {', '.join(known)}")


def known(kind: str, name: str, names: "dict[str, Any] | list[str]") -> str:
    """Return ``name`` if it is one of ``names``; ``kind`` says of what, for the sentence.

    :raises UsageError: it is not; the message lists what is.
    """
    if name not in names:
        raise UsageError(f"There is no {kind} {name!r} in {PARAMS_FILE}; use one of: {', '.join(names) or 'none yet'}.")
    return name


def read_yaml(path: Path, content: bytes | None = None) -> Any:
    """Parse a YAML 1.2 file, which holds ``content`` where that was read already.

    :raises UsageError: it does not exist, is not UTF-8 or is not YAML; the message names file and line.
    """
    try:
        found = path.read_bytes() if content is None else content
        return YAML(typ="safe").load(found.decode().replace("\r\n", "\n"))
    except FileNotFoundError as error:
        raise UsageError(f"{path.name} is not in {path.parent}; run the command in the project's folder.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path.name} is not UTF-8 at byte {error.start}; save it as UTF-8.") from error
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" at line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it cannot be parsed"
        raise UsageError(f"{path.name} is not valid YAML{line}: {problem}; correct that line.") from error


Shape = TypeVar("Shape", bound=BaseModel)


def validated(path: Path, shape: type[Shape], content: Any) -> Shape:
    """Return ``content`` of ``path`` as ``shape``.

    :raises UsageError: it does not fit; the message names the first key at fault and what is wrong with it.
    """
    try:
        return shape.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"] if part != "[key]")
        problem = first["msg"].removeprefix("Value error, ")
        found = "" if first["type"] in ("missing", "value_error", "extra_forbidden") else f" (found {first['input']!r})"
        at = f", key {key!r}" if key else ""
        raise UsageError(f"{path.name}{at}: {problem}{found}; correct it.") from error


def read_params(root: Path) -> Params:
    """The settings of the project in ``root``.

    :raises UsageError: params.yaml is missing, not YAML, or has a key that does not fit.
    """
    path = root / PARAMS_FILE
    return validated(path, Params, read_yaml(path))
