"""Contracts on recorded answers: each answer, each item's grid of epochs and orders, and each file as a whole.

The ledger's frozen entry is what an answers file is held to, never today's params.yaml or items.
"""

import json
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from stages.orders import order_index, orders
from stages.schema import (
    ANSWERS,
    DOMAINS,
    MAN,
    NO_STYLE,
    ROUTES,
    SCHEMA_VERSION,
    SCORED,
    SINGLE,
    STATUSES,
    STYLES,
    TASKS,
    TYPED,
    VARIANTS,
    WOMAN,
    Outcome,
)
from stages.store import Partition
from stages.validate.contracts import Checkable, absent, between, closed, contract, equal, like, unique
from stages.validate.offered import candidate_defect, contents, hash_made, option_facts, options_defect
from stages.validate.tables import MISSING, null_column, unreal_column

FOLDER = "data/answers"
KEYS = ("item_id", "variant", "epoch")
OF_PARTITION = ("run", "model", "date", "benchmark", "language", "protocol")
_AT_LEAST_0 = ("cost", "latency", "prompt_tokens", "completion_tokens", "cached_tokens")
_UTC = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:\+00:00|Z)$"
_ITEM = ("domain", "target", "style", "typed", "status", "text", "item_hash")

STRAYS = {
    "stray_outcome": f"an option's outcome is one of {', '.join(Outcome)}",
    "stray_gender": "an option's gender is -1, 0, 1 or null",
    "stray_code": "an option's code is -1, 0, 1 or null",
    "stray_meaning": "choosing an option means what the group and type of its item say",
}


def contracts(files: pl.DataFrame, facts: pl.DataFrame) -> list[Checkable]:
    """The contracts on all answers at once: ``files`` of ``declared``, ``facts`` of ``judgeable`` for each of them."""
    return [_answers(facts.join(files, on="file")), _grids(facts, files), _items(facts), _files(facts, files)]


