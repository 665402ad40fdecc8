"""The pictures, as SVG text that is put into the page.

Text stays text (no glyph is needed on the machine that builds), nothing has an id, and the room for labels is fixed
beforehand, so that the fonts of the machine move nothing. Colours are stand-ins: the page's style sheet gives each
its colour for light and for dark.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from html import escape
from math import ceil
from typing import Any

import altair as alt
import vl_convert

from stages.report.evidence import LEAN, PAIR_LEAN, Evidence, Setting, Subject
from stages.report.format import Figure
from stages.report.labels import Labels

INK, MUTED, GRID, BAND, MARK = "#111111", "#666666", "#dddddd", "#eeeeee", "#225588"
SERIES = (MARK, "#aa5511", "#227755", "#884488", "#777722", "#116677")
"""Stand-in colours; style.css maps each to the page's own."""
PAPER = "#fefefe"
PLOT, NAMES, ROW = 222, 138, 17
"""Width of the plot and of the room for names, height of a row, in px."""
WITHIN = 20
"""A lean inside ± this can be called balanced."""
DECIDED = 30
"""Above this percentage of items position decides."""

Mark = dict[str, Any]
Chart = Callable[[Evidence, Setting], str]


def _svg(chart: Any, **named: Sequence[Mark]) -> str:
    """``chart`` drawn; ``named`` are data that it names, as what stands in a chart is copied at each step of building it."""
    spec = chart.configure(
        font="sans-serif",
        background="transparent",
        aria=False,
        padding=2,
        view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(
            labelColor=INK, titleColor=MUTED, gridColor=GRID, domainColor=GRID, tickColor=GRID,
            labelFontSize=11, titleFontSize=11, titleFontWeight="normal", titlePadding=8,
        ),
    ).to_dict(validate=False)  # fmt: skip  # the specifications are ours, and checking one takes as long as drawing it
    data = spec.get("datasets", {}) | {name: list(marks) for name, marks in named.items()}
    return str(vl_convert.vegalite_to_svg(spec | {"datasets": data}, allowed_base_urls=[]))


def _values(marks: Sequence[Mark]) -> alt.InlineData:
    return alt.InlineData(values=list(marks))


def _x(field: str, title: str, domain: tuple[float, float], values: Sequence[float]) -> alt.X:
    axis = alt.Axis(
        title=title, values=list(values), labelFlush=True, labelExpr=_sign(domain), ticks=False, domain=False
    )
    return alt.X(f"{field}:Q", scale=alt.Scale(domain=list(domain), nice=False), axis=axis)


def _sign(domain: tuple[float, float]) -> str:
    """Labels of an axis: a plus before positive numbers where there are negative ones."""
    return "(datum.value > 0 ? '+' : '') + datum.label" if domain[0] < 0 else "datum.label"


def _y(names: Sequence[str]) -> alt.Y:
    axis = alt.Axis(
        title=None, minExtent=NAMES, maxExtent=NAMES, labelLimit=NAMES - 8, ticks=False, domain=False, labelPadding=8
    )
    return alt.Y("name:N", sort=list(names), axis=axis)


def _interval_chart(marks: list[Mark], names: Sequence[str], x: alt.X, under: list[Any], tones: Sequence[str]) -> str:
    """A row per name with a mark, a line per interval, a dot per value; several tones stand below each other in a row."""
    names = [name for name in names if any(mark["name"] == name for mark in marks)]
    base = alt.Chart(_values(marks)).encode(y=_y(names))
    if len(tones) > 1:
        base = base.encode(yOffset=alt.YOffset("tone:N", sort=list(tones)))
    colour = alt.Color("tone:N", scale=alt.Scale(domain=list(tones), range=list(SERIES[: len(tones)])), legend=None)
    fill = alt.condition("datum.hollow", alt.value(PAPER), colour)
    lines = base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q", color=colour)
    dots = base.mark_point(size=52, strokeWidth=2, opacity=1).encode(
        x=alt.X("value:Q"), stroke=colour, fill=fill, shape=alt.value("circle")
    )
    chart = alt.layer(*under, lines, dots)
    return _svg(chart.properties(width=PLOT, height=max(1, len(names)) * (ROW * len(tones) + 8)))


