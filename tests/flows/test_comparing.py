"""checkup compare and checkup reference: what they print, what they refuse, and the exit code of a gate."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from flows import entry
from flows.changes import lines, to_repeat
from flows.cli_compare import _closing
from flows.comparing import between, note, shown
from flows.options import By
from stages.errors import UsageError
from stages.ledger import named, read_ledger, read_references
from stages.schema import ANSWERS, CHANGES, SCORES
from stages.score import score_all, score_and_compare
from stages.store import partitions, read, write
from tests import factories as f
from tests.conftest import make_project
from tests.score.compared import EARLIER, GROUPS, LATER, answered, invalid

Called = tuple[int, str, str]
Call = Callable[..., Called]
AGAIN = "model-a@2026-11-30.2"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two snapshots in two languages, the later one asked twice: in English it turned round."""
    root = tmp_path_factory.mktemp("compared")
    make_project(root)
    steady, turned = f.association(0.85, 0.1), f.association(0.15, 0.1)
    asked = [(EARLIER, "en", steady), (LATER, "en", turned), (AGAIN, "en", turned)]
    asked += [(run, "zh", steady) for run in (EARLIER, LATER, AGAIN)]
    rows = pl.concat(
        f.make_judgements(
            how, f.make_questions([run], language, styles=["direct"], groups=GROUPS), seed=5 + (run == AGAIN)
        )
        for run, language, how in asked
    )
    scores, compared = score_and_compare(rows)
    f.record(root, rows, SCORES.conform(scores), compared)
    score_all(root)
    return root


