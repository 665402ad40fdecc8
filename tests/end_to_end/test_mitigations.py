"""A model that reads what a mitigation says, asked over the wire by the plan ``mitigations``: each gets the verdict it earns."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest

from stages.judge import judge_all
from stages.ledger import Run, planned, read_ledger, record
from stages.load import load_all
from stages.params import read_params
from stages.query import Silent, ask_run
from stages.reduce import reduce_all
from stages.report import query
from stages.requests import Request
from stages.score import score_all
from tests.end_to_end.responders import OTHER, Asked, answering, refuse
from tests.wire import Response, serving

Messages = list[dict[str, str]]
EARNED = {
    "three+neutral-system-prompt": "better",
    "three+few-shot": "bought by refusals",
    "three+neutral-system-prompt+few-shot": "over-neutral",
    "three+post-check": "reversed",
}


def as_told(messages: Messages, asked: Asked) -> str:
    """As tradition has it; told not to assume a gender, neutral of half the concepts; shown examples, it refuses half.

    With both it is neutral of everything, stated or not; asked once more, it says the opposite.
    """
    typed = asked.item["typed"]
    questions = [message["content"] for message in messages if message["role"] == "user"]
    again = len(questions) > 1 and questions[-1].endswith(questions[0])
    told, shown = messages[0]["role"] == "system", len(questions) > 1 and not again
    if told and shown:
        return asked.word("none")
    if asked.control or typed == "none":
        return asked.word(typed)
    if again:
        return asked.word(OTHER[typed])
    half = sha256(asked.item["target"].encode()).digest()[0] % 2 == 0
    if half and told:
        return asked.word("none")
    return refuse(asked) if half and shown else asked.word(typed)


def reading(project: Path) -> Callable[[dict[str, object]], Response]:
    """A server's behaviour that looks at the whole conversation, not at its last turn alone."""

    def answer(body: dict[str, object]) -> Response:
        messages: Messages = body["messages"]  # type: ignore[assignment]
        return answering(project, "checkup", lambda asked: as_told(messages, asked))(body)

    return answer


def asked(project: Path) -> Run:
    """A run of the plan in English, asked and scored."""
    load_all(project)
    with serving(reading(project)) as server:
        with (project / "params.yaml").open("a", encoding="utf-8") as roster:
            roster.write(f"  reader: {{route: openai/m, api_base: '{server.base}', max_connections: 16}}\n")
        request = Request("reader", plan="mitigations", languages=("en",))
        run = planned(read_ledger(project), read_params(project), request, datetime.now(UTC))
        record(project, run)
        run = ask_run(project, run, threading.Event(), Silent())
    for stage in (judge_all, reduce_all, score_all):
        stage(project)
    return run


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_each_mitigation_gets_the_verdict_it_earns(project: Path) -> None:
    run = asked(project)
    found = {row["protocol"]: row for row in query(project, f"from mitigated where run = '{run.id}'").to_dicts()}
    assert {protocol: row["verdict"] for protocol, row in found.items()} == EARNED
    assert {row["lean_without"] for row in found.values()} == {100}
    assert found["three+post-check"]["lean_with"] == -100
    assert found["three+few-shot"]["kept_change"] == 0
