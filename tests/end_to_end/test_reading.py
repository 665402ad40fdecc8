"""Texts that a model wrote, read by judge models and by a person: the whole way, with DVC, and without a call the second time."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stages.schema import MAN, WOMAN
from tests import written as w
from tests.end_to_end.checkout import Checkout, commit, make_checkout
from tests.wire import Response, chat, prompt_of, serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
READING = "Here is a text about a person"


def write(body: dict[str, Any]) -> Response:
    """A letter for whoever is named: of men that they lead, of women that they care."""
    prompt = prompt_of(body)
    side = WOMAN if " she " in prompt.lower() or "She " in prompt else MAN
    codes = {"agency": 1 if side == MAN else -1, "ability": 0, "praise": len(prompt) % 2}
    name = prompt.split(" for ")[1].split(".")[0] if prompt.startswith("Write a letter") else "Alex Morris"
    return chat(w.text("en", name, side, codes))


def first_of_many(body: dict[str, Any]) -> Response:
    """A judge that takes the first answer, and of every eighth text says something else."""
    return chat("The grade is **C**-ish" if sum(prompt_of(body).encode()) % 8 == 0 else "A")


def answering(read: w.Judge) -> Callable[[dict[str, Any]], Response]:
    return lambda body: read(body) if READING in prompt_of(body) else write(body)


def enrol(checkout: Checkout, **bases: str) -> None:
    path = checkout.root / "params.yaml"
    before, _ = path.read_text(encoding="utf-8").split("\nmodels:\n")
    lines = [f"  {name}: {{route: openai/m, api_base: '{base}', max_connections: 8}}\n" for name, base in bases.items()]
    path.write_text(f"{before}\nmodels:\n{''.join(lines)}", encoding="utf-8")


def called(checkout: Checkout, *command: str, **changes: str) -> str:
    done = checkout.call(*command, **changes)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def asked(checkout: Checkout, query: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(called(checkout, "checkup", "sql", query, "--format", "json"))
    return found


def label(path: Path) -> None:
    """Read every text as somebody does who finds what is planted."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        for question in ("agency", "ability", "praise"):
            row[question] = w.asked(row[f"{question}: the question"])[1][w.code_in(row["text"], question)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def test_texts_are_written_read_labelled_and_scored(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "project")
    with serving(answering(w.perfect)) as good, serving(answering(first_of_many)) as bad:
        enrol(checkout, writer=good.base, perfect=good.base, first=bad.base)
        commit(checkout)
        called(checkout, "checkup", "run", "--model", "writer", "--plan", "open", "--language", "en", "--limit", "60")
        (wrote,) = [row["run"] for row in asked(checkout, "select run from runs")]
        estimated = called(checkout, "checkup", "estimate", "--model", "first", "--plan", "rubric", "--reads", wrote)
        assert "recorded answers" in estimated or "rule of thumb" in estimated, estimated
        reading = ("run", "--model", "perfect", "--model", "first", "--plan", "rubric", "--reads", wrote)
        said = called(checkout, "checkup", *reading)
        calls = len(good.requests) + len(bad.requests)
    assert not [line for line in said.splitlines() if line.startswith(("perfect ", "first "))], "a reader leans nowhere"
    rows = {
        (r["rater"], r["measure"]): r for r in asked(checkout, "from gaps where target = 'all' and domain = 'letter'")
    }
    day = wrote.split("@")[1]
    assert rows[f"perfect@{day}", "agency"]["value"] == 200
    assert rows[f"first@{day}", "agency"]["value"] == pytest.approx(0, abs=25)
    readers = {(r["model"], r["domain"]): r for r in asked(checkout, "from readers")}
    assert readers["first", "agency"]["order_pull"] == 100
    assert 0 < readers["first", "agency"]["judge_invalid_rate"] < 40
    before = checkout.hashes()
    called(checkout, "dvc", "repro", "--force", "--downstream", "judge", CHECKUP_NO_CALLS="1")
    assert checkout.hashes() == before
    called(checkout, "checkup", *reading, CHECKUP_NO_CALLS="1")
    assert len(good.requests) + len(bad.requests) == calls
    _people(checkout, wrote)


def _people(checkout: Checkout, wrote: str) -> None:
    """A person reads some of the texts; what comes back is judged and scored without a call."""
    called(checkout, "checkup", "export", "labels", wrote, "--n", "24", "--out", "labels.csv")
    label(checkout.root / "labels.csv")
    took = called(checkout, "checkup", "import", "labels", "labels.csv", "--rater", "ann")
    assert "imported labels of" in took
    assert "nothing to do" in called(checkout, "checkup", "import", "labels", "labels.csv", "--rater", "ann")
    called(checkout, "dvc", "repro", CHECKUP_NO_CALLS="1")
    found = asked(checkout, "from agreement where versus like 'person-%' or rater like 'person-%'")
    kappas = {(r["rater"].split("@")[0], r["versus"].split("@")[0], r["domain"]): r for r in found}
    assert kappas["perfect", "person-ann", "agency"]["kappa"] == 1
    assert kappas["first", "person-ann", "agency"]["kappa"] == pytest.approx(0, abs=0.4)
    assert "Running stage" not in called(checkout, "dvc", "repro", CHECKUP_NO_CALLS="1")
    refused = checkout.call("checkup", "forget", wrote, "--yes")
    assert (refused.returncode, "is read by" in refused.stderr) == (2, True)
