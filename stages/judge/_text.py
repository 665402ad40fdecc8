"""A reply's text -> a normalised copy in which words, letters and option texts are tokens. The reply itself stays.

Frames have one row per answer: ``row``, ``said`` (the copy), ``text`` (the item's), ``menu`` (what it offers).
"""

from collections.abc import Callable, Iterable

import polars as pl

from stages.judge._patterns import (
    BOUNDARY,
    KEY_TOKENS,
    LEFT,
    LETTER_TOKENS,
    LIST,
    OTHER,
    RIGHT,
    TEXT_TOKENS,
    Rule,
    patterns,
)
from stages.reasoning import unreasoned

CAPITALS = tuple(chr(ord("A") + i) for i in range(26))
CONTEXT = 16
"""Characters around the blank by which a repeated item is recognised."""
SHORTEST_CONTEXT = 3
"""Fewer could be met by accident."""
_STOPS = " .!?,;:"
"""Signs at the end of a text that may be left out where it is repeated."""
NEVER = "\uf8ff"
"""A character that no reply has: splitting by it changes nothing."""
_TEXT = r"[\x{E200}-\x{E2FF}]"
_AFTER_LETTER = r"$|'[^a-z]|'$|[^A-Za-z0-9'\p{Han}]"
_TAG = "\uf8f2"
"""Marks a letter that is to become a token."""


def without_reasoning(text: pl.Expr) -> pl.Expr:
    """``text``, compatibility characters made plain (NFKC), without blocks of reasoning."""
    return unreasoned(text.str.normalize("NFKC"))


def cleaned(text: pl.Expr) -> pl.Expr:
    """``text`` (see ``without_reasoning``) with straight quotes, plain punctuation and no decoration."""
    characters = patterns().characters
    plain = text.str.replace_many(list(characters), list(characters.values()))
    return replaced(plain, patterns().clean).str.strip_chars()


def replaced(text: pl.Expr, rules: Iterable[Rule]) -> pl.Expr:
    for rule in rules:
        text = text.str.replace_all(rule.regex, rule.becomes)
    return text


def lettered(text: pl.Expr, labels: Iterable[str]) -> pl.Expr:
    """``text`` with the ``labels`` that stand as letters of their own replaced by tokens; the rest in lower case.

    A small letter counts only as the whole text, before a bracket at its head, or at the end of a line after a word that
    asks for one.
    """
    upper = "".join(sorted(labels))
    lower = upper.lower()
    asking = rf"\A\W*|(?:{BOUNDARY}(?i:answer|option|choice)(?: is)?|答案[是为]?|回答|选项?|选择)\W{{0,4}}"
    tagged = (
        text.str.replace_all(rf"(?m)({asking})([{lower}])([\s.\"')\]]*$)", f"${{1}}{_TAG}${{2}}${{3}}")
        .str.replace(rf"\A([\s\"'(]*)([{lower}])(\)\s)", f"${{1}}{_TAG}${{2}}${{3}}")
        .str.replace_all(rf"{BOUNDARY}([{upper}])({_AFTER_LETTER}|{patterns().followers})", f"{_TAG}${{1}}${{2}}")
        .str.to_lowercase()
    )
    return tagged.str.replace_many([_TAG + c.lower() for c in CAPITALS], [letter_token(c) for c in CAPITALS])


def letter_token(letter: str) -> str:
    return chr(LETTER_TOKENS + ord(letter) - ord("A"))


def text_token(position: int) -> str:
    return chr(TEXT_TOKENS + position)


def key_token(position: int) -> str:
    return chr(KEY_TOKENS + position)


def keys_as_texts(text: pl.Expr, positions: Iterable[int]) -> pl.Expr:
    """``text`` with the token of each option's text where that of its key stands."""
    known = sorted(set(positions))
    return text.str.replace_many([key_token(i) for i in known], [text_token(i) for i in known])


def worded(text: pl.Expr, words: str) -> pl.Expr:
    """``text`` with the words of the set ``words`` of patterns.csv replaced by their tokens."""
    return replaced(text, patterns(words).tokenising)


