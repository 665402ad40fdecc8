"""How an item is put to a model: protocols, their wording, and the mitigations that join them."""

from math import lcm
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from stages.settings import Settings

LEAST_CONVERSATIONS = 4
"""Different orders of the items that carried conversations are asked in, at least."""


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


class Example(Settings):
    """A question with its answer, put before the one that is asked."""

    text: str
    options: tuple[str, ...]
    """The words to choose from, in canonical order."""
    answer: str


class Said(Settings):
    """What a mitigation says in one language; the texts stand in data/checkup/mitigations.csv."""

    system: str | None = None
    """Put before everything: a chat's system message, or the first words of a completion prompt."""
    examples: tuple[tuple[Example, ...], ...] = ()
    """One set, put before every question; or two, each put before one half of the orders (see ``orders.half``)."""
    reason: str | None = None
    """Why a reply is sent back, and what is wanted instead."""


class Mitigation(Settings):
    """A change of protocols that is meant to lessen a leaning."""

    protocols: list[str] = Field(min_length=1)
    """Those that it may join, by ``+``."""
    check: Literal["gendered"] | None = None
    """What a reply is sent back for, once: a gendered word about a concept whose gender is not stated."""
    said: dict[str, Said] = Field(default_factory=dict)
    """By language; ``mitigations.read`` puts it here."""

    def speaks(self, language: str) -> bool:
        """Whether it has its texts in ``language``."""
        return language in self.said and (self.check is None or self.said[language].reason is not None)


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
    wording: dict[str, Wording] = Field(default_factory=dict)
    """Likelihoods need none, and fit every language of their benchmarks."""
    continued: list[str] | None = None
    """Likelihoods: benchmarks whose options go on from the item's text; elsewhere an option is a text of its own."""
    mitigations: tuple[Mitigation, ...] | None = None
    """Those that joined it, in the order of params.yaml; ``Params.protocol`` puts them here."""

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

    @property
    def checked(self) -> bool:
        """Whether replies are checked, and some sent back."""
        return any(mitigation.check for mitigation in self.mitigations or ())

    def speaks(self, language: str) -> bool:
        """Whether it can be put in ``language``, with all that joined it."""
        worded = self.scored or language in self.wording
        return worded and all(mitigation.speaks(language) for mitigation in self.mitigations or ())

    def said(self, language: str) -> list[Said]:
        """What the mitigations that joined it say in ``language``."""
        return [mitigation.said[language] for mitigation in self.mitigations or ()]

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
