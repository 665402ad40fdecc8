from stages.command import run
from stages.judge import judge_all
from stages.store import project_root


def main() -> None:
    print(f"judgements: {judge_all(project_root())} rows")


if __name__ == "__main__":
    run(main)