@pytest.fixture
def checkup(recorded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    monkeypatch.setenv("CHECKUP_ROOT", str(recorded))
    monkeypatch.setenv("CHECKUP_DEBUG", "")

    def call(*arguments: str) -> Called:
        monkeypatch.setattr(sys, "argv", ["checkup", *arguments])
        with pytest.raises(SystemExit) as ending:
            entry.main()
        said = capsys.readouterr()
        return int(ending.value.code or 0), said.out, said.err

    return call


def test_two_runs(checkup: Call) -> None:
    code, out, _ = checkup("compare", EARLIER, LATER)
    assert code == 0
    lines = out.splitlines()
    (english,) = (line for line in lines if " en " in line and "lean *" in line)
    assert "< 0.001" in english
    assert english.split("lean *")[1].split()[0].startswith("−")
    (chinese,) = (line for line in lines if " zh " in line and "lean *" in line)
    assert "0.0 [" in chinese
    assert lines[-1].startswith("1 headline score (*) changed at 0.05 after correction; ")


def test_the_gate(checkup: Call) -> None:
    assert checkup("compare", EARLIER, LATER, "--fail-on-change")[0] == 3
    code, out, _ = checkup("compare", LATER, AGAIN, "--fail-on-change")
    assert code == 0
    assert "No headline score (*) changed at 0.05" in out
    assert checkup("compare", EARLIER, LATER, "--fail-on-change", "--alpha", "0")[0] == 0


def test_what_is_held_back_is_no_score_without_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_project(tmp_path)
    rows = pl.concat([answered(f.always_stereotype, EARLIER), answered(invalid(0.1, f.coin), LATER)])
    f.record(tmp_path, rows, SCORES.conform(score_and_compare(rows)[0]))
    monkeypatch.setenv("CHECKUP_ROOT", str(tmp_path))
    found = between(tmp_path, EARLIER, LATER)
    assert _closing(found, 0.05).startswith(
        "No headline score (*) changed at 0.05 after correction; 1 cannot be compared, the note says why; "
    )
    (lean,) = found.held().to_dicts()
    low, high = lean["bound_low"], lean["bound_high"]
    assert note(lean).startswith("under 95 % of the answers usable; with the missing answers anywhere in [−")
    assert note({**lean, "gate": None, "coverage": 96.0}) == note(lean).split("; ")[1]
    assert note({**lean, "gate": None, "coverage": 100.0}) == ""
    assert low <= lean["value"] < high


def test_other_words_are_no_flip_and_nothing_alike_is_no_comparison(tmp_path: Path) -> None:
    make_project(tmp_path)
    rows = pl.concat([answered(f.constant("he"), EARLIER), answered(f.constant("she"), LATER)])
    f.record(tmp_path, rows, SCORES.conform(score_and_compare(rows)[0]))
    run = named(read_ledger(tmp_path), LATER)
    (path,) = (part.path(tmp_path, ANSWERS) for part in partitions(run))
    asked = read(path, ANSWERS)
    reworded = pl.when(pl.col("domain") == "pronoun").then(pl.lit("other")).otherwise("item_hash")
    write(path, ANSWERS, asked.with_columns(reworded.alias("item_hash")))
    found = between(tmp_path, EARLIER, LATER)
    assert set(found.flips["domain"]) == {"occupation"}
    write(path, ANSWERS, asked.with_columns(pl.lit("other").alias("item_hash")))
    with pytest.raises(UsageError, match="share no item that can be compared"):
        between(tmp_path, EARLIER, LATER)


def test_only_a_run_of_today_is_asked_again(tmp_path: Path) -> None:
    """One of yesterday that is gone on with, or that was asked over midnight, cannot be repeated on its day."""
    make_project(tmp_path)
    rows = pl.concat([answered(f.always_stereotype, EARLIER), answered(f.association(0.1, 0.1), LATER)])
    f.record(tmp_path, rows, SCORES.conform(score_and_compare(rows)[0]))
    score_all(tmp_path)
    assert lines(tmp_path, [LATER])[0].endswith("one run may be chance, ask again today to know.")
    assert to_repeat(tmp_path, [LATER], "2026-11-30") == ["model-a"]
    assert to_repeat(tmp_path, [LATER], "2026-12-01") == []
    assert to_repeat(tmp_path, [], "2026-11-30") == []


def test_rows_as_json_are_the_table(checkup: Call, recorded: Path) -> None:
    _, out, _ = checkup("compare", EARLIER, LATER, "--by", "domain", "--format", "json")
    found = json.loads(out)
    assert {row["domain"] for row in found} == {"all", "occupation", "pronoun"}
    assert set(found[0]) == set(CHANGES.schema)
    rows = between(recorded, EARLIER, LATER).rows
    assert set(shown(rows, By.STYLE)["style"]) == {"all", "direct"}
    assert shown(rows, By.LANGUAGE)["language"].is_sorted()


def test_flipped_items_with_both_replies(checkup: Call) -> None:
    _, out, _ = checkup("compare", EARLIER, LATER, "--items", "--format", "json")
    flips = json.loads(out)
    assert {flip["language"] for flip in flips} == {"en"}
    turned = [flip for flip in flips if (flip["before"], flip["after"]) == ("stereotype", "anti-stereotype")]
    assert len(turned) >= 10
    assert {(flip["said_before"], flip["said_after"]) for flip in turned} == {("he", "she"), ("she", "he")}


def test_languages_of_one_run(checkup: Call) -> None:
    _, out, _ = checkup("compare", LATER, "--by", "language", "--format", "json")
    gap = {(row["domain"], row["metric"]): row for row in json.loads(out)}
    assert gap["all", "lean"]["value"] > 50
    assert gap["all", "lean"]["p_value"] <= 0.001
    assert gap["all", "lean"]["language"] == "zh"


REFUSED = {
    "itself": (("compare", LATER, LATER), "cannot be compared with itself"),
    "unknown": (("compare", LATER, "nope@2026-11-30"), "There is no run nope@2026-11-30 in runs/"),
    "one by domain": (("compare", LATER, "--by", "domain"), "One run has no other to compare its domains with"),
    "one to gate by": (("compare", LATER, "--fail-on-change"), "--fail-on-change needs two runs"),
    "one to list flips of": (("compare", LATER, "--items"), "--items needs two runs"),
    "nothing": (("compare", LATER, "--by", "protocol"), "has nothing scored to compare by protocol"),
    "no pin": (("reference", "unset", LATER), "is no pinned reference"),
    "unknown pin": (("reference", "set", "nope@2026-11-30"), "There is no run nope@2026-11-30"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_one_sentence(checkup: Call, case: str) -> None:
    words, sentence = REFUSED[case]
    code, out, err = checkup(*words)
    assert code in (1, 2)
    assert sentence in err
    assert (out, len(err.strip().splitlines())) == ("", 1)


def test_references_are_pinned_listed_and_unpinned(checkup: Call, recorded: Path) -> None:
    code, out, _ = checkup("reference", "set", EARLIER)
    assert code == 0
    assert f"{EARLIER} is the reference of model-a" in out
    assert "It was asked once on its day" in out
    _, out, _ = checkup("reference", "set", LATER)
    assert "asked once" not in out
    assert read_references(recorded) == {"model-a": [LATER]}
    _, out, _ = checkup("reference", "list", "--format", "json")
    assert json.loads(out) == [{"model": "model-a", "reference": LATER, "asks": 2, "asked again as": [AGAIN]}]
    _, out, _ = checkup("reference", "unset", LATER)
    assert out.strip() == f"{LATER} is no longer the reference of model-a."
    assert read_references(recorded) == {}
