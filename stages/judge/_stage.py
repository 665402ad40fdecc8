"""The stage: every recorded answer -> its judgement."""

from pathlib import Path

from stages.derive import derive
from stages.judge._verdict import judge
from stages.schema import ANSWERS, JUDGEMENTS


def judge_all(root: Path) -> int:
    """Judge every recorded answer of the ledger's runs; return how many judgements were written.

    :raises CheckupError: the ledger and the answers disagree, or a file does not fit its table.
    """
    return derive(root, "judge", ANSWERS, JUDGEMENTS, judge)
