"""Shells around the stages. Python users: ``from flows import evaluate, reproduce, diff``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flows.reproduction import Reproduction
    from flows.revision import Revision

__all__ = ["diff", "evaluate", "reproduce"]


def prepare() -> None:
    """Import Prefect with its settings, and see to it that an API answers: ours where ``PREFECT_API_URL`` names none.

    Importing Prefect takes seconds and freezes its settings, so that happens here and not at import.

    :raises CheckupError: no Prefect server answers.
    """
    from flows import server, settings

    settings.apply()
    await_server = server.start()
    import flows.evaluation  # noqa: F401

    await_server()


def evaluate(**parameters: Any) -> list[str]:
    """Run the flow ``evaluate`` and return the ids of its runs; its parameters are those of :func:`flows.evaluation.evaluate`.

    :raises CheckupError: a model could not be asked, a contract is broken, or no Prefect server answers.
    """
    prepare()
    from flows.evaluation import evaluate as flow
    from flows.evaluation import failure

    state = flow(**parameters, return_state=True)
    if error := failure(state):
        raise error
    runs: Any = state.result()
    return list(runs)


def reproduce(run: str) -> "Reproduction":
    """Judge, reduce and score ``run`` again from its recorded answers, and compare with what is recorded; changes nothing.

    A plain function: there is nothing in it for Prefect to show.

    :raises CheckupError: as of :func:`flows.reproduction.reproduce`.
    """
    from flows.reproduction import reproduce as again
    from stages.store import project_root

    return again(project_root(), run)


def diff(rev: str, models: Sequence[str] = (), benchmarks: Sequence[str] = ()) -> "Revision":
    """Compare today's judgements, votes and scores with those that the commit ``rev`` recorded; changes nothing.

    :raises CheckupError: as of :func:`flows.revision.diff`.
    """
    from flows.revision import diff as compare
    from stages.store import project_root

    return compare(project_root(), rev, models, benchmarks)