def declared(root: Path, parts: Iterable[Partition]) -> pl.DataFrame:
    """One row per file: its path and what the ledger's entry says of it; null where it says nothing."""
    rows = [
        (
            part.path(root, ANSWERS).relative_to(root).as_posix(),
            *(part.run.id, part.run.model, part.run.date, part.benchmark, part.language, part.protocol),
            part.run.entry.epochs,
            part.run.entry.each_order_once,
            part.protocol in part.run.entry.asked_once,
            part.run.entry.limit,
            (part.run.entry.items or {}).get(part.name),
        )
        for part in parts
    ]
    names = ["file", *(f"{name}_declared" for name in OF_PARTITION)]
    schema = {
        **dict.fromkeys(names, pl.String),
        "epochs": pl.Int64,
        "each_order_once": pl.Boolean,
        "asked_once": pl.Boolean,
        "limit": pl.Int64,
        "items_declared": pl.Int64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def judgeable(answers: pl.DataFrame, file: str) -> pl.DataFrame:
    """What the contracts need of one file's answers: without their texts, so that a long history fits into memory."""
    hashed = answers.join(hash_made(answers), on=["item_id", "variant"], how="left", maintain_order="left")
    return option_facts(hashed).select(
        pl.lit(file).alias("file"),
        *OF_PARTITION,
        *KEYS,
        *(
            "order_index",
            "turn",
            "task",
            "typed",
            "status",
            "access_route",
            "failure",
            "attempts",
            "protocol_hash",
            "schema_version",
        ),
        *_AT_LEAST_0,
        pl.struct(_ITEM).hash().alias("item"),
        null_column(ANSWERS).alias("null_column"),
        _unreal().alias("unreal_column"),
        _ended().alias("ended"),
        (pl.col("stop_reason") == SCORED).fill_null(False).any().alias("scored"),
        pl.col("options").list.len().cast(pl.Int64).alias("n_options"),
        _keys().list.n_unique().cast(pl.Int64).alias("n_keys"),
        _keys().list.join(" ").alias("shown"),
        contents().alias("offered"),
        *STRAYS,
        pl.col("hash_made").fill_null(pl.col("item_hash")),
        "item_hash",
        "asked_at",
        "domain",
        "style",
        _params_defect().alias("params_defect"),
        candidate_defect().alias("candidate_defect"),
        "text_defect",
        "label_defect",
        options_defect().alias("options_defect"),
    )


def _params_defect() -> pl.Expr:
    """The first of the parameters' columns that is no JSON object."""
    names = ("params_requested", "params_sent")
    return pl.coalesce(
        pl.when(~pl.col(name).map_elements(_is_object, return_dtype=pl.Boolean).fill_null(True)).then(pl.lit(name))
        for name in names
    )


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _keys() -> pl.Expr:
    return pl.col("options").list.eval(pl.element().struct.field("key").fill_null("?"))


def _unreal() -> pl.Expr:
    finite = pl.col("candidates").list.eval(pl.element().struct.field("logprob").is_finite().fill_null(True)).list.all()
    return pl.coalesce(unreal_column(ANSWERS), pl.when(~finite).then(pl.lit("candidates")))


def _ended() -> pl.Expr:
    """How the question ended: in a reply (also an empty one, or none with a stop reason), in a failure, or unclear."""
    reply, failure = pl.col("reply").is_not_null(), pl.col("failure").is_not_null()
    return (
        pl.when(reply & failure).then(pl.lit("reply and failure"))
        .when(failure).then(pl.lit("failure"))
        .when(reply | pl.col("stop_reason").is_not_null()).then(pl.lit("reply"))
        .otherwise(pl.lit("neither reply nor failure"))
    )  # fmt: skip


def _answers(facts: pl.DataFrame) -> Checkable:
    rules = contract(
        "answers",
        KEYS,
        absent("null_column", "no value that must be there is missing"),
        unique(*ANSWERS.grain),
        closed("ended", ["reply", "failure"], "an answer is a reply or a failure, and never both"),
        *(equal(name, f"{name}_declared", f"{name} is that of the file") for name in OF_PARTITION),
        closed("access_route", ROUTES),
        closed("typed", TYPED),
        closed("status", STATUSES),
        closed("variant", VARIANTS),
        closed("style", (*STYLES, NO_STYLE)),
        closed("domain", DOMAINS),
        like("asked_at", _UTC, "asked_at is a time in UTC as ISO 8601 writes it"),
        absent("params_defect", "the parameters asked for and sent are JSON objects"),
        absent(
            "candidate_defect",
            "candidates are options, each once, and a log-probability is at most 0 (imported: any score)",
        ),
        like("failure", "^[a-z][a-z0-9_-]*$", "failure is one word in lower case", nullable=True),
        between("epoch", 1),
        between("order_index", 0),
        between("turn", 1),
        closed("task", TASKS),
        between("attempts", 0),
        *(between(name, 0, nullable=True) for name in _AT_LEAST_0),
        absent("options_defect", "at least two answers were offered, and none where a text was wanted"),
        equal("n_keys", "n_options", "no answer was offered twice"),
        *(absent(name, says) for name, says in STRAYS.items()),
        absent("text_defect", "every option has a text, and those of an item differ"),
        absent("label_defect", "options have a letter each, all different, or none has any"),
        between("schema_version", 1, SCHEMA_VERSION),
        absent("unreal_column", "no number is NaN or infinite"),
    )
    return Checkable(rules, facts, FOLDER)


def _grids(facts: pl.DataFrame, files: pl.DataFrame) -> Checkable:
    """One row per file and item: its epochs and orders as found, and as they must be."""
    rules = contract(
        "answers-grids",
        ("item_id", "variant"),
        equal("epochs", "epochs_declared", "an item is answered at every epoch exactly once"),
        equal(
            "orders", "orders_declared", "an item is shown in every order equally often, or in as many as it has epochs"
        ),
        equal("hash_made", "item_hash", "item_hash is that of the item's text and answers, wherever all were offered"),
        closed("askings", [1], "an item is the same at every epoch, and offers the same answers"),
        equal("shown", "n_shown", "an item's answers are shown in all their orders, or in as many as it has epochs"),
        equal("arrangements", "n_shown", "an order_index always means the same order"),
    )
    found = facts.group_by("file", "item_id", "variant").agg(
        pl.col("epoch").sort().cast(pl.String).str.join(" ").alias("epochs"),
        pl.col("order_index").sort().cast(pl.String).str.join(" ").alias("orders"),
        pl.struct("item", "offered").n_unique().alias("askings"),
        pl.col("shown").n_unique().cast(pl.Int64),
        pl.struct("order_index", "shown").n_unique().cast(pl.Int64).alias("arrangements"),
        pl.col("scored", "hash_made", "item_hash").first(),
        ((pl.col("access_route") == "imported") & ~pl.col("scored")).any().alias("others"),
    )
    asked = found.join(_expected(facts, files), on=["file", "item_id", "variant"])
    n_shown = pl.min_horizontal("n_epochs", "n_orders").alias("n_shown")
    grids = _begun(asked).with_columns(_unless_others(n_shown, "shown"))
    declared = grids.join(_declared_grids(grids), on=["n_epochs", "n_orders", "start"]).with_columns(
        _unless_others(pl.col("orders_declared"), "orders")
    )
    return Checkable(rules, declared.sort("file", "item_id", "variant"), FOLDER)


def _unless_others(declared: pl.Expr, found: str) -> pl.Expr:
    """What is ``declared``; as ``found`` where other programs asked, and chose the orders."""
    return pl.when("others").then(found).otherwise(declared).alias(declared.meta.output_name())


def _expected(facts: pl.DataFrame, files: pl.DataFrame) -> pl.DataFrame:
    """Per file and item: how many orders its answers have, and how many epochs the ledger's entry gives it.

    A protocol that the entry asks once scores its options, in no order. Where the entry asks each order once, that does
    not hold for carried conversations, each of which is another.
    """
    items = facts.group_by("file", "item_id", "variant").agg(
        pl.col("n_options").max().fill_null(0), pl.col("turn", "epoch").max()
    )
    numbers = items["n_options"].unique().to_list()
    n_orders = pl.col("n_options").replace_strict({n: len(orders(n)) for n in numbers}, return_dtype=pl.Int64)
    asked = items.with_columns(n_orders.alias("n_orders")).join(
        files.select("file", "each_order_once", "asked_once", pl.col("epochs").alias("n_epochs")), on="file"
    )
    in_all = ((pl.col("turn") > 1) | (pl.col("epoch") > pl.col("n_orders"))).any().over("file")
    once = pl.col("each_order_once") & ~in_all
    fewest = pl.min_horizontal("n_epochs", "n_orders")
    return asked.select(
        *("file", "item_id", "variant", "n_orders", "asked_once"),
        pl.when("asked_once").then(1).when(once).then(fewest).otherwise("n_epochs").alias("n_epochs"),
    )


def _begun(grids: pl.DataFrame) -> pl.DataFrame:
    """``grids`` with ``start``, the order an item must begin with where its epochs are fewer than its orders, else 0.

    Where sentences were scored none was shown before another, so any one order will do.
    """
    few = pl.col("n_epochs") < pl.col("n_orders")
    scored = pl.col("scored") | pl.col("asked_once")
    hashed = grids.filter(few, ~scored).select("item_id", "n_orders").unique()
    begun = [order_index(item_id, 1, n_orders) for item_id, n_orders in hashed.rows()]
    starts = hashed.with_columns(pl.Series("start", begun, pl.Int64))
    found = pl.col("orders").str.split(" ").list.first().cast(pl.Int64)
    joined = grids.join(starts, on=["item_id", "n_orders"], how="left")
    start = pl.when(few & scored).then(found).when(few).then("start").otherwise(0)
    return joined.with_columns(start.alias("start"))


def _declared_grids(asked: pl.DataFrame) -> pl.DataFrame:
    """For each number of epochs and orders, and each start, that occurs: the epochs and orders an item must have."""
    key = ("n_epochs", "n_orders", "start")
    grids = [(*values, *_grid(*values)) for values in asked.select(key).unique().rows()]
    texts = {"epochs_declared": pl.String, "orders_declared": pl.String}
    return pl.DataFrame(grids, schema={**dict.fromkeys(key, pl.Int64), **texts}, orient="row")


def _grid(epochs: int, n_orders: int, start: int) -> tuple[str, str]:
    every = list(range(n_orders)) * (epochs // n_orders)
    each = sorted(every or ((start + i) % n_orders for i in range(epochs)))
    return " ".join(map(str, range(1, epochs + 1))), " ".join(map(str, each))


def _items(facts: pl.DataFrame) -> Checkable:
    """One row per file and item that any file of its run, benchmark and task has, so that a lacking one is a row too.

    What a file has says nothing about what it lost; what the others of its run have does.
    """
    rules = contract(
        "answers-items",
        ("item_id",),
        closed(
            "sides",
            [SINGLE, f"{MAN} + {WOMAN}"],
            "an item is there in every language and protocol, a pair with both sides",
        ),
    )
    asked = ("run", "benchmark", "task")
    found = facts.group_by("file", *asked, "item_id").agg(
        pl.col("variant").unique().sort().str.join(" + ").alias("sides")
    )
    expected = found.select("file", *asked).unique().join(found.select(*asked, "item_id").unique(), on=asked)
    compared = expected.join(found, on=["file", *asked, "item_id"], how="left").with_columns(
        pl.col("sides").fill_null(MISSING)
    )
    return Checkable(rules, compared.select("file", "item_id", "sides").sort("file", "item_id"), FOLDER)


def _files(facts: pl.DataFrame, files: pl.DataFrame) -> Checkable:
    """One row per file, also of one without answers."""
    rules = contract(
        "answers-files",
        (),
        between("answers", 1, says="a file holds at least one answer"),
        equal("answers", "expected", "a file holds one answer per item and epoch"),
        closed("protocol_hashes", [1], "a file was asked under one protocol hash"),
        equal("items", "items_declared", "a file holds as many items as the ledger says that were asked"),
        closed("beyond_limit", [0], "a file has no more items than the ledger's limit"),
    )
    found = facts.group_by("file").agg(
        pl.len().alias("answers"),
        pl.col("item_id").n_unique().alias("ids"),
        pl.struct("item_id", "variant").n_unique().alias("items"),
        pl.col("protocol_hash").n_unique().alias("protocol_hashes"),
    )
    expected = _expected(facts, files).group_by("file").agg(pl.col("n_epochs").sum().alias("expected"))
    counted = (
        files.join(found, on="file", how="left")
        .join(expected, on="file", how="left")
        .with_columns(pl.col("answers", "expected", "ids", "items", "protocol_hashes").fill_null(0).cast(pl.Int64))
    )
    counted = counted.with_columns(
        pl.coalesce("items_declared", "items").alias("items_declared"),
        (pl.col("ids") - pl.col("limit")).clip(lower_bound=0).fill_null(0).alias("beyond_limit"),
    )
    shown = ("answers", "expected", "protocol_hashes", "items", "items_declared", "beyond_limit")
    return Checkable(rules, counted.select("file", *shown), FOLDER)
