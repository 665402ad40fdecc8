"""Prefect's settings for this project; import before prefect. A user's own variables win. Nothing phones home."""

import os

from stages.store import project_root


def apply() -> None:
    """Set what is not set yet. Prefect freezes its settings when it is imported, so later is too late."""
    for name, value in _defaults().items():
        os.environ.setdefault(name, value)


def _defaults() -> dict[str, str]:
    return {
        "PREFECT_HOME": str(project_root() / ".prefect"),
        "DO_NOT_TRACK": "1",  # the SDK's analytics and first-run notice; there is no Prefect setting for them
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
        "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
        "PREFECT_LOGGING_LEVEL": "INFO",  # what the Prefect UI shows
        "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",  # what the terminal shows; errors are ours to say
        "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
        "PREFECT_SERVER_UI_STATIC_DIRECTORY": str(project_root() / ".prefect" / "ui"),  # not where Prefect is installed
        "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
        "PREFECT_SERVER_EPHEMERAL_ENABLED": "false",  # flows/server.py starts one that dies with us
        "PREFECT_TASKS_DISABLE_CACHING": "true",
        "PREFECT_RESULTS_PERSIST_BY_DEFAULT": "false",
        "DVC_NO_ANALYTICS": "1",
    }
