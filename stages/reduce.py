"""reduce: judgements -> votes. A vote lists an item with all its answers; scores are made from the answers themselves."""

from pathlib import Path

import polars as pl

from stages.command import run
from stages.derive import derive
from stages.schema import DOMAINS, ITEM_FACTS, JUDGEMENTS, RUN_KEY, SINGLE, UNUSABLE, VOTES, Kind, Outcome
from stages.store import project_root
from stages.structs import EPOCH
from stages.votes import SIDE, by_place, by_position, places, plurality, votes

_KEY = [column.name for column in RUN_KEY] + ["item_id"]
_FACTS = [column.name for column in ITEM_FACTS]
_ABOUT_TEXTS = [domain for domain, kind in DOMAINS.items() if kind is Kind.RUBRIC]
_EPOCH_FIELDS = [field.name for field in EPOCH.fields]


def reduce(judgements: pl.DataFrame) -> pl.DataFrame:
    """The vote of each item of ``judgements`` (rows of JUDGEMENTS, of any runs), rows of VOTES.

    ``vote``, ``delta``, ``p_value``  see ``votes.votes``;
    ``choice``         what most answers with that outcome choose; null on a tie, on ``split`` and without a choice;
    ``stable``         whether usable answers agree within each order and side: one outcome and gender, of a pair one
                       choice (null: none asked twice);
    ``order_decided``  whether one position has the most usable answers in every order; an answer without a position, as
                       a refusal, stands for none (null: one order only, or one without a usable answer). Of a pair,
                       whether on each side all picks stand at the same places in every order (null: a side has no
                       choice in two orders, or none in one of them);
    ``log_odds``       mean over orders of the mean within each order, over every answer that has them.
    """
    if judgements.is_empty():
        return VOTES.empty()
    items = judgements.select(_KEY).unique().sort(_KEY).with_row_index("item")
    answers = judgements.join(items, on=_KEY).with_columns((~pl.col("outcome").is_in(UNUSABLE)).alias("usable"))
    found = items
    for part in (_listed(answers), votes(answers.with_columns(_code())), _by_order(answers), _by_place(answers)):
        found = found.join(part, on="item", how="left")
    found = found.join(_choice(answers, found), on="item", how="left")
    decided = pl.when("pair").then("at_places").otherwise("order_decided").alias("order_decided")
    return VOTES.conform(found.with_columns(decided).select(VOTES.schema.names()))


def reduce_all(root: Path) -> int:
    """Write the votes of every recorded partition of the ledger's runs; return how many votes there are.

    :raises CheckupError: the ledger and the judgements disagree, or a file does not fit its table.
    """
    return derive(root, "reduce", JUDGEMENTS, VOTES, reduce)


def _listed(answers: pl.DataFrame) -> pl.DataFrame:
    """Per item its facts, how many answers it has, and all of them."""
    by_epoch = answers.sort("item", "variant", "epoch")
    return by_epoch.group_by("item").agg(
        *(pl.col(fact).first() for fact in _FACTS),
        pl.len().cast(pl.Int64).alias("n_answers"),
        pl.col("usable").sum().cast(pl.Int64).alias("n_usable"),
        pl.struct(_EPOCH_FIELDS).alias("epochs"),
    )


def _code() -> pl.Expr:
    """``code``, without those about a text: what differs between the sides there is the text's, and no leaning of who read it."""
    return pl.when(~pl.col("domain").is_in(_ABOUT_TEXTS)).then("code").alias("code")


def _choice(answers: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    voted = answers.join(found.select("item", "vote"), on="item")
    return plurality(voted.filter(pl.col("outcome") == pl.col("vote"), pl.col("choice").is_not_null()), "choice")


def _by_order(answers: pl.DataFrame) -> pl.DataFrame:
    """Per item what is seen only by looking at each order on its own: stable, order_decided, log_odds."""
    chosen = pl.when(pl.col("outcome") == Outcome.PAIRED).then("choice").otherwise(pl.col("gender").cast(pl.String))
    sense = pl.concat_str("outcome", chosen.fill_null("")).rank("dense").alias("sense")
    stable, repeated = pl.col("stable"), pl.col("repeated")
    found = by_position(answers.with_columns(sense)).group_by("item").agg(
        pl.when(repeated.any()).then((stable | ~repeated).all()).alias("stable"),
        pl.when(pl.col("ordered").all()).then(pl.col("decided").all()).alias("order_decided"),
    )  # fmt: skip
    log_odds = pl.col("log_odds").mean()
    of_orders = answers.group_by(*SIDE, "order_index").agg(log_odds).group_by("item").agg(log_odds)
    return found.join(of_orders, on="item")


def _by_place(answers: pl.DataFrame) -> pl.DataFrame:
    """Per pair what is seen only by where its picks stand: ``at_places``; ``pair`` says that it is one."""
    sides = answers.filter(pl.col("variant") != SINGLE).with_row_index("row")
    placed = by_place(sides.join(places(sides), on="row", how="left"))
    at_places = pl.when(pl.col("ordered").all()).then(pl.col("decided").all())
    return placed.group_by("item").agg(at_places.alias("at_places"), pl.lit(True).alias("pair"))


def main() -> None:
    print(f"votes: {reduce_all(project_root())} rows")


if __name__ == "__main__":
    run(main)
