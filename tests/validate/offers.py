"""Edits of what an answer was offered, and of how its options were scored."""

import polars as pl

from stages.structs import OPTION

OPTIONS = pl.col("options")


def option(**values: object) -> pl.Expr:
    """The options with ``values`` in that of the key ``he``."""
    fields = [
        pl.when(pl.element().struct.field("key") == "he")
        .then(pl.lit(v, OPTION.to_schema()[k]))
        .otherwise(pl.element().struct.field(k))
        .alias(k)
        for k, v in values.items()
    ]
    return OPTIONS.list.eval(pl.element().struct.with_fields(fields))


def lettered(*letters: str) -> pl.Expr:
    return pl.concat_list(
        OPTIONS.list.get(i).struct.with_fields(pl.lit(letter).alias("label")) for i, letter in enumerate(letters)
    )


def scored(keys: tuple[str, ...] = ("he", "she"), logprob: float = -0.5) -> pl.Expr:
    return pl.concat_list(
        pl.struct(pl.lit(key).alias("key"), pl.lit(logprob).alias("logprob"), pl.lit(None, pl.Int64).alias("n_tokens"))
        for key in keys
    )
