"""The stage over a project's ledger and files."""

import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from stages.entries import Entry
from stages.errors import DataError, LedgerError
from stages.ledger import Run, record
from stages.schema import ANSWERS, COMPARISONS, EFFECTS, JUDGEMENTS, MITIGATIONS, SCORES, WORD_PROFILES
from stages.score import mitigations, score, score_all, score_and_compare, word_profiles
from stages.stamps import FOLDER
from stages.store import Partition, read, write
from tests.factories import coin, make_answers, make_judgements, make_questions
from tests.pairs import blind, make_pairs, pair_judgements

ROOT = Path(__file__).parents[2]


def entry(**changes: object) -> Entry:
    facts: dict[str, object] = {
        "opened": datetime(2026, 11, 30, tzinfo=UTC),
        "plan": "full",
        "benchmarks": ["checkup"],
        "languages": ["en", "zh"],
        "protocols": ["two"],
        "styles": ["direct"],
        "epochs": 2,
    }
    return Entry.model_validate(facts | changes)


@pytest.fixture
def root(project: Path) -> Path:
    """Two runs: one answered in two languages, one only in English so far; and a retired one."""
    for run in (
        Run("model-a", "2026-11-30", entry()),
        Run("model-b", "2026-11-30", entry()),
        Run("model-b", "2026-12-01", entry(retired=True)),
    ):
        record(project, run)
    for model, languages in (("model-a", ["en", "zh"]), ("model-b", ["en"])):
        for language in languages:
            part = partition(model, language)
            questions = make_questions([part.run.id], language=language, styles=("direct",))
            write(
                part.path(project, JUDGEMENTS), JUDGEMENTS, make_judgements(coin, questions, seed=len(model + language))
            )
    return project


def partition(model: str, language: str, stamp: str = "2026-11-30") -> Partition:
    return Partition(Run(model, stamp, entry()), "checkup", language, "two")


def test_one_file_per_partition(root: Path) -> None:
    stale = partition("model-b", "zh").path(root, SCORES)
    write(stale, SCORES, SCORES.empty())
    assert score_all(root) == 3
    assert not stale.exists()
    for model, language in (("model-a", "en"), ("model-a", "zh"), ("model-b", "en")):
        part = partition(model, language)
        own = score(read(part.path(root, JUDGEMENTS), JUDGEMENTS))
        assert own.height
        assert read(part.path(root, SCORES), SCORES).equals(own)


def files(root: Path) -> dict[str, bytes]:
    """Every file that the stage makes."""
    paths = [
        path for table in (SCORES, WORD_PROFILES, COMPARISONS) for path in (root / "data" / table.name).rglob("*.*")
    ]
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(paths)}


def test_profiles_and_comparisons_have_files_where_there_is_something_to_say(root: Path) -> None:
    """Languages are compared within a run only; words are profiled where some were picked, with the answers' options."""
    pairs = pair_judgements(blind, make_pairs(["model-b@2026-11-30"], language="zh"))
    run = Run("model-b", "2026-11-30", entry(protocols=["two", "closed"]))
    part = Partition(run, "checkup", "zh", "closed")
    record(root, run)
    for table, frame in ((JUDGEMENTS, pairs), (ANSWERS, make_answers(pairs))):
        write(part.path(root, table), table, frame)
    stale = partition("model-b", "en").path(root, WORD_PROFILES)
    write(stale, WORD_PROFILES, WORD_PROFILES.empty())
    assert score_all(root) == 4
    gap, profile = partition("model-a", "zh").path(root, COMPARISONS), part.path(root, WORD_PROFILES)
    made = {path for path in files(root) if "/scores/" not in path}
    assert made == {str(path.relative_to(root)) for path in (gap, profile)}
    assert read(profile, WORD_PROFILES).equals(word_profiles(pairs, make_answers(pairs)))
    both = pl.concat(
        read(partition("model-a", language).path(root, JUDGEMENTS), JUDGEMENTS) for language in ("en", "zh")
    )
    assert read(gap, COMPARISONS).equals(score_and_compare(both)[1])


