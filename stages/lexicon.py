"""The lexicon: which words of a text are agentic, communal …, and which say that somebody is a man or a woman.

The words are data/checkup/lexicon.csv. English is looked up by words, and entries of several words in a row count as one;
Chinese is looked up in the running text. Of entries that overlap the first counts, and of those that begin at one place the
longest, so that an entry of the category ``ignored`` (其他, "kind of", "he or she") keeps what is in it from counting. Texts
are compared in their compatibility form (NFKC), without capitals.
"""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import polars as pl

from stages.errors import DataError
from stages.schema import LANGUAGES
from stages.structs import COUNT

_FOLDER = Path(__file__).parents[1] / "data" / "checkup"
FILE, NAMES, SURNAMES = _FOLDER / "lexicon.csv", _FOLDER / "names.csv", _FOLDER / "open" / "surnames.csv"
MEASURED = ("agentic", "communal", "ability", "grindstone", "standout")
MALE, FEMALE, IGNORED = "male", "female", "ignored"
CATEGORIES = (*MEASURED, MALE, FEMALE, IGNORED)
COUNTED = CATEGORIES[:-1]
KIN = "kin"
NAME = {"en": "[NAME]", "zh": "某某"}
"""What stands for a name in a masked text."""
_CAPITALS = 4
"""Of how many words of an entry each may have a capital: "Dear Sir or Madam"."""
_EDGE = "\ue000"
"""Stands at both ends of every English word, so that no entry is found within a longer word."""
_PUNCTUATION = "，！？：；（）"
"""Chinese signs whose compatibility forms are other signs; a masked text keeps them."""
_KEPT = [chr(0xE010 + i) for i in range(len(_PUNCTUATION))]
_OBJECT = (
    r"(?i)\b(the)ir\b(\s*(?:[^\s\w\[]|$)|\s+(?:a|about|again|all|and|another|any|as|at|because|before|but|by|during|each|"
    r"every|for|from|if|in|into|is|no|of|on|or|over|some|than|that|the|this|through|to|was|we|when|where|which|while|who|"
    r"with|without|you|i)\b)"
)
"""Where what stands for him, his and her is rather an object than a possessive."""


@dataclass(frozen=True)
class _Entry:
    """A row of lexicon.csv."""

    language: str
    category: str
    word: str
    neutral: str
    """What a masked text has in its place: of male and female words blank removes it, of ignored ones blank keeps it."""
    source: str
    note: str
    """``KIN`` where the word names somebody by whose kin they are."""


def gendered(texts: pl.Series, language: str) -> pl.Series:
    """Per text +1 where it has male words only, −1 where it has female ones only, 0 with none or both; null of null. Int8."""
    found = _found(texts, language)
    male, female = ((found.list.count_matches(sex) > 0).cast(pl.Int8) for sex in (MALE, FEMALE))
    return (male - female).alias(texts.name)


def sexes(texts: pl.Series, language: str) -> pl.DataFrame:
    """Per text its numbers of ``MALE`` and ``FEMALE`` words, columns of these names, but for those of kin; null of null.

    "His mother" tells who the person is, and that somebody else is a woman.
    """
    found = _found(texts, language, kin=False)
    return pl.DataFrame([found.list.count_matches(sex).cast(pl.Int64).alias(sex) for sex in (MALE, FEMALE)])


def counts(texts: pl.Series, language: str) -> pl.Series:
    """Per text a list of structs.COUNT, one per category of ``COUNTED`` in that order, zeros too; null of null."""
    found = _found(texts, language)
    numbers = [found.list.count_matches(category).cast(pl.Int64).alias(category) for category in COUNTED]
    each = [pl.struct(pl.lit(category).alias("category"), pl.col(category).alias("n")) for category in COUNTED]
    listed = pl.when(pl.col(COUNTED[0]).is_not_null()).then(pl.concat_list(each)).cast(pl.List(COUNT))
    return pl.DataFrame(numbers).select(listed.alias(texts.name))[texts.name]


