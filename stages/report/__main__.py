from stages.command import run
from stages.report import report_all
from stages.store import project_root


def main() -> None:
    root = project_root()
    print(f"page: {report_all(root).relative_to(root)}")


if __name__ == "__main__":
    run(main)
