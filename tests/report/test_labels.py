"""The words of the page cover what the tables can hold, and say of each metric what its definition says."""

import json
import re

import pytest

from stages.errors import UsageError
from stages.report.labels import TEMPLATES, Labels
from stages.schema import LANGUAGES, SPLIT, STYLES, TYPED, Outcome
from stages.score import METRICS
from stages.score.intervals import UNBOUNDED
from stages.score.metrics import Metric
from tests.conftest import ROOT

LABELS = Labels.read(ROOT)
CAMPS_SQL = (ROOT / "reports/sql/marts/camps.sql").read_text(encoding="utf-8")


def explained(metric: Metric) -> list[str]:
    """Keys of the labels that explain ``metric``."""
    return [key for key in LABELS["metrics"] if LABELS.metric(key).metric == metric.name]


@pytest.mark.parametrize("metric", METRICS, ids=lambda m: f"{m.name} {m.kinds[0]}")
def test_every_metric_is_explained_as_it_is_defined(metric: Metric) -> None:
    assert explained(metric)
    for key in explained(metric):
        label = LABELS.metric(key)
        expected = None if metric.bounds == UNBOUNDED else [metric.scale * end for end in metric.bounds]
        assert label.range == expected
        if not isinstance(label.ideal, str):
            assert label.ideal == metric.ideal


def test_no_metric_is_explained_that_does_not_exist() -> None:
    assert {LABELS.metric(key).metric for key in LABELS["metrics"]} == {metric.name for metric in METRICS}


def test_the_controls_come_first() -> None:
    assert LABELS["metric_groups"][0] == ["task", ["control_accuracy", "control_auc"]]


def test_every_shown_metric_is_known() -> None:
    for _, keys in LABELS["metric_groups"]:
        assert set(keys) <= set(LABELS["metrics"])


@pytest.mark.parametrize(
    ("kind", "codes"),
    [
        ("outcomes", [*Outcome, SPLIT]),
        ("languages", LANGUAGES),
        ("styles", STYLES),
        ("typed", TYPED),
        ("camps", [*re.findall(r"then '([\w -]+)'", CAMPS_SQL.split("end as camp,")[0]), "undetermined"]),
        ("camps_by_strength", [*re.findall(r"then '([\w -]+)'", CAMPS_SQL.split("unstable,")[-1]), "undetermined"]),
    ],
)
def test_every_code_has_a_name(kind: str, codes: list[str]) -> None:
    assert len(codes) > 1
    assert set(LABELS[kind]) >= set(codes)


def test_an_unknown_code_is_its_own_name() -> None:
    assert LABELS.name("domains", "trait") == "trait"
    assert LABELS.word("fr", "he") == "he"
    assert LABELS.word("zh", "they") == "TA"


def test_a_protocol_is_named_in_the_words_of_its_language() -> None:
    assert LABELS.protocol("two", "zh").endswith("(他 / 她)")
    assert LABELS.protocol("two+few-shot", "en") == "two+few-shot"


def test_labels_of_a_language_that_is_not_there() -> None:
    with pytest.raises(UsageError, match=r"labels\.fr\.json is not here"):
        Labels.read(ROOT, "fr")


def test_no_word_is_defined_twice() -> None:
    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        keys = [key for key, _ in pairs]
        assert len(keys) == len(set(keys)), keys
        return dict(pairs)

    json.loads((ROOT / TEMPLATES / "labels.en.json").read_text(encoding="utf-8"), object_pairs_hook=once)
