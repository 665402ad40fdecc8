"""docs/methodology.md has one entry per metric, which says of it what the registry says."""

import re

import pytest

from stages.schema import Kind
from stages.score import METRICS
from stages.score.intervals import UNBOUNDED, Interval, newcombe, t_over_targets, wilson
from stages.score.metrics import Apart, Estimated, Metric
from tests.docs.markdown import METHODOLOGY, code, number, read, section, spans, table

SECTION = section(read(METHODOLOGY), "## The metrics")
RATES = {code(row["rate"]): row for row in table(section(SECTION, "### Rates"), "rate", "ideal")}
HEADINGS = [line for line in SECTION.splitlines() if line.startswith("### `")]
FACTS = ("Formula", "n", "Null", "Scored in", "Read", "Source")
INTERVALS: dict[Interval, str] = {t_over_targets: "t", wilson: "Wilson", newcombe: "Newcombe"}
KINDS: dict[str, tuple[Kind, ...]] = {
    "typed concepts": (Kind.CHOICE,),
    "typed concepts and pairs": (Kind.CHOICE, Kind.PAIR),
    "pairs": (Kind.PAIR,),
    "texts": (Kind.TEXT,),
    "the rubric": (Kind.RUBRIC,),
    "pairs and texts": (Kind.PAIR, Kind.TEXT),
    "untyped concepts": (Kind.UNTYPED,),
    "controls": (Kind.CONTROL,),
    "StereoSet": (Kind.SENTENCE,),
    "the check-up's groups": tuple(kind for kind in Kind if kind != Kind.SENTENCE),
    "every group with a choice": tuple(kind for kind in Kind if kind != Kind.TEXT),
    "every group": tuple(Kind),
}
SECOND = {
    ("default", Kind.UNTYPED): "### `default` over untyped concepts",
    ("coverage", Kind.SENTENCE): "### `coverage` of StereoSet",
}


def heading(metric: Metric) -> str:
    """The heading of its entry. ``default`` and ``coverage`` have two each, by what they are scored over."""
    return SECOND.get((metric.name, metric.kinds[0]), f"### `{metric.name}`")


def fact(entry: str, name: str) -> str:
    """What the line of ``entry`` for ``name`` says."""
    (found,) = re.findall(rf"^- \*\*{name}:\*\* (.+)", entry, flags=re.MULTILINE)
    return str(found)


def entries() -> list[Metric]:
    """The metrics with an entry of their own; the others are rows of the table of rates."""
    return [metric for metric in METRICS if metric.name not in RATES]


def bounds(text: str) -> tuple[float, ...] | None:
    """The range written in ``text``; null when it says that there is none."""
    return None if text == "unbounded" else tuple(number(end) or 0.0 for end in text.split("…"))


def scaled(metric: Metric) -> tuple[float, ...] | None:
    return None if metric.bounds == UNBOUNDED else tuple(metric.scale * end for end in metric.bounds)


def test_every_metric_has_an_entry_and_every_entry_a_metric() -> None:
    assert sorted(HEADINGS) == sorted(heading(metric) for metric in entries())
    assert set(RATES) == {metric.name for metric in METRICS} - {metric.name for metric in entries()}


@pytest.mark.parametrize("metric", entries(), ids=heading)
def test_an_entry_says_what_the_registry_says(metric: Metric) -> None:
    entry = section(SECTION, heading(metric))
    assert all(fact(entry, name) for name in FACTS)
    stated = fact(entry, "Range").rstrip(".")
    extent, ideal, interval = re.split(r"; \*\*(?:ideal|interval):\*\* ", stated)
    assert bounds(extent) == scaled(metric)
    assert number(ideal) == metric.ideal
    assert isinstance(metric, Estimated | Apart)
    assert interval == (metric.interval if isinstance(metric, Apart) else INTERVALS[metric.interval])


@pytest.mark.parametrize("metric", entries(), ids=heading)
def test_an_entry_says_where_the_metric_is_scored(metric: Metric) -> None:
    groups, _, by_type = fact(section(SECTION, heading(metric)), "Scored in").partition(", ")
    assert KINDS[groups] == metric.kinds
    assert by_type == ("by type" if metric.by_type else "")


@pytest.mark.parametrize("name", RATES)
def test_a_rate_says_what_the_registry_says(name: str) -> None:
    (metric,) = (m for m in METRICS if m.name == name)
    assert bounds(RATES[name]["range"]) == scaled(metric)
    assert number(RATES[name]["ideal"]) == metric.ideal
    assert isinstance(metric, Estimated)
    assert (metric.kinds, metric.interval, metric.by_type) == (tuple(Kind), wilson, True)


def test_no_metric_is_named_that_does_not_exist() -> None:
    """Whatever stands in backticks and looks like a metric of ours is one."""
    named = {span for span in spans(SECTION) if re.fullmatch(r"\w+_(rate|bias|lean|pull|auc|accuracy)", span)}
    assert named
    assert named <= {metric.name for metric in METRICS}
