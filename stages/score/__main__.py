from stages.command import run
from stages.score import score_all
from stages.store import project_root


def main() -> None:
    print(f"scores: {score_all(project_root())} files")


if __name__ == "__main__":
    run(main)
