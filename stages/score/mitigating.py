"""Effects of mitigations: paired differences between a protocol joined by + and the same one without, within one run.

The rules are those of docs/methodology.md, Mitigations. Both sides were asked the same items in the same orders and epochs;
the unit is the target.
"""

from collections.abc import Iterator

import polars as pl

from stages.schema import ALL, ASKED, EFFECTS, JOINED, METRICS_VERSION, RUN_KEY, UNUSABLE, Kind, Outcome
from stages.score.concepts import concepts
from stages.score.intervals import SHARE
from stages.score.paired import DEFAULT, LEAN, PAIR_LEAN, SIGNED, THERE, Compared, differences, sides
from stages.score.permutation import adjusted
from stages.score.scopes import NO_TYPE, POOLED

EVADED = (Outcome.REFUSAL, Outcome.FILTERED, *UNUSABLE)
"""Outcomes by which an answer says nothing of its item: no bias that goes this way is gone."""
ABS_LEAN = Compared("abs_lean", "abs_y", Kind.CHOICE, SIGNED)
ABS_LEAN_KEPT = Compared("abs_lean_kept", "abs_kept_y", Kind.CHOICE, SIGNED)
ABS_PAIR_LEAN = Compared("abs_pair_lean", "abs_delta", Kind.PAIR, SIGNED)
ABS_DEFAULT = Compared("abs_default", "abs_g", Kind.CHOICE, SIGNED, needs_both_types=True)
CONTROLS = Compared("control_accuracy", "right", Kind.CONTROL, SHARE)
CONTROLS_KEPT = Compared("control_accuracy_kept", "kept_right", Kind.CONTROL, SHARE)
RATES = ("neutral_rate", "refusal_rate", "unusable_rate", "evaded_rate")
SCORED = (
    *(LEAN, ABS_LEAN, ABS_LEAN_KEPT, DEFAULT, ABS_DEFAULT, CONTROLS, CONTROLS_KEPT, PAIR_LEAN, ABS_PAIR_LEAN),
    Compared(DEFAULT.name, DEFAULT.column, Kind.UNTYPED, SIGNED),
)
BLANKS = [str(kind) for kind in (Kind.CHOICE, Kind.CONTROL, Kind.UNTYPED)]
"""Kinds of single concepts: all of them are asked for the word in a blank, or the person in a story."""
RATED = tuple(Compared(rate, rate, Kind.UNTYPED, SHARE) for rate in RATES)
"""Of targets of every kind, which all pass for this one."""
SIMULTANEOUS = (ABS_LEAN, ABS_LEAN_KEPT)
"""What a verdict may call an improvement: of all groups, their intervals hold for all mitigations of a run at once."""
PRIMARY, EXPLORATORY = "primary", "exploratory"
ALPHA = 0.05
SCOPE = ("pair", "domain")
_ANSWER = ("pair", "item_id", "variant", "epoch", "order_index")
_TARGET = ("pair", "kind", "domain", "target", "type")
_MEANS = ("y", "g", "right", "delta")
_KEPT = ("y", "right")
_SIDES = ("here", "there", "kept")
_ROUNDING = 9
"""Digits to which a lean is told from 0: averages of the same numbers differ in the last bits."""


def mitigated(partitions: pl.DataFrame) -> pl.DataFrame:
    """Every ``pair``: a ``partition`` (RUN_KEY) whose protocol is joined, and its ``base``, the one of ``versus``, if the run has it."""
    key = [column.name for column in RUN_KEY]
    joined = partitions.filter(pl.col("protocol").str.contains(JOINED, literal=True)).with_columns(
        pl.col("protocol").str.split(JOINED).list.first().alias("versus")
    )
    base = partitions.rename({"partition": "base", "protocol": "versus"})
    shared = [name for name in key if name != "protocol"]
    return joined.join(base, on=[*shared, "versus"]).sort(key).with_row_index("pair")


