"""Collecting answers by hand: the questions of a plan in a table, and what was filled in as a sealed run."""

import csv
import io
import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from flows.collected import Source, export_questions, import_answers
from stages.errors import CheckupError, DataError, UsageError
from stages.judge import judge
from stages.ledger import enter, named, read_ledger
from stages.load import load_all
from stages.params import read_params
from stages.query import Silent, query_model
from stages.query.sheets import sheet, walked
from stages.requests import Request
from stages.schema import ANSWERS
from stages.store import partitions, read_all, recorded
from stages.validate import validate_answers
from tests.stereoset import official, records

DAY = "2026-11-30"
Row = dict[str, str]
Import = Callable[..., list[str]]
SEVEN = ("she", "he", "她", "他 ", "She.\nAs nurses often are.", "I cannot say.", "Error: Error code: 429 - {'error': {'code': 'insufficient_quota'}}")  # fmt: skip


def request(**options: object) -> Request:
    return Request("", **options)  # type: ignore[arg-type]


def table(project: Path, headings: str = "en", **options: object) -> list[Row]:
    """The rows of a fresh table of questions."""
    export_questions(project, request(**options), project / "questions.csv", headings)
    return list(csv.DictReader(io.StringIO((project / "questions.csv").read_text(encoding="utf-8-sig"), newline="")))


def written(rows: list[Row], columns: list[str] | None = None) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns or list(rows[0]), extrasaction="ignore", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def filled(rows: list[Row], replies: tuple[str, ...] = SEVEN, column: str = "reply") -> list[Row]:
    """``rows`` of which the first have a reply each."""
    return [{**row, column: reply} for row, reply in zip(rows, (*replies, *[""] * len(rows)), strict=False)]


@pytest.fixture
def take(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Import:
    folder = tmp_path_factory.mktemp("collected")

    def take(
        content: str | bytes, name: str = "answers.csv", key: str = "kimi-web", date: str = DAY, **options: object
    ) -> list[str]:
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode("utf-8-sig"))
        allow = bool(options.pop("allow_errors", False))
        collector = str(options.pop("collector", "L. W."))
        return import_answers(project, key, date, Source(folder / name, collector, request(**options), allow))

    return take


def answers(root: Path) -> pl.DataFrame:
    return read_all(root, recorded(root, read_ledger(root), ANSWERS), ANSWERS)


def files(root: Path) -> dict[str, bytes]:
    found = [root / "params.yaml", *(root / "runs").iterdir(), *(root / "data" / "answers").rglob("*.parquet")]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def test_the_table_has_the_questions_that_a_run_under_the_plan_asks(project: Path) -> None:
    rows = table(project, limit=7, seed=3)
    params = read_params(project)
    run = enter(project, params, Request("smollm2-135m-instruct", limit=7, seed=3), datetime.now(UTC))
    asked = [(part, each) for part in partitions(run) for each in walked(sheet(project, params, part), {})]
    assert [(row["benchmark"], row["language"], row["protocol"], row["item_id"], row["variant"], int(row["epoch"]), row["prompt"]) for row in rows] == [
        (part.benchmark, part.language, part.protocol, *each.question.key, each.prompt.messages[-1]["content"]) for part, each in asked
    ]  # fmt: skip
    assert [row["conversation"] for row in rows] == [str(n) for n in range(1, len(rows) + 1)]
    assert {(row["reply"], row["note"], row["asked_at"], row["plan"]) for row in rows} == {
        ("", "", "", "quick limit=7 seed=3")
    }


def test_a_carried_conversation_is_pasted_turn_by_turn(project: Path) -> None:
    rows = table(project, plan="carry-over", protocols=("carried",), languages=("en",), limit=30)
    turns = [int(row["turn"]) for row in rows]
    starts = [i for i, turn in enumerate(turns) if turn == 1]
    assert max(turns) > 1
    assert len(starts) == max(int(row["conversation"]) for row in rows)
    assert all(row["prompt"].startswith("Which word fits") for row in rows)


def test_filled_in_answers_are_a_sealed_run_by_hand(project: Path, take: Import) -> None:
    rows = filled(table(project, limit=3))
    rows[0]["asked_at"] = "2026/11/30 9:05"
    said = take(written(rows))
    assert said == [
        f"kimi-web@{DAY}: imported checkup.en.two, checkup.zh.two (6 answered, 1 failed, 5 not asked); score it with: dvc repro.",
        "line 21: quota: Error: Error code: 429 - {'error': {'code': 'insufficient_qu",
    ]
    run = named(read_ledger(project), f"kimi-web@{DAY}")
    assert (run.entry.state, run.entry.plan, run.entry.limit) == ("sealed", "quick by hand", 3)
    assert "kimi-web" in read_params(project).models
    found = answers(project)
    assert found["failure"].drop_nulls().sort().to_list() == ["not_asked"] * 5 + ["quota"]
    assert found["reply"].drop_nulls().sort().to_list() == sorted(reply.rstrip() for reply in SEVEN[:6])
    assert set(found["access_route"]) == {"web"}
    assert found["collector"].str.contains(r"^L\. W\., answers\.csv \(UTF-8 with BOM\), SHA-256 [0-9a-f]{64}$").all()
    assert found.filter(item_id=rows[0]["item_id"], epoch=1, language="en")["asked_at"].to_list() == [
        "2026-11-30T09:05:00.000+00:00"
    ]
    assert {*found["params_requested"], *found["params_sent"]} == {"{}"}
    outcomes = judge(found)["outcome"].value_counts()
    assert outcomes.filter(outcome="error")["count"].item() == 6
    assert outcomes.filter(outcome="refusal")["count"].item() == 1


