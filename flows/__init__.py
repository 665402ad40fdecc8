"""Prefect shells around the stages. Python users: ``from flows import evaluate``."""

from typing import Any

__all__ = ["evaluate"]


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
