"""Samples of Inspect as answers, and answers as samples, without Inspect: what stands between its files and our tables."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from flows.inspecting import export_inspect, import_inspect
from stages.errors import DataError, UsageError
from stages.imports import Origin
from stages.inspect_logs import Log, Sample
from stages.inspect_runs import answers, entry, exported, matched
from stages.judge import judge
from stages.ledger import Run
from stages.load.stereoset import items
from stages.orders import orders
from stages.params import Model
from stages.store import Partition
from stages.validate.answers import contracts, declared, judgeable
from stages.validate.expectations import check
from tests.factories import coin, make_answers, make_judgements
from tests.stereoset import Raw, official, record

TASK = "intersentence"
RECORDS = [record(TASK, "gender", number) for number in range(4)]
ORIGIN = Origin("inspect log (success)", "a.eval", b"log")


def loaded(records: list[Raw] = RECORDS) -> dict[str, pl.DataFrame]:
    both = official({TASK: records, "intrasentence": [record("intrasentence", "gender", 0)]})
    return {f"stereoset-{task}": items(both, "dev.json", "en", task) for task in (TASK, "intrasentence")}


def sample(
    raw: Raw, epoch: int = 1, order: tuple[int, ...] = (0, 1, 2), reply: str | None = "ANSWER: B", **more: Any
) -> Sample:
    shown = [raw["sentences"][place] for place in order]
    found = Sample(
        id=str(raw["id"]),
        epoch=epoch,
        text=raw["context"],
        choices=[each["sentence"] for each in shown],
        meanings=[each["gold_label"] for each in shown],
        messages=[{"role": "system", "content": "Choose."}, {"role": "user", "content": raw["context"]}],
        reply=reply,
        failure=None,
        answer={"stop_reason": "stop", "prompt_tokens": 100, "asked_at": "2026-11-29T23:59:59+00:00"},
    )
    return replace(found, **more)


def log(samples: list[Sample], **more: Any) -> Log:
    found = Log(
        name="a.eval",
        task="inspect_evals/stereoset",
        model="openai/gpt-x",
        status="success",
        created="2026-11-29T23:50:00+00:00",
        ids=list(dict.fromkeys(each.id for each in samples)),
        epochs=max(each.epoch for each in samples),
        language=None,
        steps=[{"solver": "multiple_choice", "params": {"cot": False}}],
        config={"temperature": 0.5},
        samples=samples,
    )
    return replace(found, **more)


def imported(found: Log) -> tuple[Run, pl.DataFrame]:
    """The run of ``found`` and its answers to the one benchmark it asked."""
    questions = matched(found, loaded())
    run = Run("gpt-x", "2026-11-30", entry(found, questions, "en"))
    ((benchmark, asked),) = questions.items()
    return run, answers(Partition(run, benchmark, "en", "inspect"), Model.model_validate({}), found, asked, ORIGIN)


@pytest.mark.parametrize("order", orders(3))
def test_a_reply_means_the_option_that_was_shown_under_its_letter(order: tuple[int, ...]) -> None:
    _, found = imported(log([sample(raw, order=order) for raw in RECORDS]))
    expected = [raw["sentences"][order[1]]["gold_label"] for raw in RECORDS]
    by_id = dict(judge(found).select("item_id", "outcome").iter_rows())
    assert [by_id[raw["id"]] for raw in RECORDS] == expected
    assert set(found["order_index"]) == {orders(3).index(order)}
    assert [option["label"] for option in found["options"][0]] == ["A", "B", "C"]


def test_who_answered_and_how_it_was_asked_is_kept() -> None:
    _, found = imported(log([sample(RECORDS[0])]))
    row = found.row(0, named=True)
    assert (row["requested_model"], row["access_route"], row["protocol"]) == ("gpt-x", "imported", "inspect")
    assert (row["params_requested"], row["params_sent"]) == ('{"temperature":0.5}', "{}")
    assert json.loads(row["prompt"])[0] == {"role": "system", "content": "Choose."}
    assert row["asked_at"] == "2026-11-29T23:59:59.000+00:00"
    assert "inspect log (success) from a.eval, SHA-256" in row["collector"]
    other = imported(log([sample(RECORDS[0])], steps=[{"solver": "multiple_choice", "params": {"cot": True}}]))[1]
    assert other["protocol_hash"][0] != row["protocol_hash"]


def test_what_a_partial_log_lacks_is_not_asked() -> None:
    partial = log(
        [sample(RECORDS[0]), sample(RECORDS[0], 2), sample(RECORDS[1], 2)],
        status="cancelled",
        ids=[raw["id"] for raw in RECORDS],
    )
    run, found = imported(partial)
    assert found.height == 4 * 2
    assert found["failure"].value_counts().drop_nulls().rows() == [("not_asked", 5)]
    assert (run.entry.state, run.entry.epochs) == ("sealed", 2)


def test_imported_answers_keep_the_contracts_in_whatever_order_they_were_shown(tmp_path: Path) -> None:
    """Inspect shows the options of an item in the same order at every epoch."""
    shown = [sample(raw, epoch, orders(3)[place]) for place, raw in enumerate(RECORDS) for epoch in (1, 2)]
    run, found = imported(log(shown, ids=[raw["id"] for raw in RECORDS], epochs=3))
    part = Partition(run, "stereoset-intersentence", "en", "inspect")
    files = declared(tmp_path, [part])
    broken = [
        result
        for each in check(contracts(files, judgeable(found, files["file"][0])))
        for result in each.results
        if not result.success
    ]
    assert broken == []


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (log([sample(RECORDS[0])], task="inspect_evals/bbq"), "a.eval is a log of the task inspect_evals/bbq, not of stereoset; import logs of inspect_evals/stereoset."),
        (log([sample(RECORDS[0]), sample(RECORDS[1], id="01")]), "a.eval: 1 of 2 samples are of no item that is loaded, the first is 01; import logs of StereoSet's development set."),
        (log([sample(RECORDS[0]), sample(RECORDS[0])]), f"a.eval: sample {RECORDS[0]['id']}, epoch 1 is there twice; keep one of them."),
        (log([sample(RECORDS[0], choices=["a", "b", "c"])]), f"a.eval: sample {RECORDS[0]['id']}, epoch 1 has other choices than the item; import logs of the data set that is loaded."),
        (log([sample(RECORDS[0], text="Another.")]), f"a.eval: sample {RECORDS[0]['id']}, epoch 1 has another context than the item; import logs of the data set that is loaded."),
    ],
)  # fmt: skip
def test_a_log_that_does_not_fit_is_one_sentence(made: Log, sentence: str) -> None:
    with pytest.raises(DataError) as caught:
        matched(made, loaded())
    assert str(caught.value) == sentence


def test_all_samples_that_do_not_fit_are_listed() -> None:
    made = log([sample(RECORDS[0], text="Another."), sample(RECORDS[1], choices=[]), sample(RECORDS[2], id="1")])
    with pytest.raises(DataError, match=r"^a\.eval does not fit in 3 places, so nothing is imported:") as caught:
        matched(made, loaded())
    assert len(str(caught.value).splitlines()) == 4


def test_two_options_of_one_text_are_told_apart_by_their_labels() -> None:
    raw = {**RECORDS[0], "sentences": [{**each, "sentence": "Same."} for each in RECORDS[0]["sentences"]]}
    questions = matched(log([sample(raw, order=(2, 0, 1))]), loaded([raw]))
    assert questions["stereoset-intersentence"][0].order_index == orders(3).index((2, 0, 1))


def test_choices_that_inspect_shuffled_are_read_by_their_text() -> None:
    """Its gold labels stay in the order of the data set then."""
    shuffled = sample(RECORDS[0], order=(1, 2, 0), meanings=[each["gold_label"] for each in RECORDS[0]["sentences"]])
    _, found = imported(log([shuffled]))
    assert judge(found)["outcome"].to_list() == [RECORDS[0]["sentences"][2]["gold_label"]]


def test_of_many_samples_that_do_not_fit_some_are_listed() -> None:
    made = log([sample(RECORDS[0], epoch, text="Another.") for epoch in range(1, 31)])
    with pytest.raises(DataError, match=r"^a\.eval does not fit in 30 places") as caught:
        matched(made, loaded())
    assert str(caught.value).splitlines()[-1] == "  … and 10 more"


def test_an_exported_sample_says_what_was_asked_answered_and_judged() -> None:
    judged = make_judgements(coin)
    header, samples = exported(make_answers(judged), judged)
    assert (header["task"], header["status"], header["epochs"]) == ("bias_checkup/checkup.en.two", "success", 2)
    assert len(header["ids"]) * 2 == len(samples) == judged.height
    control = next(each for each in samples if each["metadata"]["domain"] == "control")
    assert [control["score"]["answer"]] == control["target"] != []
    assert control["score"]["value"] == "correct"


def test_what_was_never_asked_has_no_sample_but_an_id() -> None:
    judged = make_judgements(coin)
    answered = make_answers(judged).with_columns(
        pl.when(pl.int_range(pl.len()) == 3).then(pl.lit("not_asked")).alias("failure")
    )
    header, samples = exported(answered, judged)
    assert (header["status"], len(samples), len(header["ids"])) == ("cancelled", judged.height - 1, judged.height // 2)


def test_without_inspect_the_sentence_says_how_to_get_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    for call in (
        lambda: import_inspect(project, Path("a.eval"), "m", None, None),
        lambda: export_inspect(project, "m@2026-11-30", None),
    ):
        with pytest.raises(
            UsageError, match=r"^Logs of Inspect need the library inspect-ai, which is not installed; install"
        ):
            call()
