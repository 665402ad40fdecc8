"""patterns.csv as a file: it can be read, every pattern compiles, and mistakes are named."""

import re
from pathlib import Path

import polars as pl
import pytest

from stages.errors import DataError
from stages.judge import _patterns, judge
from tests.judge.asked import answer, answers

KINDS_OF_OPTIONS = pytest.mark.parametrize("options", ["", *_patterns.SETS])


@KINDS_OF_OPTIONS
def test_every_pattern_compiles(options: str) -> None:
    rules = _patterns.patterns(options)
    texts = pl.Series([""])
    for group in (
        rules.clean,
        rules.tokenising,
        rules.asserted,
        rules.remarks,
        rules.markers,
        rules.refusals,
    ):
        for rule in group:
            texts.str.contains(rule.regex)
            assert "{" not in rule.becomes or "${" in rule.becomes


def _looked_for(rules: _patterns.Patterns) -> tuple[_patterns.Rule, ...]:
    return (*rules.tokenising, *rules.asserted, *rules.remarks, *rules.markers, *rules.refusals)


@KINDS_OF_OPTIONS
def test_no_macro_is_left_unfilled(options: str) -> None:
    rules = _patterns.patterns(options)
    left = [r.regex for r in _looked_for(rules) if re.search(r"(?<!\\x|\\p)\{[A-Za-z_]+\}", r.regex)]
    assert not left


def test_each_language_has_each_kind_of_pattern() -> None:
    for kind in ("word", "negated", "contrast", "remark", "answer", "decision", "marker", "weak", "refusal"):
        assert {"en", "zh"} <= {row.language for row in _patterns._rows() if row.kind == kind}, kind


def test_a_name_is_not_used_twice_for_one_purpose() -> None:
    named = [
        (r.kind, r.language, r.name)
        for r in _patterns._rows()
        if r.kind in ("answer", "decision", "marker", "weak", "refusal", "part")
    ]
    assert len(named) == len(set(named))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("maker,en,,x,y,,", "kind 'maker' of 'x' is unknown; use one of .*marker"),
        ("word,en,parnet,x,y,,", "set 'parnet' of 'x' is unknown; use one of pronoun, parent, text, list"),
    ],
)
def test_an_unknown_kind_or_set_is_named(
    row: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "patterns.csv"
    file.write_text(f"kind,language,set,name,regex,becomes,note\n{row}\n", encoding="utf-8")
    monkeypatch.setattr(_patterns, "FILE", file)
    with pytest.raises(DataError, match=rf"patterns\.csv: {message}"):
        _patterns._rows()


def test_a_further_language_takes_rows_and_no_code(monkeypatch: pytest.MonkeyPatch) -> None:
    german = [
        _patterns._Row("word", "de", "he", r"\ber\b", "", "", "pronoun"),
        _patterns._Row("word", "de", "she", r"\bsie\b", "", "", "pronoun"),
        _patterns._Row("marker", "de", "antwort", r"\bantwort\b{gap}(?:lautet|ist|:)\s*{X}", "", ""),
    ]
    rows = [*_patterns._rows(), *german]
    replies = ("Sie", "Nicht er: die Antwort lautet „sie“.")
    asked = answers(*(answer(reply, "zh") for reply in replies))
    assert judge(asked)["choice"].to_list() == [None, None]
    monkeypatch.setattr(_patterns, "_rows", lambda: rows)
    _patterns.patterns.cache_clear()
    try:
        assert judge(asked).sort("item_id")["reason"].to_list() == ["alone", "antwort"]
        assert judge(asked)["choice"].to_list() == ["she", "she"]
    finally:
        _patterns.patterns.cache_clear()
