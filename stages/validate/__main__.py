import sys

from stages.command import run
from stages.errors import UsageError
from stages.store import project_root
from stages.validate import docs_index, validate_answers, validate_items

CHECKS = {"items": validate_items, "answers": validate_answers}


def main() -> None:
    if len(sys.argv) != 2 or sys.argv[1] not in CHECKS:
        raise UsageError(f"Say what to validate: python -m stages.validate {'|'.join(CHECKS)}.")
    name = sys.argv[1]
    CHECKS[name](project_root())
    print(f"{name}: all contracts hold; see {docs_index(name)}")


if __name__ == "__main__":
    run(main)
