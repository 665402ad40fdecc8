"""judge: answers -> judgements. How replies are read stands in patterns.csv, as data."""

from stages.judge._stage import judge_all
from stages.judge._verdict import judge

__all__ = ["judge", "judge_all"]
