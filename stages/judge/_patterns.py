"""patterns.csv -> rules. The only place that knows the file's shape.

Words, letters and option texts found in a reply are first replaced by *tokens*, single characters of a private range,
so that every further pattern is written once for all of them. A row with a ``set`` is used only where the options are of
it, so that "my mother" is no answer to "he or she?": ``pronoun`` and ``parent`` are sets of words, ``text`` is any other
option, ``list`` are texts of which several are chosen, ``prose`` is a text to be written. In a pattern of the file

``{X}``       a token, with the quotes, brackets and nouns that go around it, or several joined by "or"
``{chain}``   the same without what goes around it, ``{unit}`` one of its links; ``{open}`` and ``{close}`` are the
              quotes and brackets, ``{called}`` the nouns
``{he}``      the tokens of one word, in any language; ``{T}`` any token, ``{O}`` that of an option's text
``{gap}``     anything within a sentence up to the next token; ``{clause}`` within a clause
``{c}``       one character of a clause; ``{L}`` and ``{R}`` what stood around the item's blank
``{sex}`` …   what the row of kind ``part`` and this name says
``\\b``        a boundary of ASCII words: Chinese puts no spaces around a letter or an English word

The kinds, in the order they are used: ``reasoning``, ``characters`` and ``clean`` are replacements in the text;
``ignored``, ``word`` and ``neutral`` make tokens of words (those of kind ``neutral`` are answers even where no option
has them as its key); ``negated`` and ``contrast`` leave what a reply asserts, and without what is of kind ``remark``
what it asserts for itself; ``answer``, ``decision``, ``marker`` and ``weak``, and ``refusal`` are looked for. A ``weak``
one counts only where there is no ``answer``, and beside an option that stands first only an ``answer`` or a ``decision``
does: the rest are afterthoughts. A ``decline`` at the head of what should be a text refuses to write it, unless a ``resume``
says that the text follows all the same.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

from stages.errors import DataError

FILE = Path(__file__).with_name("patterns.csv")
KINDS = (
    *("characters", "clean", "follower", "part"),
    *("ignored", "word", "neutral", "negated", "contrast", "remark"),
    *("answer", "decision", "marker", "weak", "refusal"),
    *("decline", "resume"),
)
_SPOKEN = ("word", "neutral")
_FIRM = ("answer", "decision")
_STRONG = (*_FIRM, "marker")
LEFT, RIGHT, OTHER = "\uf8f0", "\uf8f1", "∅"
"""Stand for the item's text before and after its blank, and for a longer word that has a choice in it."""
PRONOUN, PARENT, TEXT, LIST, PROSE = SETS = ("pronoun", "parent", "text", "list", "prose")
"""Kinds of options: two sets of words, texts, and texts of which several are chosen; and no options but a text to write."""
WORD_TOKENS, LETTER_TOKENS, TEXT_TOKENS, KEY_TOKENS = 0xE000, 0xE100, 0xE200, 0xE280
"""First token of the words in the order of the file, of the letters A…Z, of the options' texts and keys by their position."""
BOUNDARY = r"(?-u:\b)"
TOKEN = r"[\x{E000}-\x{E2FF}]"
WORD = r"[\x{E000}-\x{E0FF}]"
OPEN = r"[\s\"'(\[\]▁:]*"
CLOSE = r"[\s\"')\]▁]*"
LETTER = r"[\x{E100}-\x{E1FF}]"
KEY, NO_KEY = r"[\x{E280}-\x{E2FF}]", r"[\x{E200}-\x{E27F}]"
NO_LETTER = r"[\x{E000}-\x{E0FF}\x{E200}-\x{E2FF}]"
# "B) engineer" is one answer given twice.
_UNIT = rf"(?:{LETTER}[\s.):,、\"'(-]{{0,4}}{NO_LETTER}+|{TOKEN}+)"
_AND = rf"(?:,{CLOSE}(?:or|and)?|{CLOSE}(?:or|and|/|&|、|或者|或|和|与|及|以及|还是))"
CHAIN = rf"{_UNIT}(?:{_AND}{OPEN}{_UNIT})*"
_NOUN = (
    r"(?:(?:the |a )?(?:words?|pronoun|options?|choice|letter|sentence|statement|选项|代词|单词|词语|词|字|汉字)\s*)?"
)
_MACROS = {
    "{X}": f"{OPEN}{_NOUN}{OPEN}{CHAIN}{CLOSE}(?:这个[字词]|选项|项)?",
    "{chain}": CHAIN,
    "{open}": OPEN,
    "{close}": CLOSE,
    "{called}": _NOUN,
    "{unit}": _UNIT,
    "{gap}": rf"[^{TOKEN}.!?;\n]*?",
    "{clause}": rf"[^{TOKEN}{LEFT}.,;!?\n]*?",
    "{c}": rf"[^{LEFT}.,:;!?\n]",
    "{T}": TOKEN,
    "{O}": r"[\x{E200}-\x{E2FF}]",
    "{L}": LEFT,
    "{R}": RIGHT,
    r"\b": BOUNDARY,
}

Words = dict[tuple[str, str], str]
"""(name of a word, its language) -> its token."""


@dataclass(frozen=True)
class Rule:
    """A named pattern; ``becomes`` replaces what it matches, where it replaces anything."""

    name: str
    regex: str
    becomes: str = ""


