"""params.yaml -> typed settings; the only loader of it."""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field, model_validator

from stages.errors import UsageError
from stages.mitigations import MITIGATIONS_FILE, with_texts
from stages.protocols import Mitigation, Protocol
from stages.schema import STYLES
from stages.settings import Settings, read_yaml, validated

PARAMS_FILE = "params.yaml"
JOIN = "+"
"""Between a protocol and the mitigations that joined it."""
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


def _mitigation(name: str) -> str:
    if not _KEY.fullmatch(name):
        raise ValueError(f"{name!r} cannot name a mitigation: use a-z, 0-9 and '-', at most 40")
    return name


def _address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url!r} is no address; write it as https://… or http://…")
    return url


Address = Annotated[str, AfterValidator(_address)]


class Plan(Settings):
    benchmarks: list[str] = Field(min_length=1)
    protocols: list[str] = Field(min_length=1)
    styles: list[Annotated[str, AfterValidator(_style)]] = Field(default_factory=list)
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
    extra_body: dict[str, Any] = Field(default_factory=dict)
    """Sent with every question beside what the protocol asks for."""
    omit: list[Literal["temperature", "top_p", "max_tokens", "seed"]] = Field(default_factory=list)
    """Parameters never sent to it, beyond those that litellm knows the model to reject."""
    headers: dict[str, str] = Field(default_factory=dict)
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
    mitigations: dict[Annotated[str, AfterValidator(_mitigation)], Mitigation] = Field(default_factory=dict)
    """In the order in which they are joined."""
    models: dict[Annotated[str, AfterValidator(model_key)], Model]

    @property
    def spoken(self) -> list[str]:
        """Every language of any benchmark."""
        return list(dict.fromkeys(language for languages in self.benchmarks.values() for language in languages))

    def protocol(self, name: str) -> Protocol:
        """The protocol ``name``, with the mitigations that joined it by ``+``: ``three``, ``three+few-shot``.

        :raises UsageError: there is none of that name, or a mitigation that may not join it.
        """
        base, *joined = self.joined(name).split(JOIN)
        found = self.protocols[base]
        each = tuple(self.mitigations[mitigation] for mitigation in joined)
        return found.model_copy(update={"mitigations": each}) if each else found

    def joined(self, name: str) -> str:
        """``name`` of a protocol as it is written everywhere: its mitigations in the order of params.yaml, each once.

        :raises UsageError: as of ``protocol``.
        """
        base, *wanted = name.split(JOIN)
        known("protocol", base, self.protocols)
        for mitigation in wanted:
            known("mitigation", mitigation, self.mitigations)
            if base not in self.mitigations[mitigation].protocols:
                raise UsageError(
                    f"Mitigation {mitigation} may not join protocol {base}, but only: "
                    f"{', '.join(self.mitigations[mitigation].protocols)}; add {base} to mitigations.{mitigation}.protocols "
                    f"in {PARAMS_FILE} if its texts go with it."
                )
            self._refuse_speechless(mitigation, base)
        return JOIN.join([base, *(mitigation for mitigation in self.mitigations if mitigation in wanted)])

    def _refuse_speechless(self, mitigation: str, base: str) -> None:
        said = self.mitigations[mitigation].said
        if not said:
            raise UsageError(
                f"Mitigation {mitigation} has no text yet; write one per language in {MITIGATIONS_FILE} (see docs/mitigations.md)."
            )
        protocol = self.protocols[base]
        one_by_one = protocol.tasks == ("blank",) and protocol.conversation == "fresh"
        if any(each.examples for each in said.values()) and not one_by_one:
            raise UsageError(
                f"Mitigation {mitigation} has examples, which go before a single question with a blank, and protocol {base} asks "
                f"others; take {base} out of mitigations.{mitigation}.protocols in {PARAMS_FILE}."
            )

    def has(self, protocol: str) -> bool:
        """Whether there is a ``protocol`` of this name."""
        try:
            return self.joined(protocol) == protocol
        except UsageError:
            return False

    def fits(self, benchmark: str, language: str, protocol: str) -> bool:
        """Whether ``benchmark`` can be asked in ``language`` by ``protocol``."""
        asked = self.protocol(protocol)
        return language in self.benchmarks[benchmark] and benchmark in asked.benchmarks and asked.speaks(language)

    @model_validator(mode="after")
    def _mitigations(self) -> "Params":
        for name, mitigation in self.mitigations.items():
            if mitigation.said:
                raise ValueError(f"mitigations.{name}.said is no setting: its texts stand in {MITIGATIONS_FILE}")
            for protocol in mitigation.protocols:
                _known(f"mitigations.{name}.protocols", protocol, self.protocols)
                if self.protocols[protocol].scored:
                    raise ValueError(f"mitigations.{name}.protocols names {protocol!r}, which asks nothing in words")
        for name, asked in self.protocols.items():
            if JOIN in name or asked.mitigations is not None:
                raise ValueError(f"protocols.{name}: mitigations join a protocol in a plan, as in three+few-shot")
        return self

    @model_validator(mode="after")
    def _references(self) -> "Params":
        _known("default_plan", self.default_plan, self.plans)
        for name, plan in self.plans.items():
            for protocol in plan.protocols:
                self._refuse_unjoinable(f"plans.{name}.protocols", protocol)
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

    def _refuse_unjoinable(self, where: str, name: str) -> None:
        base, *joined = name.split(JOIN)
        _known(where, base, self.protocols)
        for mitigation in joined:
            _known(where, mitigation, self.mitigations)
            if base not in self.mitigations[mitigation].protocols:
                raise ValueError(f"{where}: mitigation {mitigation!r} may not join {base!r}")


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


def read_params(root: Path) -> Params:
    """The settings of the project in ``root``, with the texts of the mitigations.

    :raises UsageError: params.yaml is missing, not YAML, or has a key that does not fit.
    :raises DataError: a row of the mitigations' texts does not fit.
    """
    path = root / PARAMS_FILE
    params = validated(path, Params, read_yaml(path))
    if not params.mitigations:
        return params
    return params.model_copy(update={"mitigations": with_texts(root, params.mitigations, params.spoken)})
