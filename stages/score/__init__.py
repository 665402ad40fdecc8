"""score: judgements -> scores. What each metric means stands with it in ``metrics``; how sure it is, in ``intervals``."""

from stages.score.metrics import METRICS
from stages.score.scoring import score, score_all

__all__ = ["METRICS", "score", "score_all"]