def words(texts: pl.Series, language: str) -> pl.Series:
    """Per text its words in lower case, as a list: runs of letters or digits, Chinese ones cut by rjieba; null of null."""
    plain = texts.str.normalize("NFKC").str.replace_all("[’ʼ]", "'").str.to_lowercase()
    if language != "zh":
        return plain.str.extract_all(r"[\p{L}\p{N}]+(?:'\p{L}+)*")
    parts = _cut(plain)
    return parts.list.eval(pl.element().filter(pl.element().str.contains(r"[\p{L}\p{N}]")))


def masked(texts: pl.Series, language: str, names: Iterable[str]) -> pl.Series:
    """``texts`` without what tells the sex of the person: ``names`` become ``NAME``, gendered words neutral ones.

    Of a Chinese name of three characters or more the given name alone counts, too. What is left has no male or female word of
    the lexicon. Him, his, her and hers become them or their by what follows and not by which of them it was, so that two
    texts that differ in these words and in names alone become one.
    """
    signs = list(_PUNCTUATION)
    plain = texts.str.replace_all("[’ʼ]", "'").str.replace_many(signs, _KEPT).str.normalize("NFKC")
    plain = plain.str.replace_many(_KEPT, signs)
    known = _masks(language, tuple(sorted(set(names))))
    before = None
    # What is removed may leave its neighbours as a new word.
    while before is None or not plain.equals(before):
        before, plain = plain, _masked_once(plain, language, *known)
    return plain.alias(texts.name)


def entries(language: str, *categories: str) -> list[str]:
    """The words of ``categories`` in ``language``."""
    return [entry.word for entry in _entries() if entry.language == language and entry.category in categories]


@cache
def names(language: str) -> list[str]:
    """The names of the people whom texts are asked about, as they may stand alone; longest first."""
    found: set[str] = set()
    for path, column in ((NAMES, f"name_{language}"), (SURNAMES, f"surname_{language}")):
        if path.exists():
            found |= {part for row in _rows(path) if row.get(column) for part in _parts(row[column], language)}
    return sorted(found, key=lambda name: (-len(name), name))


def _found(texts: pl.Series, language: str, *, kin: bool = True) -> pl.Series:
    """Per text the categories of the entries found in it, as they come; without ``kin`` its words are to be ignored."""
    patterns = _patterns(language, kin)
    plain = _edged(texts.str.normalize("NFKC"), language)
    found = pl.DataFrame({"text": plain}).select(pl.col("text").str.extract_many(list(patterns), leftmost=True))
    kinds = pl.element().replace_strict(patterns, return_dtype=pl.String)
    return found.select(pl.col("text").list.eval(kinds))["text"]


@cache
def _patterns(language: str, kin: bool) -> dict[str, str]:
    """What is looked for -> its category, longest first: of patterns that begin alike, the first is found."""
    own = [entry for entry in _entries() if entry.language == language]
    spelled = _edged(pl.Series([entry.word for entry in own], dtype=pl.String), language)
    kinds = (entry.category if kin or entry.note != KIN else IGNORED for entry in own)
    pairs = zip(spelled, kinds, strict=True)
    return dict(sorted(pairs, key=lambda pair: (-len(pair[0]), pair[0])))


def _edged(texts: pl.Series, language: str) -> pl.Series:
    """``texts`` as they are looked into: English in lower case, its hyphens spaces, with an edge on both sides of a word."""
    if language != "en":
        return texts
    plain = texts.str.replace_all("[’ʼ]", "'").str.to_lowercase().str.replace_all(r"[-‐‑\s]+", " ")
    return plain.str.replace_all(r"\b", _EDGE)


def _masked_once(texts: pl.Series, language: str, exact: dict[str, str], any_case: dict[str, str]) -> pl.Series:
    if language != "en":
        return texts.str.replace_many(list(exact), list(exact.values()), leftmost=True)
    masked = texts.str.replace_all(r"\b", _EDGE)
    masked = masked.str.replace_many(list(exact), list(exact.values()), leftmost=True)
    masked = masked.str.replace_many(
        list(any_case), list(any_case.values()), ascii_case_insensitive=True, leftmost=True
    )
    spaced = (
        masked.str.replace_all(_EDGE, "").str.replace_all(r" {2,}", " ").str.replace_all(r"(?m)^ | $| ([.,;:!?])", "$1")
    )
    return spaced.str.replace_all(_OBJECT, "${1}m${2}")


