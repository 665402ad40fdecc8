"""Whether two sides were asked alike: protocol, items, prompts, parameters, and what answered."""

import json

import polars as pl

ASKED = [
    "turn",
    "item_hash",
    "prompt_hash",
    "protocol_hash",
    "params_sent",
    "requested_model",
    "access_route",
    "failure",
]
"""The columns of ANSWERS that say how an answer was asked for."""
PART = ("pair", "benchmark", "language", "protocol")
PROTOCOL = "protocol"
ITEM = ("item_id", "variant", "item_hash")


SEEDS = ("seed", "random_seed")
"""What providers call the seed."""


def shared(sides: pl.DataFrame, *beside: str) -> pl.DataFrame:
    """The rows of ``sides`` (``PART``, ``here``, ``ITEM``) whose item, word for word, was asked on both sides.

    With other columns ``beside``: with the same values of them on both sides.
    """
    return sides.filter(pl.col("here").n_unique().over(*PART, *ITEM, *beside) == 2)


def differing(sides: pl.DataFrame) -> pl.DataFrame:
    """Per ``PART`` that both sides have: ``differs``, a list of what is not like for like, in the order of this function.

    ``protocol``      another protocol, constraint or chat/completion form;
    ``items``         an item that the other side has not, or words otherwise;
    ``prompts``       the same item in the same order is put into other words; in conversations the first turn alone is looked at;
    ``parameters``    other sampling parameters were sent (each answer's seed aside) for the items that both were asked;
    ``served model``  another model answered under the same requested name;
    ``access route``  one over an API, the other by hand, say.
    """
    asked = sides.filter(pl.col("failure").is_null() | (pl.col("failure") != "not_asked"))
    # A failed sample of an imported log has no prompt; and which items open a conversation depends on all that are asked.
    opening = asked.filter(pl.col("turn") == 1, pl.col("failure").is_null())
    facts = {
        PROTOCOL: _set(sides, "protocol_hash"),
        "items": _set(sides, *ITEM),
        "prompts": _set(shared(opening, "order_index"), "item_id", "variant", "order_index", "prompt_hash"),
        "parameters": _set(shared(asked.with_columns(_without_seed(asked["params_sent"]))), "params_sent"),
        "served model": _set(asked.drop_nulls("served_model"), "served_model"),
        "access route": _set(asked, "access_route"),
    }
    renamed = _set(asked, "requested_model")
    found = sides.select(PART).unique()
    for name, differs in {**facts, "renamed": renamed}.items():
        found = found.join(differs.rename({"differs": f"differs in {name}"}), on=PART, how="left")
    found = found.with_columns(pl.col("^differs in .*$").fill_null(False))
    served = (pl.col("differs in served model") & ~pl.col("differs in renamed")).alias("differs in served model")
    named = [pl.when(pl.col(f"differs in {name}")).then(pl.lit(name)) for name in facts]
    return found.with_columns(served).select(*PART, pl.concat_list(named).list.drop_nulls().alias("differs"))


def _set(rows: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """Per ``PART`` that both sides have rows of: whether their sets of ``columns`` differ."""
    distinct = rows.select(*PART, "here", *columns).unique()
    both = distinct.filter(pl.col("here").n_unique().over(PART) == 2)
    alone = pl.len().over(*PART, *columns) == 1
    return both.with_columns(alone.alias("differs")).group_by(PART).agg(pl.col("differs").any())


def _without_seed(sent: pl.Series) -> pl.Series:
    """Parameters (JSON) without the seed that each answer has of its own; each text is read once."""
    known = {text: _seedless(text) for text in sent.unique().to_list()}
    return sent.replace_strict(known, return_dtype=pl.String)


def _seedless(text: str) -> str:
    def unseeded(found: dict[str, object]) -> dict[str, object]:
        return {name: value for name, value in found.items() if name not in SEEDS}

    return json.dumps(json.loads(text, object_hook=unseeded), sort_keys=True)
