"""What the page says about letters, portraits and stories: gaps between texts about men and women, and the words in them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
from markupsafe import Markup

from stages.report.bilingual import Bilingual
from stages.report.evidence import LATEST, Evidence, Key, Row, Setting, by_part, rows
from stages.report.format import Figure, figure, p_value
from stages.report.pairs import LEAST
from stages.schema import ALL, TWO_SIDED

STORY = ("lean", "default", "control_accuracy", "coverage")
"""What a line about stories has."""
TEXTS = ("text_lean", "refusal_gap", "coverage")
EACH_WAY = 10
"""So many words are shown at most either way."""
LEXICON = "lexicon"


@dataclass(frozen=True)
class Gap:
    """One measure of one group of texts."""

    measure: str
    woman: float | None
    man: float | None
    figure: Figure
    p: str
    """After the correction over the measures of the group."""


@dataclass(frozen=True)
class Group:
    """The texts of one model in one group."""

    domain: str
    scores: list[Figure]
    gaps: list[Gap]
    men: list[Row]
    """Words that are written more often about men, the farthest first."""
    women: list[Row]
    example: Row | None
    """The pair of texts that differs most."""


@dataclass(frozen=True)
class Model:
    name: str
    groups: list[Group]
    story: list[Figure]
    """The scores of stories; empty where there are none."""
    camp: str | None


@dataclass(frozen=True)
class Texts:
    """All of one setting."""

    setting: Setting
    name: Markup
    models: list[Model]


def found(connection: duckdb.DuckDBPyConnection, heard: Sequence[Evidence], both: Bilingual) -> list[Texts]:
    """What is said of each setting in which texts were written; nothing where there is none."""
    gaps = by_part(rows(connection, f"from gaps {LATEST} where rater = '{LEXICON}' and target = '{ALL}'"))
    if not gaps:
        return []
    words = by_part(
        rows(connection, f"from word_profiles {LATEST} where domain in {TWO_SIDED} order by log_odds, word")
    )
    examples = by_part(
        rows(
            connection,
            f"from text_pairs {LATEST} qualify row_number() over (partition by run, benchmark, language, protocol, domain "
            "order by abs(delta) desc, item_id) = 1",
        )
    )
    told = [setting for setting in heard[0].settings() if any(gaps[s.part] for s in setting.subjects)]
    return [_texts(heard, both, setting, gaps, words, examples) for setting in told]


def _texts(
    heard: Sequence[Evidence],
    both: Bilingual,
    setting: Setting,
    gaps: dict[Key, list[Row]],
    words: dict[Key, list[Row]],
    examples: dict[Key, list[Row]],
) -> Texts:
    models = [
        Model(
            subject.model,
            [
                _group(
                    heard, both, subject.part, domain, gaps[subject.part], words[subject.part], examples[subject.part]
                )
                for domain in TWO_SIDED
                if any(row["domain"] == domain for row in gaps[subject.part])
            ],
            _story(heard, both, subject.part),
            heard[0].camp(subject.part, "story")["camp"],
        )
        for subject in setting.subjects
        if gaps[subject.part]
    ]
    return Texts(setting, both.say([evidence.name(setting) for evidence in heard]), models)


def _group(
    heard: Sequence[Evidence],
    both: Bilingual,
    part: Key,
    domain: str,
    gaps: Sequence[Row],
    words: Sequence[Row],
    examples: Sequence[Row],
) -> Group:
    own = {row["measure"]: row for row in gaps if row["domain"] == domain}
    often = [w for w in words if w["domain"] == domain and w["n_woman"] + w["n_man"] >= LEAST and w["log_odds"]]
    return Group(
        domain,
        [both.figure([e.figure(part, key, domain=domain) for e in heard]) for key in TEXTS],
        [_gap(heard, both, own[name]) for name in heard[0].labels["texts"]["measures"] if name in own],
        [word for word in reversed(often) if word["log_odds"] > 0][:EACH_WAY],
        [word for word in often if word["log_odds"] < 0][:EACH_WAY],
        next((example for example in examples if example["domain"] == domain), None),
    )


def _gap(heard: Sequence[Evidence], both: Bilingual, row: Row) -> Gap:
    apart = [
        figure(row["value"], row["ci_low"], row["ci_high"], row["n"], "log_odds", said["null"], said["no_interval"])
        for said in (evidence.labels["texts"] for evidence in heard)
    ]
    return Gap(row["measure"], row["woman"], row["man"], both.figure(apart), p_value(row["p_adjusted"]))


def _story(heard: Sequence[Evidence], both: Bilingual, part: Key) -> list[Figure]:
    if heard[0].figure(part, "lean", domain="story").value is None:
        return []
    scopes: dict[str, dict[str, Any]] = {key: {"domain": "story"} for key in STORY if key != "control_accuracy"}
    return [both.figure([e.figure(part, key, **scopes.get(key, {})) for e in heard]) for key in STORY]
