"""What is made again, and what stays: everything that could change the result makes it anew."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from stages import derive, stamps, store
from stages.judge import judge_all
from stages.ledger import Run, named, read_ledger
from stages.reduce import reduce_all
from stages.schema import ANSWERS, JUDGEMENTS, SCORES, VOTES
from stages.score import score_all
from stages.stamps import FOLDER, Stamps
from stages.store import forget, partitions
from stages.table import Table
from tests import factories as f
from tests.conftest import make_project

FEW = {"occupation": (5, 5, 0), "control": (1, 1, 0)}
RUNS = ("model-a@2026-11-23", "model-a@2026-11-30", "model-b@2026-11-30")


def asked(root: Path, *runs: str) -> None:
    rows = [f.make_judgements(f.coin, f.make_questions(runs, language, groups=FEW)) for language in ("en", "zh")]
    f.record(root, pl.concat(rows), SCORES.empty())


def made(root: Path) -> dict[str, bytes]:
    for stage in (judge_all, reduce_all, score_all):
        stage(root)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in (root / "data").rglob("*.parquet")}


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with two runs in two languages, from which all was made."""
    folder = tmp_path_factory.mktemp("made")
    make_project(folder)
    asked(folder, *RUNS[:2])
    made(folder)
    return folder


@pytest.fixture
def root(before: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that project; ``read`` has the files read since."""
    project = Path(shutil.copytree(before, tmp_path / "project"))
    read.clear()

    def watched(path: Path, table: Table) -> pl.DataFrame:
        read.append(path.relative_to(project))
        return store.read(path, table)

    monkeypatch.setattr(derive, "read", watched)
    return project


read: list[Path] = []


def from_nothing(root: Path) -> dict[str, bytes]:
    shutil.rmtree(root / FOLDER)
    return made(root)


def run(root: Path, name: str) -> Run:
    return named(read_ledger(root), name)


def test_what_did_not_change_is_not_even_read(root: Path) -> None:
    before = made(root)
    assert read == []
    assert from_nothing(root) == before
    assert len(read) == 12


def test_a_new_run_alone_is_made(root: Path) -> None:
    asked(root, RUNS[2])
    found = made(root)
    assert {path.parts[2] for path in read} == {"model=model-b"}
    assert from_nothing(root) == found


def test_a_forgotten_run_leaves_every_table(root: Path) -> None:
    forget(root, run(root, RUNS[0]))
    found = made(root)
    assert read == []
    assert not [name for name in found if "2026-11-23" in name]
    assert from_nothing(root) == found


def path(root: Path, table: Table) -> Path:
    return next(partitions(run(root, RUNS[0]))).path(root, table)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "deleted": Path.unlink,
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "of another": lambda path: path.write_bytes(next(p for p in path.parent.iterdir() if p != path).read_bytes()),
}


@pytest.mark.parametrize(("damage", "table"), list(zip(DAMAGE, (JUDGEMENTS, SCORES, VOTES), strict=True)))
def test_a_damaged_target_is_made_anew(root: Path, table: Table, damage: str) -> None:
    before = made(root)
    DAMAGE[damage](path(root, table))
    assert made(root) == before
    assert {part.parts[3] for part in read} == {"run=2026-11-23"}


def test_another_answer_makes_its_run_anew(root: Path) -> None:
    answers, other = (path.path(root, ANSWERS) for path in partitions(run(root, RUNS[0])))
    kept = answers.read_bytes()
    frame = pl.read_parquet(answers, hive_partitioning=False)
    frame.with_columns(reply=pl.lit("she")).write_parquet(answers)
    found = made(root)
    assert {part.parts[3] for part in read} == {"run=2026-11-23"}
    assert from_nothing(root) == found
    answers.write_bytes(kept)
    assert made(root) != found
    assert other.exists()


def test_the_same_bytes_again_make_nothing(root: Path) -> None:
    """As DVC leaves them, which puts its own copies in the place of files."""
    answers = path(root, ANSWERS)
    content = answers.read_bytes()
    answers.unlink()
    answers.write_bytes(content)
    made(root)
    assert read == []


def test_other_code_makes_all_anew(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    code = shutil.copytree(stamps.CODE, tmp_path / "code", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(stamps, "CODE", code)
    judge_all(root)
    assert read == []
    os.utime(code / "judge" / "patterns.csv")
    judge_all(root)
    assert read == []
    with (code / "judge" / "patterns.csv").open("a", encoding="utf-8") as patterns:
        patterns.write("# another pattern\n")
    judge_all(root)
    assert len(read) == 4


@pytest.mark.parametrize("stage", ["judge", "reduce", "score", "validate"])
def test_the_code_of_a_stage_is_its_own_and_what_lies_beside(
    stage: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    code = shutil.copytree(stamps.CODE, tmp_path / "code", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(stamps, "CODE", code)

    def changes(name: str) -> bool:
        before = stamps.code_hash(stage)
        with (code / name).open("a", encoding="utf-8") as file:
            file.write("#\n")
        return stamps.code_hash(stage) != before

    own = "reduce.py" if stage == "reduce" else f"{stage}/__init__.py"
    assert changes(own)
    assert changes("votes.py")
    assert changes("schema/derived.py")
    assert not changes("report/sql.py")


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"code": 1}', '{"code": "CODE", "units": [1], "files": {}}'])
def test_what_cannot_be_understood_is_nothing_known(project: Path, content: str) -> None:
    remembered = project / FOLDER / "judge.json"
    remembered.parent.mkdir(parents=True)
    remembered.write_text(content.replace("CODE", stamps.code_hash("judge")), encoding="utf-8")
    assert Stamps.read(project, "judge").units == {}


def test_text_and_note_are_remembered(project: Path) -> None:
    source = project / "params.yaml"
    first = Stamps.read(project, "judge")
    first.put("unit", [source], [], "entry", note={"rows": 3})
    first.save()
    again = Stamps.read(project, "judge")
    assert again.kept("unit", [source], "another entry") is None
    unit = again.kept("unit", [source], "entry")
    assert unit is not None
    assert unit.note == {"rows": 3}
    assert again.kept("unit", [source, project / "dvc.yaml"], "entry") is None


def test_another_lexicon_makes_all_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before, changed = stamps.code_hash("judge"), tmp_path / "lexicon.csv"
    changed.write_text(
        stamps.BESIDE[0].read_text(encoding="utf-8") + "en,agentic,peppy,,lexicon-own,\n", encoding="utf-8"
    )
    monkeypatch.setattr(stamps, "BESIDE", (changed,))
    assert stamps.code_hash("judge") != before