def with_contexts(frame: pl.DataFrame) -> pl.DataFrame:
    """``frame`` with what stands around the item's blank, if it has one, replaced in ``said`` by LEFT and RIGHT."""
    texts = frame.select(pl.col("text").unique())
    halves = cleaned(without_reasoning(pl.col("text"))).str.to_lowercase().str.splitn("▁", 2)
    before, after = halves.struct.field("field_0"), halves.struct.field("field_1")
    around = texts.with_columns(
        _context(pl.when(after.is_not_null()).then(before.str.tail(CONTEXT))).alias("left"),
        _context(after.str.head(CONTEXT).str.strip_chars_end(_STOPS)).alias("right"),
    )
    said = pl.col("said").str.split(pl.col("left")).list.join(LEFT).str.split(pl.col("right")).list.join(RIGHT)
    return frame.join(around, on="text", how="left", maintain_order="left").with_columns(said).drop("left", "right")


def _context(text: pl.Expr) -> pl.Expr:
    stripped = text.str.strip_chars()
    return pl.when(stripped.str.len_chars() >= SHORTEST_CONTEXT).then(stripped).otherwise(pl.lit(NEVER))


def with_option_texts(frame: pl.DataFrame, options: pl.DataFrame, labels: Iterable[str], kind: str) -> pl.DataFrame:
    """``frame`` with every option's text in ``said`` replaced by its token, where it is not part of a longer word.

    ``options`` are those of ``_options.with_menus``, of the ``kind`` TEXT or LIST; an option of a list also goes by its key.
    """
    offered = _longest_first(options.join(frame.select(pl.col("menu").unique()), on="menu"), labels, kind)
    said = pl.col("said")
    for i in range(offered.select(pl.col("offered").list.len().max()).item() or 0):
        option = pl.col("offered").list.get(i, null_on_oob=True).struct
        by, token = (option.field(name).fill_null(NEVER) for name in ("spelling", "token"))
        said = said.str.split(by).list.join(token)
    said = (
        said.str.replace_all(f"[a-z0-9]{_TEXT}|{_TEXT}[a-z0-9]", OTHER)
        .str.replace_all(f"({_TEXT})({patterns(kind).followers})", "${1} ${2}")
        .str.replace_all(rf"{_TEXT}\p{{Han}}", OTHER)
    )
    return frame.join(offered, on="menu", how="left", maintain_order="left").with_columns(said).drop("offered")


def _longest_first(options: pl.DataFrame, labels: Iterable[str], kind: str) -> pl.DataFrame:
    """Per ``menu`` its options as a list ``offered`` of structs ``spelling`` (normalised as replies are) and ``token``."""
    spelled = [_spelled(options, "text", text_token)] + [_spelled(options, "key", key_token)] * (kind == LIST)
    raw = pl.concat(spelled).drop_nulls()
    plain = raw.select(pl.col("raw").unique()).with_columns(_spellings(labels)).explode("spelling")
    coded = raw.join(plain.filter(pl.col("spelling") != ""), on="raw", maintain_order="left").unique(
        ["menu", "spelling"], keep="first", maintain_order=True
    )
    by_length = coded.sort(
        "menu", pl.col("spelling").str.len_chars(), "token", descending=[False, True, False], maintain_order=True
    )
    return by_length.group_by("menu", maintain_order=True).agg(pl.struct("spelling", "token").alias("offered"))


def _spellings(labels: Iterable[str]) -> pl.Expr:
    """The ways in which a reply, normalised, may have the text ``raw``.

    With a capital, as "A brilliant mind" has a letter at its head; and with its question mark, as a mark left over would
    make a question of the answer.
    """
    small = cleaned(without_reasoning(pl.col("raw")))
    capital = small.str.head(1).str.to_uppercase() + small.str.slice(1)
    normal = [lettered(text, labels) if labels else text.str.to_lowercase() for text in (small, capital)]
    stops = (_STOPS, _STOPS.replace("?", ""))
    return pl.concat_list(text.str.strip_chars(some) for text in normal for some in stops).alias("spelling")


def _spelled(options: pl.DataFrame, field: str, token: Callable[[int], str]) -> pl.DataFrame:
    tokens = {i: token(i) for i in options["position"].unique()}
    coded = pl.col("position").replace_strict(tokens, default=None, return_dtype=pl.String).alias("token")
    return options.select("menu", pl.col(field).alias("raw"), coded)
