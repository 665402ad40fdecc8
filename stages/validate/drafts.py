"""Replies that were sent back, as the contracts on answers see them."""

import polars as pl

SAYS = (
    "drafts are replies and why they were sent back, by a protocol with mitigations, and are among what the answer took"
)
_TOOK = ("prompt_tokens", "completion_tokens", "cost")
_ROUNDING = 1e-9


def draft_defect() -> pl.Expr:
    """What is wrong with the drafts of an answer, in a word; null when nothing is."""
    drafts = pl.col("drafts")
    sums = [(pl.col(name), _each(name).list.eval(pl.element().fill_null(0)).list.sum()) for name in _TOOK]
    return (
        pl.when(drafts.list.len() == 0).then(pl.lit("an empty list"))
        .when(_lacks("reply")).then(pl.lit("no reply"))
        .when(_lacks("reason")).then(pl.lit("no reason"))
        .when(drafts.is_not_null() & ~pl.col("protocol").str.contains("+", literal=True)).then(pl.lit("no mitigation"))
        .when(pl.col("attempts") < drafts.list.len()).then(pl.lit("fewer attempts"))
        .when(pl.any_horizontal(of_all < of_drafts - _ROUNDING for of_all, of_drafts in sums)).then(pl.lit("more than all"))
    )  # fmt: skip


def _each(field: str) -> pl.Expr:
    return pl.col("drafts").list.eval(pl.element().struct.field(field))


def _lacks(field: str) -> pl.Expr:
    return _each(field).list.eval(pl.element().fill_null("") == "").list.any()