def test_what_was_asked_by_hand_is_the_same_item_but_not_asked_alike(project: Path, take: Import) -> None:
    take(written(filled(table(project, limit=3))))
    params = read_params(project)
    run = enter(project, params, Request("smollm2-135m-instruct", limit=3), datetime.now(UTC))
    for part in partitions(run):
        asked = sheet(project, params, part)
        ours = {each.question.key: asked.facts(each) for each in walked(asked, {})}
        found = answers(project).filter(language=part.language)
        assert found.height == len(ours)
        for row in found.iter_rows(named=True):
            facts = ours[row["item_id"], row["variant"], row["epoch"]]
            alike = ("item_hash", "options", "order_index", "turn", "prompt", "prompt_hash", "protocol")
            assert {name: row[name] for name in alike} == {name: facts[name] for name in alike}
            assert row["protocol_hash"] != facts["protocol_hash"]


@pytest.mark.slow
def test_it_keeps_the_contracts_and_is_never_asked(
    project: Path, take: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHECKUP_NO_CALLS", "1")
    (project / "data" / "stereoset" / "dev.json").write_bytes(official(records()))
    for plan, protocols in (("quick", ()), ("full", ("closed",)), ("carry-over", ("carried",)), ("stereoset", ())):
        rows = table(project, plan=plan, protocols=protocols, limit=30)
        for language in ("en", "zh"):
            if own := [row for row in rows if row["language"] == language]:
                take(written(filled(own)))
    before = files(project)
    validate_answers(project)
    query_model(project, "kimi-web", threading.Event(), Silent())
    assert files(project) == before
    assert list(read_ledger(project).runs["kimi-web"]) == [DAY, *(f"{DAY}.{n}" for n in (2, 3, 4))]


def test_a_run_that_is_asked_the_same_day_does_not_go_on_with_it(project: Path, take: Import) -> None:
    today = datetime.now(UTC).date().isoformat()
    take(written(filled(table(project, limit=3))), key="smollm2-135m-instruct", date=today)
    asked = enter(project, read_params(project), Request("smollm2-135m-instruct", limit=3), datetime.now(UTC))
    assert (asked.stamp, asked.entry.state) == (f"{today}.2", "open")


def test_chinese_headings_and_two_columns_are_enough(project: Path, take: Import) -> None:
    """The file as Excel in Chinese saves it, and its twin in UTF-8, give the same answers."""
    rows = filled(table(project, "zh", languages=("zh",), limit=3), SEVEN[2:4], "回答")
    assert list(rows[0])[:3] == ["编号", "题目", "回答"]
    excel = written(rows, ["编号", "回答"]).replace("\r\n", ",,\r\n").encode("gb18030") + b",,,\r\n"
    twin = written([{**row, "回答": row["回答"].rstrip()} for row in rows], ["编号", "回答"])
    take(excel, "excel.csv", key="excel", limit=3)
    take(twin, "twin.csv", key="twin", limit=3)
    kept = [
        answers(project).filter(model=key).drop("run", "model", "collector", "requested_model").sort(ANSWERS.grain[4:])
        for key in ("excel", "twin")
    ]
    assert kept[0].equals(kept[1])
    assert kept[0]["reply"].drop_nulls().to_list() == ["她", "他"]
    assert "(GB18030)" in answers(project).filter(model="excel")["collector"][0]


def test_the_parts_of_the_id_do_as_well_and_jsonl_too(project: Path, take: Import) -> None:
    rows = filled(table(project, limit=3))
    columns = ["benchmark", "language", "protocol", "item_id", "variant", "epoch", "reply", "plan"]
    take(written(rows, columns))
    assert take("\n".join(json.dumps(row) for row in rows).encode(), "answers.jsonl") == [
        f"kimi-web@{DAY} has these answers already; nothing to do."
    ]


def test_an_instruction_is_pasted_before_the_question(project: Path, take: Import) -> None:
    (project / "data" / "stereoset" / "dev.json").write_bytes(official(records()))
    rows = table(project, plan="stereoset", epochs=1, limit=2)
    assert all("ANSWER: $LETTER" in row["prompt"] and "Context: " in row["prompt"] for row in rows)
    take(written(filled(rows, ("ANSWER: A", "ANSWER: B"))))
    (message,) = json.loads(answers(project)["prompt"][0])
    assert message["role"] == "user"
    assert set(judge(answers(project).drop_nulls("reply"))["outcome"]) <= {"stereotype", "anti-stereotype", "unrelated"}


def test_the_same_again_changes_nothing_and_other_answers_are_refused(project: Path, take: Import) -> None:
    rows = filled(table(project, limit=3))
    take(written(rows))
    before = files(project)
    assert take(written(rows), "again.csv") == [f"kimi-web@{DAY} has these answers already; nothing to do."]
    with pytest.raises(DataError, match=rf"Run kimi-web@{DAY} has other answers of checkup in en .* checkup forget"):
        take(written(filled(rows, ("he",) * 7)))
    assert files(project) == before


def test_a_language_that_comes_later_joins_the_run(project: Path, take: Import) -> None:
    rows = filled(table(project, limit=3), ("she",) * 12)
    take(written([row for row in rows if row["language"] == "en"]))
    assert "imported checkup.zh.two " in take(written([row for row in rows if row["language"] == "zh"]))[0]
    assert list(read_ledger(project).runs["kimi-web"]) == [DAY]


def test_too_many_errors_are_refused_and_listed(project: Path, take: Import) -> None:
    rows = filled(
        table(project, limit=3), ("she", "Request timed out.", "Error code: 401 - no such key: sk-abcdefghijkl")
    )
    before = files(project)
    with pytest.raises(DataError) as caught:
        take(written(rows))
    first, *listed = str(caught.value).splitlines()
    assert first.startswith("2 of 3 replies in answers.csv are errors of a client and no model's text; ask again, or ")
    assert listed == ["  line 5: timeout: Request timed out.", "  line 8: auth: Error code: 401 - no such key: ***"]
    assert files(project) == before
    assert "(1 answered, 2 failed, 9 not asked)" in take(written(rows), allow_errors=True)[0]
    assert answers(project)["reply"].drop_nulls().to_list() == ["she"]
    assert "sk-abc" not in str(answers(project).to_dicts())


@pytest.mark.parametrize(
    ("change", "options", "sentence"),
    [
        (lambda text: text.replace("reply", "said"), {}, "answers.csv lacks the column 'reply' or '回答'; keep the columns of"),
        (lambda text: text.replace("id,", "nr,").replace("item_nr", "item"), {}, "answers.csv lacks the column 'id' or '编号'; keep the columns of"),
        (lambda text: text.replace("note", "回答"), {}, "answers.csv has the column '回答' twice; remove or rename one."),
        (lambda text: text.splitlines()[0], {}, "answers.csv has no row under its heading; begin with: checkup export questions."),
        (lambda text: text.replace("quick limit=3", "quick lim=3"), {}, "answers.csv, line 2, column plan: 'quick lim=3' is no plan as checkup export questions writes it."),
        (lambda text: text.replace("quick limit=3", "slow"), {}, "There is no plan 'slow' in params.yaml; use one of"),
        (lambda text: text, {"epochs": 3}, "3 epochs cannot be balanced over 2 orders; use --epochs 4."),
        (lambda text: text, {"collector": " "}, "--collector is empty; say who asked, by name or initials."),
        (lambda text: text, {"date": "today"}, "--date: 'today' is not a date"),
        (lambda text: text, {"key": "Kimi K2"}, "--model: 'Kimi K2' cannot name a model"),
        (lambda text: text, {"name": "answers.ods"}, "answers.ods does not say its format; name it *.csv, *.xlsx, *.jsonl."),
    ],
)  # fmt: skip
def test_a_wrong_table_is_one_sentence_and_changes_nothing(
    project: Path, take: Import, change: Callable[[str], str], options: dict[str, object], sentence: str
) -> None:
    text = written(filled(table(project, limit=3)))
    before = files(project)
    with pytest.raises(CheckupError) as caught:
        take(change(text), **options)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
    assert files(project) == before


def test_a_table_without_a_reply_and_a_protocol_that_scores_are_refused(project: Path, take: Import) -> None:
    with pytest.raises(UsageError, match=r"^answers\.csv has no reply yet; fill in"):
        take(written(table(project, limit=3)))
    with pytest.raises(UsageError, match=r"^Protocol likelihood scores texts, which nobody can ask in a chat"):
        table(project, plan="stereoset-likelihood")
    with pytest.raises(UsageError, match="has no items in en yet; get them with: checkup fetch stereoset"):
        table(project, plan="stereoset")


def test_a_time_is_in_the_zone_of_the_settings_unless_it_says_its_own(project: Path, take: Import) -> None:
    path = project / "params.yaml"
    path.write_text(
        path.read_text(encoding="utf-8").replace("timezone: UTC", "timezone: Asia/Shanghai"), encoding="utf-8"
    )
    rows = filled(table(project, limit=3), ("she", "he"))
    rows[0]["asked_at"], rows[1]["asked_at"] = "2026-11-30 09:05", "2026-11-30T09:05:30+01:00"
    take(written(rows))
    load_all(project)
    found = answers(project).drop_nulls("reply").sort("epoch")["asked_at"].to_list()
    assert found == ["2026-11-30T01:05:00.000+00:00", "2026-11-30T08:05:30.000+00:00"]