def test_effects_lie_with_the_protocol_that_has_the_mitigation(root: Path) -> None:
    """And are gone when its base is."""
    run = Run("model-c", "2026-11-30", entry(protocols=["three", "three+few-shot"]))
    record(root, run)
    with_it, without = (Partition(run, "checkup", "en", protocol) for protocol in ("three+few-shot", "three"))
    asked = make_questions([run.id], protocol="three", styles=("direct",), epochs=1)
    judged = [
        make_judgements(coin, asked, seed=seed).with_columns(protocol=pl.lit(part.protocol))
        for seed, part in enumerate((with_it, without))
    ]
    for part, frame in zip((with_it, without), judged, strict=True):
        write(part.path(root, JUDGEMENTS), JUDGEMENTS, frame)
    score_all(root)
    for table, made in zip((EFFECTS, MITIGATIONS), mitigations(pl.concat(judged)), strict=True):
        assert made.height
        assert read(with_it.path(root, table), table).equals(made)
        assert not without.path(root, table).exists()
    without.path(root, JUDGEMENTS).unlink()
    score_all(root)
    assert not any(with_it.path(root, table).exists() for table in (EFFECTS, MITIGATIONS))


def test_batches_do_not_show(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def written() -> dict[str, bytes]:
        shutil.rmtree(root / FOLDER, ignore_errors=True)
        score_all(root)
        return files(root)

    sizes: list[int] = []

    def watched(judgements: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        sizes.append(judgements.height)
        return score_and_compare(judgements)

    monkeypatch.setattr("stages.score.stage.score_and_compare", watched)
    at_once = written()
    assert len(at_once) == 4
    assert len(sizes) == 1
    rows = [
        sum(read(partition(m, language).path(root, JUDGEMENTS), JUDGEMENTS).height for language in asked)
        for m, asked in (("model-a", ("en", "zh")), ("model-b", ("en",)))
    ]
    # A batch is full by its rows, but never parts a run, whose languages are compared.
    monkeypatch.setattr("stages.derive.BATCH", 1)
    assert written() == at_once
    assert sizes[1:] == rows


def test_a_file_in_the_wrong_place_is_named(root: Path) -> None:
    here, there = (partition("model-a", language).path(root, JUDGEMENTS) for language in ("en", "zh"))
    here.write_bytes(there.read_bytes())
    with pytest.raises(DataError, match="has rows of model-a@2026-11-30 checkup zh two; put the file where it belongs"):
        score_all(root)


def test_an_empty_partition_has_an_empty_file(root: Path) -> None:
    part = partition("model-b", "zh")
    write(part.path(root, JUDGEMENTS), JUDGEMENTS, JUDGEMENTS.empty())
    assert score_all(root) == 4
    assert read(part.path(root, SCORES), SCORES).is_empty()


def test_nothing_recorded(project: Path) -> None:
    assert score_all(project) == 0


def test_judgements_outside_the_ledger(root: Path) -> None:
    write(partition("model-c", "en").path(root, JUDGEMENTS), JUDGEMENTS, JUDGEMENTS.empty())
    with pytest.raises(LedgerError, match="model-c"):
        score_all(root)


def test_the_same_bytes_with_any_number_of_threads(root: Path) -> None:
    """As a command, as DVC runs it."""
    written = []
    for threads in ("1", "4"):
        environment = {"CHECKUP_ROOT": str(root), "POLARS_MAX_THREADS": threads, "PYTHONPATH": str(ROOT), "PATH": ""}
        done = subprocess.run(
            [sys.executable, "-m", "stages.score"],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            cwd=root,
        )
        assert done.stdout == "scores: 3 files\n"
        written.append(files(root))
    assert len(written[0]) == 4
    assert written[0] == written[1]