@cache
def _masks(language: str, names: tuple[str, ...]) -> tuple[dict[str, str], dict[str, str]]:
    """What a masked text has for what: as it is spelled, with a capital or in capitals, and in whatever case."""
    known = {entry.word: _instead(entry) for entry in _entries() if entry.language == language}
    called = {part: NAME.get(language, NAME["en"]) for name in names for part in _parts(name, language)}
    if language != "en":
        return _longest_first(known | called), {}
    any_case = _edges(known | {name.lower(): called[name] for name in called})
    cased = {spelled: neutral for word in known for spelled, neutral in _cases(word, known[word])}
    return _edges(cased | known | called), any_case


def _cases(word: str, neutral: str) -> list[tuple[str, str]]:
    """``word`` with every choice of its parts with a capital, and in capitals; what it becomes follows its first part."""
    parts = word.split(" ")
    kept = word == neutral
    found = [(word.upper(), neutral.upper())]
    for choice in product((str.lower, str.capitalize), repeat=min(len(parts), _CAPITALS)):
        spelled = " ".join([*(change(part) for change, part in zip(choice, parts, strict=False)), *parts[_CAPITALS:]])
        found.append((spelled, spelled if kept else choice[0](neutral)))
    return found


def _instead(entry: _Entry) -> str:
    return entry.neutral or (entry.word if entry.category not in (MALE, FEMALE) else "")


def _parts(name: str, language: str) -> list[str]:
    """``name`` and what of it may stand alone."""
    if language == "zh":
        return [name, name[1:]] if len(name) > 2 else [name]
    return [name, *name.split()]


def _edges(pairs: dict[str, str]) -> dict[str, str]:
    spelled = pl.Series(list(pairs), dtype=pl.String).str.replace_all(r"\b", _EDGE)
    return _longest_first(dict(zip(spelled, pairs.values(), strict=True)))


def _longest_first(pairs: dict[str, str]) -> dict[str, str]:
    return dict(sorted(pairs.items(), key=lambda pair: (-len(pair[0]), pair[0])))


def _cut(texts: pl.Series) -> pl.Series:
    """``texts`` as lists of what rjieba cuts them into: all of them at once, as it never joins two lines."""
    import rjieba

    joined = "\n".join(texts.fill_null("").str.replace_all(r"[\x00\n]", " "))
    cut = "\x00".join(rjieba.cut(joined)).split("\n")[: len(texts)]
    parts = pl.DataFrame({"text": texts, "cut": pl.Series(cut, dtype=pl.String).str.split("\x00")})
    return parts.select(pl.when(pl.col("text").is_not_null()).then("cut").alias("cut"))["cut"]


@cache
def _entries() -> Sequence[_Entry]:
    """The rows of lexicon.csv.

    :raises DataError: a row has no word or is of no category, or a word stands twice; the message names it.
    """
    rows = [_Entry(**row) for row in _rows(FILE)]
    twice: set[tuple[str, str]] = set()
    for row in rows:
        if not row.word.strip():
            # It would be found at every place of a text.
            raise DataError(
                f"{FILE.name}: a row of {row.category!r} ({row.language}) has no word; write one, or remove it."
            )
        if row.category not in CATEGORIES:
            raise DataError(
                f"{FILE.name}: category {row.category!r} of {row.word!r} is unknown; use one of {', '.join(CATEGORIES)}."
            )
        if row.language not in LANGUAGES:
            raise DataError(
                f"{FILE.name}: language {row.language!r} of {row.word!r} is unknown; use one of {', '.join(LANGUAGES)}."
            )
        if (row.language, row.word) in twice:
            raise DataError(f"{FILE.name}: {row.word!r} ({row.language}) stands twice; keep one.")
        twice.add((row.language, row.word))
    return rows


def _rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file.

    :raises DataError: it is no such table; the message names the row.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader((line for line in file if not line.startswith("#")), strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(
            f"{path.name} is not here, or is no CSV table in UTF-8 ({error}); restore it from git."
        ) from error
    for row in rows:
        if None in row or None in row.values():
            found = ", ".join(str(cell) for cell in row.values() if cell)
            raise DataError(
                f"{path.name}: the row {found!r} has more or fewer cells than the heading; put a text with a comma into quotes."
            )
    return rows
