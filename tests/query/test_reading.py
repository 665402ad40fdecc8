"""Judge models at the wire that read the texts of another run: blind, recorded, resumed, never asked twice."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from flows.selection import about_texts
from stages import rubric
from stages.errors import LedgerError, Stopped, UsageError
from stages.judge import judge
from stages.ledger import Run, enter, named, read_ledger, record, runs
from stages.lexicon import masked
from stages.load import load_all
from stages.params import read_params
from stages.query import Silent, ask_run, query_model
from stages.query.sheets import sheet, walked
from stages.requests import Request
from stages.schema import ANSWERS, DOMAINS, MAN, WOMAN, Kind, Outcome
from stages.score.gaps import gaps as gaps_of
from stages.score.readers import read_by
from stages.store import forget, partitions, read_all
from stages.validate import answers as contracts
from stages.validate.expectations import check
from tests import written as w
from tests.wire import Response, chat, prompt_of, serving

pytestmark = pytest.mark.slow

QUESTIONS = [domain for domain, kind in DOMAINS.items() if kind is Kind.RUBRIC]
TEXTS = len(w.ROLES) * 2 * 2


@pytest.fixture
def writer(project: Path) -> Run:
    load_all(project)
    return w.record(project, w.answers())


def planned(project: Path, model: str = "reader", **options: Any) -> Run:
    request = Request(model, **{"plan": "rubric", "reads": w.WRITER, **options})
    return enter(project, read_params(project), about_texts(project, request), datetime.now(UTC))


@contextmanager
def reading(project: Path, answer: w.Judge, **options: Any) -> Iterator[tuple[Run, Any]]:
    """A run that was read by the model that answers so, and its server."""
    with serving(answer) as server:
        w.enrolled(project, server.base, "reader")
        run = planned(project, **options)
        yield ask_run(project, run, threading.Event(), Silent()), server


def verdicts(project: Path, run: Run) -> pl.DataFrame:
    return judge(read_all(project, partitions(run), ANSWERS))


def gaps(project: Path, run: Run, question: str = "agency") -> dict[str, Any]:
    found = read_by(judge(w.answers()), verdicts(project, run).with_columns(pl.lit(w.WRITER).alias("reads")))[0]
    return gaps_of(found).row(by_predicate=(pl.col("target") == "all") & (pl.col("measure") == question), named=True)


def test_every_question_is_asked_about_every_text_on_both_sides_alike(project: Path, writer: Run) -> None:
    with reading(project, w.perfect) as (run, server):
        found = read_all(project, partitions(run), ANSWERS)
    assert found.height == len(server.requests) == TEXTS * len(QUESTIONS)
    assert (run.entry.state, run.entry.reads, run.entry.languages) == ("sealed", writer.id, ("en",))
    sides = found.group_by("item_id", "order_index", "domain", "target").agg(pl.col("variant").sort())
    assert sides["variant"].to_list() == [[MAN, WOMAN]] * (TEXTS // 2 * len(QUESTIONS))
    assert set(found["item_id"]) == {f"letter-{r}-{p}-1-{q}" for r in w.ROLES for p in (1, 2) for q in QUESTIONS}
    assert verdicts(project, run)["code"].to_list() == [
        w.code_in(text, question) for text, question in found.select("text", "domain").iter_rows()
    ]


@pytest.mark.usefixtures("writer")
def test_the_recorded_verdicts_keep_the_contracts_on_answers(project: Path) -> None:
    with reading(project, w.perfect) as (run, _):
        files = contracts.declared(project, partitions(run))
        facts = [
            contracts.judgeable(read_all(project, [p], ANSWERS), f)
            for p, f in zip(partitions(run), files["file"], strict=True)
        ]
    found = check(contracts.contracts(files, pl.concat(facts)))
    assert [result for each in found for result in each.results if not result.success] == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_prompt_tells_whom_a_text_is_about_or_which_it_is(project: Path, language: str) -> None:
    load_all(project)
    w.record(project, w.answers(languages=(language,)))
    w.enrolled(project, "http://127.0.0.1:9/v1", "reader")
    run = planned(project)
    (part,) = partitions(run)
    prompts = [each.prompt.recorded for each in walked(sheet(project, read_params(project), part), {})]
    told = [
        *(name for pair in w.PEOPLE[language] for name in pair),
        "letter-",
        WOMAN,
        "writer",
        "gender",
        "bias",
        "性别",
        "偏见",
    ]
    assert [word for word in told for prompt in prompts if word in prompt] == []
    gendered = r"(?i)\b(she|he|her|his|him|hers|woman|man)\b|她|(?:[^其])他|女|男"
    assert pl.Series(prompts).str.contains(gendered).sum() == 0
    texts = rubric.written(project, named(read_ledger(project), w.WRITER), language)["text"]
    assert texts.str.contains(gendered).all(), "the rule finds what is masked"


def test_both_sides_are_read_or_neither(project: Path) -> None:
    load_all(project)
    short = pl.col("item_id") == "letter-pilot-1"
    broken = pl.when(short, pl.col("variant") == MAN).then(pl.lit("I cannot write this.")).otherwise("reply")
    w.record(project, w.answers().with_columns(broken.alias("reply")))
    found = rubric.written(project, named(read_ledger(project), w.WRITER), "en")
    assert found.height == TEXTS - 2
    assert "letter-pilot-1" not in set(found["item_id"])


@pytest.mark.parametrize("tag", ["think", "thought", "reasoning", "seed:think"])
def test_reasoning_is_no_part_of_a_text(project: Path, tag: str) -> None:
    load_all(project)
    thought = pl.concat_str(pl.lit(f"<{tag}>She must be a woman.</{tag}>"), "reply")
    w.record(project, w.answers().with_columns(thought.alias("reply")))
    found = rubric.written(project, named(read_ledger(project), w.WRITER), "en")
    assert not found["text"].str.contains("think|must be").any()


def test_texts_by_another_protocol_have_ids_of_their_own(project: Path) -> None:
    load_all(project)
    both = pl.concat([w.answers(), w.answers(protocol="open+few-shot")])
    run = w.record(project, both)
    ids = rubric.items(project, run, "en")["item_id"]
    assert ids.n_unique() == TEXTS // 2 * len(QUESTIONS) * 2
    assert ids.str.ends_with("@open+few-shot").sum() == ids.len() // 2


@pytest.mark.usefixtures("writer")
def test_a_limit_draws_items(project: Path) -> None:
    with reading(project, w.perfect, limit=5) as (run, server):
        assert read_all(project, partitions(run), ANSWERS)["item_id"].n_unique() == 5
        assert len(server.requests) == 10


def some(share: float, said: str) -> w.Judge:
    """Perfect, but for a share of its verdicts, drawn by the prompt."""

    def answer(body: dict[str, Any]) -> Response:
        draw = int.from_bytes(sha256(prompt_of(body).encode()).digest()[:4], "big") / 2**32
        return chat(said) if draw < share else w.perfect(body)

    return answer


@pytest.mark.parametrize("said", ["The grade is **C**-ish", "Either of them", "they", "A or B"])
@pytest.mark.usefixtures("writer")
def test_a_verdict_that_is_no_option_is_judge_invalid_and_counts_nowhere(project: Path, said: str) -> None:
    with reading(project, some(0.2, said)) as (run, _):
        found = verdicts(project, run)
    invalid = found.filter(pl.col("outcome") == Outcome.JUDGE_INVALID)
    assert 0 < invalid.height < found.height / 2
    assert (invalid["reply"] == said).all()
    assert invalid.select("code", "gender", "answer_form").null_count().row(0) == (invalid.height,) * 3
    assert found.height - invalid.height == found["code"].count()


def test_a_judge_that_always_takes_the_first_option_shows_by_its_pull_and_finds_no_gap(project: Path) -> None:
    load_all(project)
    w.record(project, w.answers(w.leaning))
    with reading(project, w.first) as (run, _):
        found = verdicts(project, run)
    assert set(found["position"]) == {1}
    assert gaps(project, run)["value"] == 0, "both sides of a pair are shown in one order"


def test_a_planted_difference_is_found_and_no_other(project: Path) -> None:
    load_all(project)
    w.record(project, w.answers(w.leaning))
    with reading(project, w.perfect) as (run, _):
        assert (gaps(project, run)["value"], gaps(project, run)["n"]) == (200, len(w.ROLES))
        assert gaps(project, run)["p_value"] < 0.05
        assert gaps(project, run, "ability")["value"] == gaps(project, run, "praise")["value"] == 0


def test_reading_again_makes_no_calls(project: Path, writer: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with reading(project, w.perfect) as (run, server):
        asked = len(server.requests)
        monkeypatch.setenv("CHECKUP_NO_CALLS", "1")
        query_model(project, "reader", threading.Event(), Silent())
        assert ask_run(project, planned(project), threading.Event(), Silent()) == run
        forget(project, writer)
        query_model(project, "reader", threading.Event(), Silent())
    assert len(server.requests) == asked


@pytest.mark.usefixtures("writer")
def test_an_interrupted_reading_goes_on_where_it_was(project: Path) -> None:
    stop, seen = threading.Event(), []

    def answer(body: dict[str, Any]) -> Response:
        seen.append(body)
        if len(seen) == 10:
            stop.set()
        return w.perfect(body)

    with serving(answer) as server:
        w.enrolled(project, server.base, "reader")
        run = planned(project)
        with pytest.raises(Stopped):
            ask_run(project, run, stop, Silent())
        ask_run(project, run, threading.Event(), Silent())
    found = read_all(project, partitions(run), ANSWERS)
    assert found.height == TEXTS * len(QUESTIONS)
    assert len(seen) <= found.height + 4, "at most the calls in flight are made twice"


def without_file(project: Path, run: Run) -> None:
    next(partitions(run)).path(project, ANSWERS).unlink()


REFUSED: list[tuple[dict[str, Any], Callable[[Path, Run], object] | None, str]] = [
    ({"reads": "nobody@2026-11-29"}, None, "There is no run nobody@2026-11-29"),
    ({"reads": None}, None, "asks about the texts of another run; name it with --reads RUN"),
    ({"plan": "quick"}, None, "--reads goes with checkup-open-rubric alone, and checkup is not about texts"),
    ({"languages": ("zh",)}, None, "wrote no texts in zh; use one of: en"),
    ({}, without_file, "has not all of its texts here, checkup-open.en.open is missing; fetch them with: dvc pull"),
]


@pytest.mark.parametrize(("options", "change", "says"), REFUSED)
def test_what_cannot_be_read_is_refused_in_a_sentence(
    project: Path, writer: Run, options: dict[str, Any], change: Callable[[Path, Run], object] | None, says: str
) -> None:
    w.enrolled(project, "http://127.0.0.1:9/v1", "reader")
    if change:
        change(project, writer)
    with pytest.raises(UsageError, match=says.replace(".", r"\.")):
        planned(project, **options)


@pytest.mark.usefixtures("writer")
def test_a_run_without_texts_is_not_read(project: Path) -> None:
    w.enrolled(project, "http://127.0.0.1:9/v1", "reader")
    reader = planned(project)
    with pytest.raises(UsageError, match="wrote no texts; --reads takes a run that was asked checkup-open"):
        planned(project, reads=reader.id)


def test_an_open_run_whose_texts_are_gone_says_so(project: Path, writer: Run) -> None:
    w.enrolled(project, "http://127.0.0.1:9/v1", "reader")
    run = planned(project)
    with pytest.raises(UsageError, match=rf"is read by {run.id}; forget that first"):
        rubric.unread(read_ledger(project), writer)
    forget(project, writer)
    with pytest.raises(LedgerError, match="reads writer@2026-11-29, which is not in runs/"):
        ask_run(project, run, threading.Event(), Silent())


def test_runs_that_read_others_are_runs_of_their_own(project: Path, writer: Run) -> None:
    other = w.record(project, w.answers(run="other@2026-11-29"))
    w.enrolled(project, "http://127.0.0.1:9/v1", "reader")
    first, second = planned(project), planned(project, reads=other.id)
    assert (second.stamp, planned(project)) == (f"{first.stamp}.2", first)
    record(project, first)
    assert [run.entry.reads for run in runs(read_ledger(project)) if run.model == "reader"] == [writer.id, other.id]


def test_masking_leaves_nothing_to_tell_the_sides_by() -> None:
    """Two texts that differ in names and gendered words alone become one."""
    sides = [w.answers().filter(variant=side).sort("item_id")["reply"] for side in (WOMAN, MAN)]
    made = [masked(side, "en", [name for pair in w.PEOPLE["en"] for name in pair]) for side in sides]
    assert made[0].to_list() == made[1].to_list()