def effects(answers: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """The effect of each of ``pairs`` (see ``mitigated``), rows of EFFECTS: per group, and over all.

    ``answers``: as ``evidence.Evidence`` has them, those of the ``pairs`` at least. A target counts where both sides have a
    usable answer; of it only what both sides were asked: item, order and epoch. Types weigh half each; of the domain 'asked'
    every target weighs the same.
    """
    if pairs.is_empty():
        return EFFECTS.empty()
    joined = _magnitudes(_pooled(_targets(answers, pairs)))
    rated = _rated(joined)
    ends = [sides(rows, each, SCOPE) for rows, some in ((joined, SCORED), (rated, RATED)) for each in some]
    found = pl.concat([*_scores(joined, pairs), *(differences(rated, rate, SCOPE) for rate in RATED)])
    named = _corrected(found.join(pl.concat(ends), on=[*SCOPE, "metric"]).join(pairs, on="pair"))
    version = pl.lit(METRICS_VERSION, pl.Int64).alias("metrics_version")
    return EFFECTS.conform(named.with_columns(version).select(EFFECTS.schema.names()))


def _targets(answers: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """Each target of both sides: ``_TARGET``, and what is compared, once as it is and once with ``THERE``."""
    own = answers.filter(pl.col("served_model") == ALL)
    here, there = (
        own.join(pairs.select(pl.col(side).alias("partition"), "pair"), on="partition")
        for side in ("partition", "base")
    )
    here, there = (one.join(other, on=_ANSWER, how="semi") for one, other in ((here, there), (there, here)))
    found = _concepts({"here": here, "there": there, "kept": _kept(here, there)})
    kept = found["kept"].select(*_TARGET, *(pl.col(name).alias(f"kept_{name}") for name in _KEPT))
    with_it = found["here"].join(kept, on=_TARGET, maintain_order="left")
    without = found["there"].with_columns(pl.col(_KEPT).name.prefix("kept_"))
    return with_it.join(without, on=_TARGET, suffix=THERE, maintain_order="left")


def _kept(here: pl.DataFrame, there: pl.DataFrame) -> pl.DataFrame:
    """``here``, every answer that evades where the other side's does not with the value that it has there."""
    evades = pl.col("outcome").is_in([str(outcome) for outcome in EVADED])
    said = there.filter(~evades).select(*_ANSWER, *(pl.col(name).alias(f"{name}{THERE}") for name in _KEPT))
    both = here.join(said.with_columns(known=True), on=_ANSWER, how="left", maintain_order="left")
    lost = evades & pl.col("known").fill_null(False)
    kept = (pl.when(lost).then(f"{name}{THERE}").otherwise(name).alias(name) for name in _KEPT)
    return both.with_columns(kept).select(here.columns)


def _concepts(answers: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """The concepts over all styles of each of the ``_SIDES``, with the means and rates that are compared."""
    numbered = [
        answers[side].with_columns((pl.col("pair") * len(_SIDES) + place).alias("partition")).drop("pair")
        for place, side in enumerate(_SIDES)
    ]
    found = concepts(pl.concat(numbered)).filter(pl.col("style") == ALL).with_columns(
        (pl.col("partition") // len(_SIDES)).alias("pair"), pl.col("typed").alias("type"), *_rates()
    )  # fmt: skip
    own = [*_TARGET, *_MEANS, *RATES]
    return {
        side: found.filter(pl.col("partition") % len(_SIDES) == place).select(own) for place, side in enumerate(_SIDES)
    }


def _rates() -> Iterator[pl.Expr]:
    """The share of a target's answers that are neutral, refused or filtered, unusable, and either of the last two."""
    refused = pl.col(Outcome.REFUSAL) + pl.col(Outcome.FILTERED)
    unusable = pl.col("expected") - pl.col("usable")
    counts = (pl.col(Outcome.NEUTRAL), refused, unusable, refused + unusable)
    return ((count / pl.col("expected")).alias(name) for name, count in zip(RATES, counts, strict=True))


def _pooled(targets: pl.DataFrame) -> pl.DataFrame:
    """Each target in its domain, and in 'all' where its kind is pooled."""
    pooled = targets.filter(pl.col("kind").is_in(POOLED)).with_columns(pl.lit(ALL).alias("domain"))
    return pl.concat([targets, pooled])


def _rated(joined: pl.DataFrame) -> pl.DataFrame:
    """``joined`` for rates, those of ``BLANKS`` also in 'asked': there they have no type, so that each weighs the same."""
    told = joined.filter(pl.col("kind").is_in([*BLANKS, str(Kind.PAIR)]))
    blanks = told.filter(pl.col("kind").is_in(BLANKS), pl.col("domain") != ALL)
    asked = blanks.with_columns(pl.lit(ASKED).alias("domain"), pl.lit(NO_TYPE).alias("type"))
    return pl.concat([told, asked]).with_columns(pl.lit(str(Kind.UNTYPED)).alias("kind"))


def _magnitudes(joined: pl.DataFrame) -> pl.DataFrame:
    """``joined`` with ``abs_<column>`` of both sides: what is averaged, turned so that its mean is the distance from 0.

    Of a scope whose lean is 0 on one side, that side is turned as the other one is; on both sides, neither.
    """
    found = joined
    for compared, column in ((LEAN, "y"), (LEAN, "kept_y"), (DEFAULT, "g"), (PAIR_LEAN, "delta")):
        here, there = pl.col(column), pl.col(f"{column}{THERE}")
        both = here.is_not_null() & there.is_not_null()
        signs = {
            name: compared.estimate(pl.when(both).then(side)).value.round(_ROUNDING).sign().replace(0, None).alias(name)
            for name, side in (("sign", here), ("sign_there", there))
        }
        turned = joined.filter(pl.col("kind") == compared.kind).group_by(SCOPE).agg(*signs.values())
        found = found.join(turned, on=SCOPE, how="left", maintain_order="left").with_columns(
            (here * pl.coalesce("sign", "sign_there", 1.0)).alias(f"abs_{column}"),
            (there * pl.coalesce("sign_there", "sign", 1.0)).alias(f"abs_{column}{THERE}"),
        ).drop(*signs)  # fmt: skip
    return found


def _scores(joined: pl.DataFrame, pairs: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The differences of every score, ``SIMULTANEOUS`` ones of all groups at the level that holds for their run."""
    whole = pl.col("domain") == ALL
    for compared in SCORED:
        yield differences(joined.filter(~whole) if compared in SIMULTANEOUS else joined, compared, SCOPE)
    tested = joined.filter(whole, pl.col("kind") == Kind.CHOICE).join(pairs.select("pair", "run"), on="pair")
    both = pl.all_horizontal(pl.col("y", f"y{THERE}").is_not_null())
    counted = tested.with_columns(pl.col("pair").filter(both).n_unique().over("run").alias("tests"))
    for (tests,), rows in counted.partition_by("tests", as_dict=True).items():
        level = 1 - ALPHA / max(int(tests), 1)
        yield from (differences(rows, compared, SCOPE, level) for compared in SIMULTANEOUS)


def _corrected(found: pl.DataFrame) -> pl.DataFrame:
    """``found`` with ``family`` and ``p_adjusted``: primary ones by Holm within a run, others by Benjamini–Hochberg within a
    run and protocol."""
    primary = (pl.col("metric") == ABS_LEAN.name) & (pl.col("domain") == ALL)
    named = found.with_columns(pl.when(primary).then(pl.lit(PRIMARY)).otherwise(pl.lit(EXPLORATORY)).alias("family"))
    unit = pl.when(primary).then(pl.lit(ALL)).otherwise("protocol")
    key = ("run", "family", "unit", "benchmark", "language", "protocol", "domain", "metric")
    groups = named.with_columns(unit.alias("unit")).sort(key).partition_by(key[:3], maintain_order=True)
    return pl.concat(rows.with_columns(_adjusted(rows)) for rows in groups)


def _adjusted(rows: pl.DataFrame) -> pl.Series:
    known = rows["p_value"].is_not_null()
    method = "holm" if rows["family"][0] == PRIMARY else "bh"
    found = iter(adjusted(rows["p_value"].filter(known).to_list(), method))
    return pl.Series("p_adjusted", [next(found) if there else None for there in known], pl.Float64)