def _line_at(value: float, dashed: bool = False) -> Any:
    rule = alt.Chart(_values([{"at": value}])).mark_rule(color=MUTED, strokeDash=[3, 3] if dashed else [1, 0])
    return rule.encode(x=alt.X("at:Q"))


def _mark(evidence: Evidence, subject: Subject, tone: str, figure: Figure) -> list[Mark]:
    """The mark of ``figure``, hollow where it carries no verdict; none without a value, a bare dot without an interval."""
    if figure.value is None:
        return []
    low, high = (figure.value if end is None else end for end in (figure.low, figure.high))
    hollow = evidence.unmeasurable(subject.part)
    return [{"name": subject.model, "tone": tone, "value": figure.value, "low": low, "high": high, "hollow": hollow}]


RESTS_ON = {
    "lean": ("lean",),
    "pair_lean": ("pair_lean",),
    "pull": ("order_pull",),
    "default": ("lean", "default"),
    "decided": ("order_decided",),
}
"""Chart -> the scores a model needs to have a point in it."""


def drawn(evidence: Evidence, setting: Setting) -> dict[str, str]:
    """The pictures of what was scored in ``setting``: chart -> SVG."""
    kept = [c for c, keys in RESTS_ON.items() if all(evidence.scored(setting, key) for key in keys)]
    return {chart: DRAW[chart](evidence, setting) for chart in kept}


def reworded(pictures: dict[str, str], setting: Setting, drawn_in: Labels, labels: Labels) -> dict[str, str]:
    """``pictures``, drawn in the words of ``drawn_in``, in those of ``labels``: drawing takes long, and only titles of axes
    are words."""
    found = dict(pictures)
    for chart in pictures:
        for before, after in zip(*(_titles(each, chart, setting) for each in (drawn_in, labels)), strict=True):
            found[chart] = found[chart].replace(f">{escape(before)}<", f">{escape(after)}<")
    return found


def _titles(labels: Labels, chart: str, setting: Setting) -> list[str]:
    """The titles of the chart's axes, across first."""
    words = labels["charts"][chart]
    return [labels.in_words(words[key], setting.language) for key in ("axis", "axis_x", "axis_y") if key in words]


def absent(evidence: Evidence, setting: Setting, chart: str) -> dict[str, list[str]]:
    """Why models have no point in ``chart``: reason -> models."""
    found: dict[str, list[str]] = {}
    for subject in setting.subjects:
        missing = [m for key in RESTS_ON[chart] if (m := evidence.figure(subject.part, key).missing)]
        if missing:
            never = evidence.labels["missing"]["not_asked"]
            found.setdefault(never if evidence.never_asked(subject.part) else missing[0], []).append(subject.model)
    return found


def lean_domains(evidence: Evidence, setting: Setting) -> list[str]:
    """The domains ``lean`` and ``pair_lean`` draw, in the order of their colours."""
    return evidence.domains(setting)[: len(SERIES)]


def lean(evidence: Evidence, setting: Setting) -> str:
    """Lean with its interval: a row per model, a line per domain."""
    return _by_domain(evidence, setting, LEAN)


def pair_lean(evidence: Evidence, setting: Setting) -> str:
    """The same of pairs."""
    return _by_domain(evidence, setting, PAIR_LEAN)


def _by_domain(evidence: Evidence, setting: Setting, key: str) -> str:
    domains = lean_domains(evidence, setting)
    marks = [
        mark
        for subject in setting.subjects
        for domain in domains
        for mark in _mark(evidence, subject, domain, evidence.figure(subject.part, key, domain=domain))
    ]
    band = alt.Chart(_values([{"from": -WITHIN, "to": WITHIN}])).mark_rect(color=BAND).encode(x="from:Q", x2="to:Q")
    x = _x("low", _titles(evidence.labels, key, setting)[0], (-100, 100), (-100, -50, 0, 50, 100))
    return _interval_chart(marks, [s.model for s in setting.subjects], x, [band, _line_at(0)], domains)


