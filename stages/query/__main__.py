import sys

from stages import stopping
from stages.command import run
from stages.errors import UsageError
from stages.query import Bars, query_model
from stages.store import project_root


def main() -> None:
    if len(sys.argv) != 2:
        raise UsageError("Usage: python -m stages.query MODEL (a key of runs.yaml).")
    with Bars() as bars:
        query_model(project_root(), sys.argv[1], stopping.requested, bars)


if __name__ == "__main__":
    run(main)
