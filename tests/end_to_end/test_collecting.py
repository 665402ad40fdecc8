"""Answers collected by hand go through the whole pipeline as any others, and nobody is ever called for them."""

import csv
import json
from pathlib import Path

import pytest

from tests.end_to_end.checkout import commit, make_checkout

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
DAY = "2026-11-30"


def fill_in(path: Path) -> None:
    """Answer every question but the last two with the word named first, as somebody in China does: by Excel, in GB18030."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows[:-2]:
        row["回答"] = row["题目"].split("哪个词，")[1].split("还是")[0]
    with path.open("w", encoding="gb18030", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def test_a_table_is_filled_in_imported_judged_scored_and_shown(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "project")
    commit(checkout)
    options = ("--language", "zh", "--limit", "30", "--headings", "zh", "--output", "table.csv")
    made = checkout.call("checkup", "export", "questions", *options)
    assert (made.returncode, made.stderr) == (0, "")
    fill_in(checkout.root / "table.csv")
    importing = ("import", "answers", "table.csv", "--model", "kimi-web", "--date", DAY, "--collector", "L. W.")
    said = checkout.call("checkup", *importing)
    assert (said.returncode, said.stderr) == (0, "")
    assert f"kimi-web@{DAY}: imported checkup.zh.two (" in said.stdout
    repro = checkout.call("dvc", "repro", CHECKUP_NO_CALLS="1")
    assert repro.returncode == 0, repro.stdout + repro.stderr
    query = "select metric, value, n from scores where model = 'kimi-web' and domain = 'all' and metric in ('order_pull', 'coverage')"
    asked = checkout.call("checkup", "sql", query, "--format", "json")
    values = {row["metric"]: row["value"] for row in json.loads(asked.stdout)}
    assert values["order_pull"] == 100
    assert "kimi-web" in (checkout.root / "reports" / "site" / "index.html").read_text(encoding="utf-8")
    before = checkout.hashes()
    assert "nothing to do" in checkout.call("checkup", *importing).stdout
    again = checkout.call("dvc", "repro", CHECKUP_NO_CALLS="1")
    assert "Running stage" not in again.stdout, again.stdout
    assert checkout.hashes() == before
    assert checkout.call("dvc", "status").stdout.strip() == "Data and pipelines are up to date."
    kimi = next(
        row
        for row in json.loads(checkout.call("checkup", "runs", "--format", "json").stdout)
        if row["run"] == f"kimi-web@{DAY}"
    )
    assert (kimi["state"], kimi["n_expected"] - kimi["n_answered"], kimi["n_calls"]) == ("sealed", 2, 0)