@dataclass(frozen=True)
class Patterns:
    characters: dict[str, str]
    clean: tuple[Rule, ...]
    followers: str
    tokenising: tuple[Rule, ...]
    words: Words
    """Those of every set, as a token means the same in all of them."""
    neutral: frozenset[str]
    """Names of the words, of any set, that are answers even where no option has them as its key."""
    asserted: tuple[Rule, ...]
    """Take away what a reply denies, asks or makes conditional, and part what it contrasts."""
    remarks: tuple[Rule, ...]
    """Take away what others choose, or what would be usual: no answer where the reply has one of its own."""
    answers: tuple[Rule, ...]
    """Those of the markers beside which the weak ones do not count."""
    firm: tuple[Rule, ...]
    """Those of the markers that count beside an option that stands first: answers, and what the reply decides itself."""
    strong: tuple[Rule, ...]
    """The markers without the weak ones."""
    markers: tuple[Rule, ...]
    refusals: tuple[Rule, ...]
    declinations: tuple[Rule, ...]
    resumptions: tuple[Rule, ...]


@dataclass(frozen=True)
class _Row:
    kind: str
    language: str
    name: str
    regex: str
    becomes: str
    note: str
    set: str = ""
    """The kinds of options it is for, with spaces; blank is all."""

    def serves(self, options: str) -> bool:
        return not self.set or options in self.set.split()


@cache
def patterns(options: str = "") -> Patterns:
    """The rules of patterns.csv for replies about ``options`` of one of the ``SETS``; without it, those for any reply.

    :raises DataError: a row is of an unknown kind or set; the message names it.
    """
    rows = [row for row in _rows() if row.serves(options)]
    kinds = {kind: [row for row in rows if row.kind == kind] for kind in KINDS}
    spoken = [row for row in _rows() if row.kind in _SPOKEN]
    words = {key: chr(WORD_TOKENS + i) for i, key in enumerate(dict.fromkeys((r.name, r.language) for r in spoken))}
    macros = _parts(kinds["part"]) | _classes(words) | _MACROS
    return Patterns(
        characters=_characters(kinds["characters"]),
        clean=_rules(kinds["clean"], macros),
        followers="|".join(row.regex for row in kinds["follower"]),
        tokenising=_merged([row for row in rows if row.kind in ("ignored", *_SPOKEN)], macros, words),
        words=words,
        neutral=frozenset(row.name for row in spoken if row.kind == "neutral"),
        asserted=_merged([*kinds["negated"], *kinds["contrast"]], macros, {}),
        remarks=_merged(kinds["remark"], macros, {}),
        answers=_rules(kinds["answer"], macros),
        firm=_rules([row for row in rows if row.kind in _FIRM], macros),
        strong=_rules([row for row in rows if row.kind in _STRONG], macros),
        markers=_rules([row for row in rows if row.kind in (*_STRONG, "weak")], macros),
        refusals=_rules(kinds["refusal"], macros),
        declinations=_rules(kinds["decline"], macros),
        resumptions=_rules(kinds["resume"], macros),
    )


@cache
def word_sets() -> dict[str, frozenset[str]]:
    """Set of words -> the names in it."""
    spoken = [row for row in _rows() if row.kind in _SPOKEN]
    return {words: frozenset(row.name for row in spoken if row.serves(words)) for words in (PRONOUN, PARENT)}


def any_of(rules: Sequence[Rule]) -> str:
    """One pattern that matches where any of ``rules`` does."""
    return "|".join(f"(?:{rule.regex})" for rule in rules)


def _rows() -> list[_Row]:
    with FILE.open(encoding="utf-8", newline="") as file:
        rows = [_Row(**row) for row in csv.DictReader(file)]
    for row in rows:
        for what, found, known in (("kind", [row.kind], KINDS), ("set", row.set.split(), SETS)):
            if strange := sorted(set(found) - set(known)):
                raise DataError(
                    f"{FILE.name}: {what} {strange[0]!r} of {row.name!r} is unknown; use one of {', '.join(known)}."
                )
    return rows


def _parts(rows: Sequence[_Row]) -> dict[str, str]:
    return {f"{{{row.name}}}": row.regex for row in rows}


def _classes(words: Words) -> dict[str, str]:
    names = {name for name, _ in words}
    return {f"{{{name}}}": "[" + "".join(t for (n, _), t in words.items() if n == name) + "]" for name in names}


def _expanded(regex: str, macros: dict[str, str]) -> str:
    """``regex`` with the ``macros`` filled in, in their order: the first may use the later ones."""
    for macro, meaning in macros.items():
        regex = regex.replace(macro, meaning)
    return regex


def _rules(rows: Sequence[_Row], macros: dict[str, str]) -> tuple[Rule, ...]:
    return tuple(Rule(row.name, _expanded(row.regex, macros), row.becomes) for row in rows)


def _merged(rows: Sequence[_Row], macros: dict[str, str], words: Words) -> tuple[Rule, ...]:
    """``rows`` as replacements, neighbours that become the same as one; a word becomes its token."""
    rules = []

    def becoming(row: _Row) -> str:
        return words.get((row.name, row.language), row.becomes)

    for becomes, group in groupby(rows, becoming):
        alike = [Rule(row.name, _expanded(row.regex, macros)) for row in group]
        rules.append(Rule(" ".join(rule.name for rule in alike), any_of(alike), becomes))
    return tuple(rules)


def _characters(rows: Sequence[_Row]) -> dict[str, str]:
    """``regex`` lists characters; ``becomes`` is what each becomes, or one character for all, or nothing."""
    pairs: dict[str, str] = {}
    for row in rows:
        targets = row.becomes if len(row.becomes) == len(row.regex) else [row.becomes] * len(row.regex)
        pairs.update(zip(row.regex, targets, strict=True))
    return pairs