def pull(evidence: Evidence, setting: Setting) -> str:
    """Order pull with its interval, a row per model."""
    x = _x("low", _titles(evidence.labels, "pull", setting)[0], (-100, 100), (-100, -50, 0, 50, 100))
    return _single(evidence, setting, "order_pull", x, [_line_at(0)])


def decided(evidence: Evidence, setting: Setting) -> str:
    """Share of items that position decides, a row per model."""
    x = _x("low", _titles(evidence.labels, "decided", setting)[0], (0, 100), (0, DECIDED, 50, 100))
    return _single(evidence, setting, "order_decided", x, [_line_at(DECIDED, dashed=True)])


def _single(evidence: Evidence, setting: Setting, key: str, x: alt.X, under: list[Any]) -> str:
    marks = [m for s in setting.subjects for m in _mark(evidence, s, key, evidence.figure(s.part, key))]
    return _interval_chart(marks, [s.model for s in setting.subjects], x, under, [key])


def default_against_lean(evidence: Evidence, setting: Setting) -> str:
    """A numbered dot per model (its place in the setting, from 1): lean across, default up, both with intervals."""
    marks: list[Mark] = []
    for number, subject in enumerate(setting.subjects, 1):
        across, up = (evidence.figure(subject.part, key) for key in ("lean", "default"))
        if across.value is None or up.value is None:
            continue
        sides = {"x": across, "y": up}
        ends = {f"{axis}_{end}": getattr(f, end) for axis, f in sides.items() for end in ("value", "low", "high")}
        marks.append({"number": str(number), "hollow": evidence.unmeasurable(subject.part), **ends})
    return _cross(marks, _titles(evidence.labels, "default", setting))


def _cross(marks: list[Mark], titles: list[str]) -> str:
    across, up = titles
    axis: dict[str, Any] = {
        "values": [-100, -50, 0, 50, 100],
        "ticks": False,
        "domain": False,
        "labelExpr": _sign((-100, 100)),
    }
    scale = alt.Scale(domain=[-100, 100], nice=False)
    x = alt.X("x_value:Q", scale=scale, axis=alt.Axis(title=across, labelFlush=True, **axis))
    y = alt.Y(
        "y_value:Q",
        scale=scale,
        axis=alt.Axis(title=up, minExtent=34, maxExtent=34, titlePadding=2, **axis),
    )
    base = alt.Chart(_values(marks))
    fill = alt.condition("datum.hollow", alt.value(PAPER), alt.value(MARK))
    ink = alt.condition("datum.hollow", alt.value(MARK), alt.value(PAPER))
    zero = [
        alt.Chart(_values([{"at": 0}]))
        .mark_rule(color=MUTED)
        .encode(**{side: alt.X("at:Q") if side == "x" else alt.Y("at:Q")})
        for side in ("x", "y")
    ]
    layers = [
        base.mark_rule(color=MARK, strokeWidth=1.5, opacity=0.55).encode(x=alt.X("x_low:Q"), x2="x_high:Q", y=y),
        base.mark_rule(color=MARK, strokeWidth=1.5, opacity=0.55).encode(x=x, y=alt.Y("y_low:Q"), y2="y_high:Q"),
        base.mark_point(size=230, shape="circle", stroke=MARK, strokeWidth=2, opacity=1).encode(x=x, y=y, fill=fill),
        base.mark_text(fontSize=10, fontWeight="bold", dy=0.5).encode(x=x, y=y, text="number:N", color=ink),
    ]
    return _svg(alt.layer(*zero, *layers).properties(width=PLOT + 40, height=PLOT + 20))


DRAW: dict[str, Chart] = {
    "lean": lean, "pair_lean": pair_lean, "pull": pull, "default": default_against_lean, "decided": decided
}  # fmt: skip

SHAPES = {1: "triangle-up", -1: "square", 0: "circle"}
"""Code of a word -> its mark; the page has the same as signs in its text."""


