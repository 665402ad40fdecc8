"""What an answer says about the options it offered: facts that the contracts on answers judge, one row per answer."""

import polars as pl

from stages.hashing import item_hash
from stages.orders import orders
from stages.schema import DOMAINS, TASKS, Kind, Outcome
from stages.structs import OPTION
from stages.validate.checkup import MEANINGS

SENTENCES = (Outcome.STEREOTYPE, Outcome.ANTI_STEREOTYPE, Outcome.UNRELATED)
ROUNDING = 1e-6
_EACH = pl.element().struct.field


def option_facts(answers: pl.DataFrame) -> pl.DataFrame:
    """``answers`` (rows of ``schema.ANSWERS``) with what is wrong with their options: a word or an option's key, else null."""
    rows = answers.with_row_index("row")
    return rows.join(_strays(rows), on="row", how="left", maintain_order="left").drop("row").with_columns(
        _text_defect().alias("text_defect"), _label_defect().alias("label_defect")
    )  # fmt: skip


def options_defect() -> pl.Expr:
    """A choice is among two options or more; where a text is wanted there is none."""
    number = pl.col("options").list.len()
    chosen = pl.col("task").replace_strict(TASKS, default=1, return_dtype=pl.Int64)
    return (
        pl.when((chosen > 0) & (number < 2)).then(pl.format("{} offered", number))
        .when((chosen == 0) & (number > 0)).then(pl.format("{} offered", number))
    )  # fmt: skip


def contents() -> pl.Expr:
    """The options as they are but for their order and their letters."""
    fields = (_EACH(name).cast(pl.String).fill_null("") for name in ("key", "text", "outcome", "gender", "code"))
    return pl.col("options").list.eval(pl.concat_str(fields, separator="\x1f")).list.sort().list.join("\x1e").hash()


def _strays(rows: pl.DataFrame) -> pl.DataFrame:
    """One row per answer that offers any option: the first option with a value that none can have, per kind of value."""
    each = rows.select("row", "domain", "typed", "options").explode("options").drop_nulls("options").unnest("options")
    in_set = {
        "outcome": pl.col("outcome").is_in([str(outcome) for outcome in Outcome]).fill_null(False),
        **{name: pl.col(name).is_null() | pl.col(name).is_in([-1, 0, 1]) for name in ("gender", "code")},
    }
    found = each.join(_meanings(), on=["domain", "typed", "gender"], how="left")
    named = pl.col("key").fill_null("?")
    return found.group_by("row").agg(
        *(pl.when(~ok).then(named).drop_nulls().first().alias(f"stray_{name}") for name, ok in in_set.items()),
        pl.when(~_meant()).then(named).drop_nulls().first().alias("stray_meaning"),
    )


def _meanings() -> pl.DataFrame:
    """Domain, type and gender of an answer to a blank -> what choosing it means."""
    rows = [
        (domain, typed, gender, str(outcome))
        for domain, typed, male, female in MEANINGS
        for gender, outcome in ((1, male), (-1, female), (0, Outcome.NEUTRAL))
    ]
    types = {"domain": pl.String, "typed": pl.String, "gender": pl.Int8, "meaning": pl.String}
    return pl.DataFrame(rows, schema=types, orient="row")


def _meant() -> pl.Expr:
    """Whether gender, code and outcome are what the kind of the item's domain has; a blank's answer has its one meaning."""
    kind = pl.col("domain").replace_strict(DOMAINS, default=None, return_dtype=pl.String)
    no_gender, no_code = pl.col("gender").is_null(), pl.col("code").is_null()
    return (
        pl.when(kind == Kind.PAIR).then(no_gender & ~no_code & (pl.col("outcome") == Outcome.PAIRED))
        .when(kind == Kind.SENTENCE).then(no_gender & no_code & pl.col("outcome").is_in([str(o) for o in SENTENCES]))
        .when(kind.is_not_null()).then(no_code & (pl.col("outcome") == pl.col("meaning")))
        .otherwise(True)
        .fill_null(False)
    )  # fmt: skip


