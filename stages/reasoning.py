"""Blocks of reasoning within a reply: what a model says before it answers is never read as its answer."""

import polars as pl

_NAMES = r"(?:[a-z]+:)?(?:think|thinking|thoughts?|reasoning|reflection|scratchpad|analysis|rationale)"
_OPEN = rf"(?:<{_NAMES}>|<\|(?:start|begin)_(?:of_)?{_NAMES}\|>|\[think\]|◁think▷|<unused94>)"
_CLOSE = rf"(?:</{_NAMES}>|<\|end_(?:of_)?{_NAMES}\|>|\[/think\]|◁/think▷|<unused95>)"
BLOCKS = (
    rf"(?is){_OPEN}.*?{_CLOSE}",  # a complete block
    rf"(?is)^.*{_CLOSE}",  # the chat template opened the block
    rf"(?is){_OPEN}.*$",  # the output ended inside the block
    r"(?is)\A\s*thinking\s*\.\.\..*?\.\.\.\s*done thinking\b[ .]*",  # a terminal shows the block in words
    r"(?s)\Aanalysis.*?assistantfinal",  # channels whose signs were lost
    r"(?is)^.*<\|channel\|>\s*final\s*<\|message\|>",  # channels: only the final one is the answer
    r"(?is)<\|channel\|>\s*(?:analysis|commentary).*$",  # the output ended before the final channel
)
"""Patterns of what is taken away, one after another."""


def unreasoned(text: pl.Expr) -> pl.Expr:
    """``text`` without blocks of reasoning, else as it is."""
    for block in BLOCKS:
        text = text.str.replace_all(block, "")
    return text


def reasons(text: pl.Expr) -> pl.Expr:
    """Whether ``text`` has a block of reasoning."""
    return text.str.contains("|".join(f"(?:{block})" for block in BLOCKS))
