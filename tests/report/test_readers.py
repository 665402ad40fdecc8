"""What the page and the views say of those who read texts, and that none of them is taken for a model that leans."""

from contextlib import closing
from pathlib import Path

import pytest

from stages.load import load_all
from stages.report import query, readers
from stages.report.history import connect
from stages.report.labels import LANGUAGES, Labels
from stages.report.site import render
from stages.score import score_all
from tests import written as w
from tests.conftest import make_project

pytestmark = pytest.mark.slow

JUDGE, PERSON = "judge-a@2026-11-30", "person-ann@2026-11-30"


def made(folder: Path, *raters: str) -> Path:
    make_project(folder)
    load_all(folder)
    w.read_by(folder, w.record(folder, w.answers(w.leaning, ("en", "zh"))), *raters)
    score_all(folder)
    return folder


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("read"), "judge-a", "person-ann")


def found(root: Path) -> list[readers.Read]:
    with closing(connect(root)) as connection:
        return readers.found(connection)


def page(root: Path) -> str:
    with closing(connect(root)) as connection:
        return render(root, connection, [Labels.read(root, language) for language in LANGUAGES])


def test_every_language_of_the_texts_has_its_readers_their_agreement_and_what_they_find(root: Path) -> None:
    english, chinese = found(root)
    assert [(read.run, read.language, read.people, read.judges) for read in (english, chinese)] == [
        (w.WRITER, "en", True, 1),
        (w.WRITER, "zh", True, 1),
    ]
    assert [(reader.run, reader.domain, reader.verdicts, reader.invalid) for reader in english.readers[:2]] == [
        (JUDGE, "agency", 24, "0.0\u202f%"),
        (PERSON, "agency", 24, "0.0\u202f%"),
    ]
    by_people = [one for one in english.agreed if one.versus == PERSON]
    assert [(one.domain, one.rater, one.kappa) for one in by_people] == [
        (question, JUDGE, "+1.00") for question in ("agency", "ability", "praise")
    ]
    gaps = {(gap.rater, gap.measure): gap.value for gap in english.gaps}
    assert gaps[JUDGE, "agency"] == gaps[PERSON, "agency"] == "+200.0"
    assert {measure for rater, measure in gaps if rater == "lexicon"} == {
        m for own in readers.BESIDE.values() for m in own
    }


def test_the_view_says_how_each_question_went(root: Path) -> None:
    rows = query(root, "from readers where language = 'en' and domain = 'agency'").to_dicts()
    assert [(row["run"], row["reads"], row["reader"], row["n_verdicts"], row["coverage"]) for row in rows] == [
        (JUDGE, w.WRITER, "judge model", 24, 100),
        (PERSON, w.WRITER, "person", 24, 100),
    ]


def test_who_reads_is_no_model_that_leans(root: Path) -> None:
    for view in ("latest", "headlines", "camps", "trend", "changed", "flips", "telling_pairs"):
        assert set(query(root, f"select distinct run from {view}")["run"]) <= {w.WRITER}, view
    assert query(root, "from contested where benchmark = 'checkup-open-rubric'").is_empty()
    votes = query(root, "select distinct vote from votes where benchmark = 'checkup-open-rubric'")
    assert votes["vote"].to_list() == ["paired"]


@pytest.mark.slow
def test_the_page_has_readers_in_their_section_and_says_when_none_is_a_person(root: Path, tmp_path: Path) -> None:
    said = [Labels.read(root, language)["readers"] for language in LANGUAGES]
    with_people, alone = page(root), page(made(tmp_path, "judge-a"))
    assert "judge-a" in with_people[with_people.index('<section id="readers"') :]
    assert (
        "judge-a"
        not in with_people[with_people.index('<section id="glance"') : with_people.index('<section id="readers"')]
    )
    for words in said:
        assert words["no_people"] in alone
        assert words["one_judge"] in alone
        assert words["no_people"] not in with_people


def test_there_is_no_section_where_nobody_read(tmp_path: Path) -> None:
    assert found(made(tmp_path)) == []
