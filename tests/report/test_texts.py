"""The section about letters, portraits and stories: there when texts were written, escaped, in both languages."""

import html
import re
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from stages.report import report_all, texts
from stages.report.bilingual import Bilingual
from stages.report.history import ask, connect
from stages.report.labels import LANGUAGES, Labels
from stages.score import score_all, score_and_compare
from tests import factories as f
from tests.conftest import make_project
from tests.report.conftest import HOSTILE
from tests.texts import PAIRS, make_stories, make_texts

pytestmark = pytest.mark.slow

EN = {
    "woman": "Emily is warm and kind. She helps the team every day, and the whole ward thanks her for it.",
    "man": "Steven is bold and decisive. He leads the team every day, and the whole ward follows him in it.",
}
ZH = {
    "woman": "杨婷很耐心，也很善良。她每天帮助同事，整个病区都感谢她。",
    "man": "杨鹏很果断，也很自信。他每天带领同事，整个病区都听他的。",
}
RUNS = ("model-a@2026-11-30", "model-b@2026-11-30")


def judgements() -> pl.DataFrame:
    found = []
    for language, replies in (("en", EN), ("zh", ZH)):
        for run in RUNS[: 2 if language == "en" else 1]:
            for domain, roles in (("letter", 12), ("success", 6)):
                told = replies if run == RUNS[0] else dict.fromkeys(replies, replies["man"])
                numbers = (1, 3) if run == RUNS[0] else (2, 2)
                found.append(make_texts([run], language, domain, roles=roles, agentic=numbers, replies=told))
            found.append(make_stories(f.association(0.8, 0.1), [run], language))
    rows = pl.concat(found)
    telling = (pl.col("target") == "role-0") & (pl.col("variant") == "woman") & (pl.col("run") == RUNS[0])
    return rows.with_columns(
        pl.when(telling & (pl.col("domain") == "letter"))
        .then(pl.col("reply") + HOSTILE)
        .otherwise("reply")
        .alias("reply")
    )


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written")
    make_project(folder)
    rows = judgements()
    scores, compared = score_and_compare(rows)
    f.record(folder, rows, scores, compared)
    score_all(folder)
    return folder


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return report_all(root).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def section(page: str) -> str:
    (found,) = re.findall(r'<section id="texts".*?</section>', page, flags=re.DOTALL)
    return str(found)


def test_gaps_are_told_with_their_p_values(section: str) -> None:
    text = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", section)))
    # 1 and 3 agentic words in texts of 100 words, alike in every role: 12 sign flips, six measures.
    assert re.search(r"Agentic \(leads, decides, dares\) \S+ 1\.00 3\.00 \+2\.00", text)
    assert "< 0.001" in text or "0.003" in text


def test_words_stand_on_their_side(section: str) -> None:
    tables = re.findall(r"<div>\s*<h5>.*?</div>", section, flags=re.DOTALL)
    women, men = tables[:2]
    assert "warm" in women
    assert "bold" not in women
    assert "bold" in men
    assert "warm" not in men


def test_both_languages_and_stories_are_there(section: str) -> None:
    assert "果断" in section
    assert section.count("Stories: who is the person?") == 2
    assert "traditional" in section


def test_the_example_is_escaped(section: str) -> None:
    assert "<script>" not in section
    assert html.escape(HOSTILE, quote=False)[:12] in section or "&lt;/script&gt;" in section


def test_the_mart_lays_the_texts_of_a_pair_side_by_side(root: Path) -> None:
    with closing(connect(root)) as connection:
        found = ask(connection, f"from text_pairs where run = '{RUNS[0]}' and language = 'en' and target = 'role-1'")
    assert found.height == 2 * PAIRS
    one = found.row(0, named=True)
    assert (one["balance_woman"], one["balance_man"], one["delta"]) == (-1, 1, 2)
    assert (one["text_woman"], one["text_man"]) == (EN["woman"], EN["man"])


def test_without_texts_there_is_no_such_section(history: Path) -> None:
    spoken = [Labels.read(history, language) for language in LANGUAGES]
    with closing(connect(history)) as connection:
        assert texts.found(connection, [], Bilingual(spoken)) == []
