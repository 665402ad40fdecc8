"""A run asked over the wire: recorded, resumed, sealed, and never asked twice."""

import json
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from filelock import FileLock

from stages.errors import DataError, Incomplete, LedgerError, Stopped, UsageError
from stages.ledger import Run, planned, read_ledger, record, runs
from stages.load import load_all
from stages.params import read_params
from stages.query import Silent, ask_run, query_model
from stages.query.rows import NOT_ASKED
from stages.requests import Request
from stages.schema import ANSWERS
from stages.store import partitions, read_all
from tests.wire import Response, chat, error, prompt_of, serving

KEY = "sk-planted-0123456789abcdef"
ITEMS = 6
QUESTIONS = ITEMS * 2 * 2  # orders, languages


@pytest.fixture
def wired(project: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Run]:
    """Plan a small run of a model ``wired`` that is reached at the given base URL."""
    load_all(project)
    monkeypatch.setenv("PLANTED_KEY", KEY)
    roster = project / "params.yaml"
    text = roster.read_text(encoding="utf-8")

    def plan(base: str) -> Run:
        entry = f"  wired: {{route: openai/m, api_base: '{base}', api_key_env: PLANTED_KEY, max_connections: 4, max_attempts: 2, timeout: 2, cool_off: 0.05}}\n"
        roster.write_text(text + entry, encoding="utf-8")
        run = planned(read_ledger(project), read_params(project), Request("wired", limit=ITEMS), datetime.now(UTC))
        record(project, run)
        return run

    return plan


def he(_: dict[str, Any]) -> Response:
    return chat("he")


def answers(project: Path) -> pl.DataFrame:
    (run,) = runs(read_ledger(project))
    return read_all(project, partitions(run), ANSWERS)


def ask(project: Path, run: Run, stop: threading.Event | None = None, seal: bool = False) -> Run:
    return ask_run(project, run, stop or threading.Event(), Silent(), seal)


def test_every_question_becomes_one_row_and_the_run_is_sealed(project: Path, wired: Callable[[str], Run]) -> None:
    with serving(he) as server:
        sealed = ask(project, wired(server.base))
    frame = answers(project)
    assert frame.height == len(server.requests) == QUESTIONS
    assert sealed.entry.state == next(runs(read_ledger(project))).entry.state == "sealed"
    assert set(frame["reply"]) == {"he"}
    assert set(frame["access_route"]) == {"api"}
    assert frame["cost"].null_count() == QUESTIONS
    assert sorted(frame["prompt"].str.json_path_match("$[0].content")) == sorted(map(prompt_of, server.requests))


