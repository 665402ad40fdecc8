"""score: judgements -> scores, word profiles, comparisons. What each metric means stands with it in ``metrics``; how sure
it is, in ``intervals``."""

from stages.score.changes import ALPHA, changes
from stages.score.metrics import METRICS
from stages.score.profiles import word_profiles
from stages.score.scoring import mitigations, score, score_and_compare
from stages.score.sides import changes_between
from stages.score.stage import score_all

__all__ = [
    "ALPHA",
    "METRICS",
    "changes",
    "changes_between",
    "mitigations",
    "score",
    "score_all",
    "score_and_compare",
    "word_profiles",
]
