"""A model that turned round: the check-up asks it once more the same day, says so and ends with 3; one that did not, ends with 0."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from stages.ledger import read_ledger
from stages.report import query
from tests.end_to_end.checkout import enrol, make_checkout
from tests.end_to_end.responders import CHOICES, answering
from tests.wire import Response, serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def test_a_change_is_asked_again_and_then_counts(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "project")
    assert checkout.call("dvc", "repro", "load").returncode == 0
    rule = ["stereotype"]

    def answer(body: dict[str, object]) -> Response:
        return answering(checkout.root, "checkup", CHOICES[rule[0]])(body)

    def run() -> tuple[int, str]:
        done = checkout.call("checkup", "run", "--language", "en", "--fresh", "--fail-on-change")
        return done.returncode, done.stdout + done.stderr

    day = datetime.now(UTC).date().isoformat()
    with serving(answer) as server:
        enrol(checkout, server.base)
        code, said = run()
        assert (code, "since wired@" in said) == (0, False), "a first run has nothing to be compared with"
        code, said = run()
        assert code == 0
        assert f"wired@{day}.2 en two lean 0.0" in said
        assert f"no change seen since wired@{day}." in said
        assert sorted(read_ledger(checkout.root).runs["wired"]) == [day, f"{day}.2"]
        rule[0] = "anti"
        code, said = run()
    assert code == 3
    assert f"wired@{day}.4 en two lean −200.0" in said
    assert f"changed since wired@{day}, and a second run of the day says the same." in said
    found = query(checkout.root, "select run, verdict from changed order by run")
    assert found.rows() == [
        (f"wired@{day}.2", "no change seen"), (f"wired@{day}.3", "changed"), (f"wired@{day}.4", "changed")
    ]  # fmt: skip
    assert checkout.call("dvc", "status").stdout.strip() == "Data and pipelines are up to date."
    assert checkout.left_after(5) == []