def test_a_sealed_run_is_never_asked_again(
    project: Path, wired: Callable[[str], Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(he) as server:
        ask(project, wired(server.base))
        monkeypatch.setenv("CHECKUP_NO_CALLS", "1")
        query_model(project, "wired", threading.Event(), Silent())
        ask(project, next(runs(read_ledger(project))))
    assert len(server.requests) == QUESTIONS


def interrupted_after(
    count: int, stop: threading.Event, then: Callable[[], None]
) -> Callable[[dict[str, Any]], Response]:
    seen = []

    def answer(body: dict[str, Any]) -> Response:
        seen.append(body)
        if len(seen) == count:
            stop.set()
            then()
        return chat("he")

    return answer


def test_an_interrupted_run_goes_on_where_it_was(project: Path, wired: Callable[[str], Run]) -> None:
    stop = threading.Event()
    with serving(interrupted_after(7, stop, lambda: None)) as server:
        run = wired(server.base)
        with pytest.raises(Stopped):
            ask(project, run, stop)
        first = len(server.requests)
        ask(project, run)
    assert answers(project).height == QUESTIONS
    assert first < QUESTIONS
    assert QUESTIONS <= len(server.requests) <= QUESTIONS + 4, "at most the calls in flight are made twice"


def test_a_lost_partition_file_is_made_again_from_its_journal(project: Path, wired: Callable[[str], Run]) -> None:
    with serving(he) as server:
        run = wired(server.base)
        ask(project, run)
        before = answers(project)
        next(partitions(run)).path(project, ANSWERS).unlink()
        query_model(project, "wired", threading.Event(), Silent())
    assert answers(project).equals(before)
    assert len(server.requests) == QUESTIONS


def test_what_fails_for_now_stays_open_and_only_that_is_asked_again(project: Path, wired: Callable[[str], Run]) -> None:
    broken = {"on": True}

    def answer(body: dict[str, Any]) -> Response:
        return error(503, "busy") if broken["on"] and "还是" in prompt_of(body) else chat("he")

    with serving(answer) as server:
        run = wired(server.base)
        with pytest.raises(Incomplete, match=r"Run wired@.* is not complete|lacks \d+ answers"):
            ask(project, run)
        assert next(runs(read_ledger(project))).entry.state == "open"
        asked, broken["on"] = len(server.requests), False
        ask(project, run)
    assert answers(project).height == QUESTIONS
    assert len(server.requests) - asked < QUESTIONS


def test_a_terminal_error_is_final(project: Path, wired: Callable[[str], Run]) -> None:
    def answer(body: dict[str, Any]) -> Response:
        refused = any(shown in prompt_of(body) for shown in ("he or she?", "father or mother?"))
        return error(400, "unsupported_value") if refused else chat("he")

    with serving(answer) as server:
        ask(project, wired(server.base))
    frame = answers(project)
    assert frame.filter(pl.col("failure") == "bad_request").height == ITEMS
    assert frame.filter(pl.col("failure").is_not_null() & pl.col("reply").is_not_null()).height == 0


def test_sealing_closes_a_run_with_what_there_is_and_asks_nothing(project: Path, wired: Callable[[str], Run]) -> None:
    stop = threading.Event()
    with serving(interrupted_after(7, stop, lambda: None)) as server:
        run = wired(server.base)
        with pytest.raises(Stopped):
            ask(project, run, stop)
        time.sleep(0.5)  # what was in flight at the stop has arrived
        asked = len(server.requests)
        assert ask(project, run, seal=True).entry.state == "sealed"
        assert len(server.requests) == asked
    frame = answers(project)
    assert frame.height == QUESTIONS, "what was never asked is a row too, so that coverage can count it"
    assert 0 < frame.filter(pl.col("failure") == NOT_ASKED).height < QUESTIONS


def test_a_refused_key_stops_at_once_names_the_variable_and_stands_nowhere(
    project: Path, wired: Callable[[str], Run]
) -> None:
    with serving(lambda _: error(401, "invalid_api_key", f"bad key {KEY}")) as server:
        run = wired(server.base)
        with pytest.raises(Incomplete, match="PLANTED_KEY") as caught:
            ask(project, run)
    assert len(server.requests) <= 4
    assert KEY not in str(caught.value)
    assert [p for p in project.rglob("*") if p.is_file() and KEY.encode() in p.read_bytes()] == []


def test_calls_can_be_forbidden(project: Path, wired: Callable[[str], Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHECKUP_NO_CALLS", "1")
    with serving(he) as server, pytest.raises(UsageError, match="CHECKUP_NO_CALLS forbids calls"):
        ask(project, wired(server.base))
    assert server.requests == []


def test_a_missing_key_is_named_before_any_call(
    project: Path, wired: Callable[[str], Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PLANTED_KEY")
    with serving(he) as server, pytest.raises(UsageError, match=r"its key PLANTED_KEY is not set; put it into \.env"):
        ask(project, wired(server.base))
    assert server.requests == []


def test_two_processes_do_not_ask_one_run(project: Path, wired: Callable[[str], Run]) -> None:
    with serving(he) as server:
        run = wired(server.base)
        lock = project / ".cache" / "locks" / f"{run.id}.lock"
        lock.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(lock), pytest.raises(LedgerError, match="Another process is asking"):
            ask(project, run)
    assert server.requests == []


def test_a_sealed_run_whose_answers_are_gone_is_fetched_not_asked(project: Path, wired: Callable[[str], Run]) -> None:
    with serving(he) as server:
        run = wired(server.base)
        ask(project, run)
        for path in next(partitions(run)).path(project, ANSWERS).parent.iterdir():
            path.unlink()
        with pytest.raises(LedgerError, match="dvc pull"):
            query_model(project, "wired", threading.Event(), Silent())
    assert len(server.requests) == QUESTIONS


def test_answers_that_belong_to_no_run_are_an_error(project: Path, wired: Callable[[str], Run]) -> None:
    with serving(he) as server:
        run = wired(server.base)
        ask(project, run)
    source = next(partitions(run)).path(project, ANSWERS)
    stray = source.parent.parent / "run=2020-01-01" / source.name
    stray.parent.mkdir()
    stray.write_bytes(source.read_bytes())
    with pytest.raises(LedgerError, match=r"run=2020-01-01/.* belongs to no run"):
        query_model(project, "wired", threading.Event(), Silent())


def test_a_data_folder_that_cannot_be_written_is_one_sentence(project: Path, wired: Callable[[str], Run]) -> None:
    (project / "data" / "answers" / "model=wired").write_text("a file where a folder must be", encoding="utf-8")
    with serving(he) as server, pytest.raises(DataError, match="cannot be written"):
        ask(project, wired(server.base))
    assert server.requests == []


def test_the_journal_holds_an_answer_before_the_next_call_is_made(project: Path, wired: Callable[[str], Run]) -> None:
    recorded: list[int] = []

    def answer(_: dict[str, Any]) -> Response:
        lines = [line for p in project.rglob("*.journal.jsonl") for line in p.read_text(encoding="utf-8").splitlines()]
        recorded.append(sum("answer" in json.loads(line) for line in lines))
        return chat("he")

    with serving(answer) as server:
        ask(project, wired(server.base))
    # Four calls may be under way at once.
    assert all(count >= number - 4 for number, count in enumerate(recorded))


def carried(project: Path, wired: Callable[[str], Run], base: str) -> Run:
    request = Request("wired", protocols=("carried",), epochs=4, limit=ITEMS)
    wired(base)
    run = planned(read_ledger(project), read_params(project), request, datetime.now(UTC))
    record(project, run)
    return run


def numbered(body: dict[str, Any]) -> Response:
    """Replies with the number of turns before it, so that every reply can be told in later prompts."""
    return chat(f"he {len(body['messages']) // 2}")


def said(row: dict[str, Any]) -> list[str]:
    """What the model had said before, by the prompt of ``row``."""
    return [m["content"] for m in json.loads(row["prompt"]) if m["role"] == "assistant"]


def test_a_carried_question_is_asked_after_the_answers_before_it(project: Path, wired: Callable[[str], Run]) -> None:
    with serving(numbered) as server:
        run = carried(project, wired, server.base)
        ask(project, run)
    frame = read_all(project, partitions(run), ANSWERS)
    assert frame.height == ITEMS * 4 * 2
    for row in frame.iter_rows(named=True):
        assert said(row) == [f"he {turn}" for turn in range(row["turn"] - 1)]
        assert row["reply"] == f"he {row['turn'] - 1}"
    assert set(frame["turn"]) == set(range(1, ITEMS + 1))


def test_an_interrupted_conversation_goes_on_with_what_was_said(project: Path, wired: Callable[[str], Run]) -> None:
    stop, seen = threading.Event(), list[dict[str, Any]]()

    def answer(body: dict[str, Any]) -> Response:
        seen.append(body)
        if len(seen) == 10:
            stop.set()
        return numbered(body)

    with serving(answer) as server:
        run = carried(project, wired, server.base)
        with pytest.raises(Stopped):
            ask(project, run, stop)
        ask(project, run)
    frame = read_all(project, partitions(run), ANSWERS)
    assert all(said(row) == [f"he {turn}" for turn in range(row["turn"] - 1)] for row in frame.iter_rows(named=True))
    assert len(seen) <= ITEMS * 4 * 2 + 4


def test_a_turn_that_fails_for_now_holds_up_those_after_it_until_it_is_answered(
    project: Path, wired: Callable[[str], Run]
) -> None:
    broken = {"on": True}

    def answer(body: dict[str, Any]) -> Response:
        return error(503, "busy") if broken["on"] and len(body["messages"]) == 5 else numbered(body)

    with serving(answer) as server:
        run = carried(project, wired, server.base)
        with pytest.raises(Incomplete, match="lacks 32 answers"):
            ask(project, run)
        broken["on"] = False
        ask(project, run)
    frame = read_all(project, partitions(run), ANSWERS)
    assert all(len(said(row)) == row["turn"] - 1 for row in frame.iter_rows(named=True))


def test_a_sealed_conversation_has_a_row_for_what_was_never_asked(project: Path, wired: Callable[[str], Run]) -> None:
    stop = threading.Event()
    with serving(interrupted_after(7, stop, lambda: None)) as server:
        run = carried(project, wired, server.base)
        with pytest.raises(Stopped):
            ask(project, run, stop)
        time.sleep(0.5)
        ask(project, run, seal=True)
    frame = read_all(project, partitions(run), ANSWERS)
    assert frame.height == ITEMS * 4 * 2
    assert frame.filter(pl.col("failure") == NOT_ASKED).height > 0
