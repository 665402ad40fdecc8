"""A reply's text -> a normalised copy in which words, letters and option texts are tokens. The reply itself stays.

Frames have one row per answer: ``row``, ``said`` (the copy), ``text`` (the item's), ``options``.
"""

from collections.abc import Iterable

import polars as pl

from stages.judge._patterns import BOUNDARY, LEFT, LETTER_TOKENS, OTHER, RIGHT, TEXT_TOKENS, Rule, patterns

CAPITALS = tuple(chr(ord("A") + i) for i in range(26))
CONTEXT = 16
"""Characters around the blank by which a repeated item is recognised."""
SHORTEST_CONTEXT = 3
"""Fewer could be met by accident."""
_NEVER = "\uf8ff"
"""A character that no reply has: splitting by it changes nothing."""
_TEXT = r"[\x{E200}-\x{E2FF}]"
_AFTER_LETTER = r"$|'[^a-z]|'$|[^A-Za-z0-9'\p{Han}]"
_TAG = "\uf8f2"
"""Marks a letter that is to become a token."""


def without_reasoning(text: pl.Expr) -> pl.Expr:
    """``text``, compatibility characters made plain (NFKC), without blocks of reasoning."""
    return replaced(text.str.normalize("NFKC"), patterns().reasoning)


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

    A small letter counts only as the whole text or at the end of a line after a word that asks for one.
    """
    upper = "".join(sorted(labels))
    lower = upper.lower()
    asking = rf"\A\W*|(?:{BOUNDARY}(?i:answer|option|choice)(?: is)?|答案[是为]?|回答|选项?|选择)\W{{0,4}}"
    tagged = (
        text.str.replace_all(rf"(?m)({asking})([{lower}])([\s.\"')\]]*$)", f"${{1}}{_TAG}${{2}}${{3}}")
        .str.replace_all(rf"{BOUNDARY}([{upper}])({_AFTER_LETTER}|{patterns().followers})", f"{_TAG}${{1}}${{2}}")
        .str.to_lowercase()
    )
    return tagged.str.replace_many([_TAG + c.lower() for c in CAPITALS], [letter_token(c) for c in CAPITALS])


def letter_token(letter: str) -> str:
    return chr(LETTER_TOKENS + ord(letter) - ord("A"))


def text_token(position: int) -> str:
    return chr(TEXT_TOKENS + position)


def worded(text: pl.Expr) -> pl.Expr:
    """``text`` with the words of patterns.csv replaced by their tokens."""
    return replaced(text, patterns().tokenising)


def with_contexts(frame: pl.DataFrame) -> pl.DataFrame:
    """``frame`` with what stands around the item's blank replaced, in ``said``, by LEFT and RIGHT."""
    texts = frame.select(pl.col("text").unique())
    halves = cleaned(without_reasoning(pl.col("text"))).str.to_lowercase().str.splitn("▁", 2)
    around = texts.with_columns(
        _context(halves.struct.field("field_0").str.tail(CONTEXT)).alias("left"),
        _context(halves.struct.field("field_1").str.head(CONTEXT)).alias("right"),
    )
    said = pl.col("said").str.split(pl.col("left")).list.join(LEFT).str.split(pl.col("right")).list.join(RIGHT)
    return frame.join(around, on="text", how="left", maintain_order="left").with_columns(said).drop("left", "right")


def _context(text: pl.Expr) -> pl.Expr:
    stripped = text.str.strip_chars()
    return pl.when(stripped.str.len_chars() >= SHORTEST_CONTEXT).then(stripped).otherwise(pl.lit(_NEVER))


def with_option_texts(frame: pl.DataFrame, labels: Iterable[str]) -> pl.DataFrame:
    """``frame`` with every option's text in ``said`` replaced by its token, where it is not part of a longer word."""
    offered = _longest_first(frame, labels)
    said = pl.col("said")
    for i in range(offered.select(pl.col("offered").list.len().max()).item() or 0):
        option = pl.col("offered").list.get(i, null_on_oob=True).struct
        by, token = (option.field(name).fill_null(_NEVER) for name in ("text", "token"))
        said = said.str.split(by).list.join(token)
    said = (
        said.str.replace_all(f"[a-z0-9]{_TEXT}|{_TEXT}[a-z0-9]", OTHER)
        .str.replace_all(f"({_TEXT})({patterns().followers})", "${1} ${2}")
        .str.replace_all(rf"{_TEXT}\p{{Han}}", OTHER)
    )
    return frame.join(offered, on="row", how="left", maintain_order="left").with_columns(said).drop("offered")


def _longest_first(frame: pl.DataFrame, labels: Iterable[str]) -> pl.DataFrame:
    """Per ``row`` its options as a list ``offered`` of structs ``text`` (normalised as replies are) and ``token``."""
    raw = pl.col("options").list.eval(pl.element().struct.field("text")).alias("raw")
    options = frame.select("row", raw, pl.int_ranges(1, pl.col("options").list.len() + 1).alias("position"))
    options = options.explode("raw", "position").drop_nulls()
    text = cleaned(without_reasoning(pl.col("raw"))).str.strip_chars(" .!?,;:")
    normal = lettered(text, labels) if labels else text.str.to_lowercase()
    plain = options.select(pl.col("raw").unique()).with_columns(normal.alias("text")).filter(pl.col("text") != "")
    tokens = {i: text_token(i) for i in options["position"].unique()}
    coded = options.join(plain, on="raw").with_columns(
        pl.col("position").replace_strict(tokens, return_dtype=pl.String).alias("token")
    )
    by_length = coded.sort("row", pl.col("text").str.len_chars(), "position", descending=[False, True, False])
    return by_length.group_by("row", maintain_order=True).agg(pl.struct("text", "token").alias("offered"))