def _text_defect() -> pl.Expr:
    """Sentences of a data set are kept as they are, and a few translations have two alike."""
    texts = pl.col("options").list.eval(_EACH("text"))
    blank = texts.list.eval(~pl.element().str.contains(r"\S").fill_null(False)).list.any()
    kept = pl.col("domain").replace_strict(DOMAINS, default=None, return_dtype=pl.String) == Kind.SENTENCE
    alike = (texts.list.n_unique() < texts.list.len()) & ~kept.fill_null(False)
    return pl.when(blank).then(pl.lit("blank")).when(alike).then(pl.lit("alike"))


def _label_defect() -> pl.Expr:
    """Options have no letters, or each one of its own; a model that replied with a letter was shown them."""
    labels = pl.col("options").list.eval(_EACH("label"))
    given = labels.list.drop_nulls()
    shown = (pl.col("task") == "option") & pl.col("reply").is_not_null()
    return (
        pl.when(shown & (given.list.len() == 0)).then(pl.lit("missing"))
        .when((given.list.len() > 0) & (given.list.len() < labels.list.len())).then(pl.lit("missing"))
        .when(given.list.n_unique() < given.list.len()).then(pl.lit("alike"))
    )  # fmt: skip


def candidate_defect() -> pl.Expr:
    """Imported scores are as their makers' program wrote them. Sums of many tokens may end a little above 0."""
    keys = pl.col("candidates").list.eval(_EACH("key").fill_null("?"))
    offered = pl.col("options").list.eval(_EACH("key"))
    most = pl.col("candidates").list.eval(_EACH("logprob")).list.max()
    return (
        pl.when(keys.list.n_unique() < keys.list.len()).then(pl.lit("a key twice"))
        .when(keys.list.set_difference(offered).list.len() > 0).then(pl.lit("a key that was not offered"))
        .when((most > ROUNDING) & (pl.col("access_route") != "imported")).then(pl.lit("a log-probability above 0"))
    )  # fmt: skip


def hash_made(answers: pl.DataFrame) -> pl.DataFrame:
    """``item_id``, ``variant`` and ``hash_made``, the item's hash made anew from its first answer, wherever that is possible.

    It is not where the neutral answer was left out, which the hash is also of, nor of answers from before options had codes.
    """
    keys = ["item_id", "variant"]
    neutral = pl.col("options").list.eval(_EACH("gender") == 0).list.any()
    whole = answers.filter((pl.col("task") != "blank") | neutral, pl.col("schema_version") > 1).unique(
        keys, keep="first", maintain_order=True
    )
    each = whole.select(*keys, "text", "order_index", "options", pl.col("options").list.len().alias("n")).explode(
        "options"
    )
    placed = each.with_columns((pl.col("order_index").cum_count().over(keys) - 1).cast(pl.Int64).alias("shown_at"))
    canonical = placed.join(_places(whole), on=["n", "order_index", "shown_at"]).sort(*keys, "place")
    names = OPTION.to_schema()
    option = pl.col("options").struct
    bare = pl.struct(
        pl.lit(None, pl.String).alias("label") if name == "label" else option.field(name) for name in names
    )
    items = canonical.group_by(*keys, "text").agg(bare.alias("options"))
    texts = whole.filter(pl.col("options").list.len() == 0).select(items.columns)
    return pl.concat([items, texts]).with_columns(item_hash()).select(*keys, pl.col("item_hash").alias("hash_made"))


def _places(answers: pl.DataFrame) -> pl.DataFrame:
    """Number of options, order and place among those shown -> place in the canonical order."""
    rows = [
        (n, index, shown_at, place)
        for n in answers["options"].list.len().unique().drop_nulls().to_list()
        for index, order in enumerate(orders(n))
        for shown_at, place in enumerate(order)
    ]
    types = {"n": pl.UInt32, "order_index": pl.Int64, "shown_at": pl.Int64, "place": pl.Int64}
    return pl.DataFrame(rows, schema=types, orient="row")
