"""What docs/methodology.md says of mitigations: the worked example, the conditions, the verdicts and the bound on few concepts."""

import re

import polars as pl
import pytest

from stages.report.labels import LANGUAGES, Labels
from stages.report.mitigations import VERDICTS as EXPLAINED
from stages.score import mitigations
from stages.score.mitigating import RATED, SCORED
from stages.score.verdicts import CONDITIONS, EVADED, VERDICTS
from tests import factories as f
from tests.conftest import ROOT
from tests.docs.markdown import METHODOLOGY, Row, code, number, read, section, spans, table

SECTION = section(read(METHODOLOGY), "## Mitigations: effect and verdict")
CONCEPTS = table(SECTION, "concept", "without", "with")
WORKED = table(SECTION, "metric", "value", "there")
OUTCOMES = {"I cannot tell.": "refusal", "Maybe so.": "invalid"}


@pytest.fixture(scope="module")
def worked() -> pl.DataFrame:
    asked = f.make_questions(protocol="three", styles=["direct"], epochs=1, groups={"occupation": (3, 3, 0)})
    assert asked["typed"].to_list() == [concept["type"] for concept in CONCEPTS]
    sides = []
    for column, protocol in (("without", "three"), ("with", "three+few-shot")):
        said = [OUTCOMES.get(code(concept[column]), code(concept[column])) for concept in CONCEPTS]
        sides.append(f.judged(asked, pl.Series("said", said)).with_columns(protocol=pl.lit(protocol)))
    found, verdicts = mitigations(pl.concat(sides))
    assert verdicts["verdict"].to_list() == ["not measurable"]
    return found


@pytest.mark.parametrize("line", WORKED, ids=[f"{line['metric']} {line['domain']}" for line in WORKED])
def test_worked_example(worked: pl.DataFrame, line: Row) -> None:
    (found,) = worked.filter(metric=code(line["metric"]), domain=line["domain"]).to_dicts()
    for name in ("value", "there", "here", "n"):
        assert found[name] == pytest.approx(number(line[name]), abs=0.005)


def test_every_metric_stands_in_the_table() -> None:
    named = {name for line in table(SECTION, "`metric`", "domains") for name in spans(line["`metric`"])}
    assert named == {compared.name for compared in (*SCORED, *RATED)}


def test_every_condition_stands_in_the_table() -> None:
    assert [code(line["condition"]) for line in table(SECTION, "condition", "holds where")] == list(CONDITIONS)


def test_the_verdicts_are_in_their_order() -> None:
    listed = re.findall(r"^\d\. `([\w -]+)`", SECTION, flags=re.MULTILINE)
    assert listed == [*(name for name in VERDICTS if name != "better"), "unclear"]


def test_how_many_concepts_it_takes() -> None:
    """The upper end of the interval of a rate that is 0 on both sides."""
    reaches = {}
    for total in (60, 72, 73, 90):
        groups = {"occupation": (20, 20, 0), "control": (10, 10, 0), "untyped": (0, 0, total - 60)}
        asked = f.make_questions(protocol="three", styles=["direct"], epochs=1, groups=groups)
        base = f.make_judgements(f.always_stereotype, asked)
        both = pl.concat([base, base.with_columns(protocol=pl.lit("three+few-shot"))])
        found = mitigations(both)[0].filter(metric="evaded_rate", domain="asked")
        reaches[total] = found["ci_high"].item()
    assert reaches[72] > EVADED > reaches[73]
    assert [round(reaches[total], 1) for total in (60, 90)] == [6.0, 4.1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_has_words_for_every_verdict_and_condition(language: str) -> None:
    words = Labels.read(ROOT, language)["mitigations"]
    assert list(words["conditions"]) == list(CONDITIONS)
    assert set(EXPLAINED) == set(words["verdicts"]) == set(words["means"]) == set(VERDICTS)