def words(listed: Sequence[Mark], reach: float, hollow: bool) -> str:
    """Log-odds of words with their intervals, a row per word in the order given, up to ``reach`` on either side of 0.

    No words but these: they are the model's, whatever the page's language. Empty where there are none.
    """
    if not listed:
        return ""
    end = max(1, ceil(reach))
    marks = [
        {
            **{"name": row["text"], "code": SHAPES[row["code"]], "value": row["log_odds"]},
            **{e: row["log_odds"] if row[f"ci_{e}"] is None else row[f"ci_{e}"] for e in ("low", "high")},
        }
        for row in listed
    ]
    base = alt.Chart(_values(marks)).encode(y=_y([mark["name"] for mark in marks]))
    x = _x("low", "", (-end, end), (-end, -end / 2, 0, end / 2, end))
    shape = alt.Shape("code:N", scale=alt.Scale(domain=list(SHAPES.values()), range=list(SHAPES.values())), legend=None)
    fill, stroke = alt.value(PAPER if hollow else MARK), alt.value(MARK)
    lines = base.mark_rule(strokeWidth=2, color=MARK).encode(x=x, x2="high:Q")
    dots = base.mark_point(size=60, strokeWidth=2, opacity=1).encode(
        x=alt.X("value:Q"), shape=shape, fill=fill, stroke=stroke
    )
    return _svg(alt.layer(_line_at(0), lines, dots).properties(width=PLOT, height=len(marks) * (ROW + 4)))


def course(marks: Sequence[Mark], domain: tuple[float, float], ideal: float) -> str:
    """A score with its interval over the dates of a model's runs; no words but dates.

    ``marks`` have ``date`` (YYYY-MM-DD), ``value``, ``low``, ``high``, ``hollow``, ``shape`` and ``flagged``.
    """
    day = "utcFormat(datum.value, '%Y-%m-%d')"
    dated = [{**mark, "day": _milliseconds(str(mark["date"])), **_ink(mark)} for mark in marks]
    first, last = dated[0]["day"], dated[-1]["day"]
    room = max((last - first) * 0.08, 86_400_000)
    x = alt.X(
        "day:Q",
        scale=alt.Scale(domain=[first - room, last + room], nice=False),
        axis=alt.Axis(
            title=None,
            values=sorted({first, last}),
            labelExpr=day,
            labelFlush=True,
            ticks=False,
            domain=False,
            grid=False,
            labelPadding=8,
        ),
    )
    values = [domain[0], (domain[0] + ideal) / 2, ideal, (domain[1] + ideal) / 2, domain[1]]
    axis = alt.Axis(
        title=None, values=values, labelExpr=_sign(domain), ticks=False, domain=False, minExtent=30, maxExtent=30
    )
    scale = alt.Scale(domain=list(domain), nice=False)
    base = alt.Chart(alt.NamedData("runs")).encode(x=x)
    layers = [
        alt.Chart(_values([{"at": ideal}])).mark_rule(color=MUTED).encode(y=alt.Y("at:Q", scale=scale)),
        base.mark_line(color=MARK, strokeWidth=1, opacity=0.5).encode(y=alt.Y("value:Q")),
        base.mark_rule(color=MARK, strokeWidth=1.5).encode(y=alt.Y("low:Q", scale=scale, axis=axis), y2="high:Q"),
        base.mark_point(size=46, strokeWidth=1.5, opacity=1).encode(
            y=alt.Y("value:Q"),
            stroke=alt.Stroke("colour:N", scale=None),
            fill=alt.Fill("inside:N", scale=None),
            shape=alt.Shape("shape:N", scale=None),
        ),
    ]
    return _svg(alt.layer(*layers).properties(width=PLOT + 60, height=110), runs=dated)


def _ink(mark: Mark) -> Mark:
    colour = SERIES[1] if mark["flagged"] else MARK
    return {"colour": colour, "inside": PAPER if mark["hollow"] else colour}


def _milliseconds(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000)
