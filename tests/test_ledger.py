from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from stages.errors import LedgerError, UsageError
from stages.ledger import Ledger, Run, askable, enter, planned, read_ledger, record, reindex, runs, seal, with_run
from stages.params import Params, read_params
from stages.requests import Request, today
from stages.schema import ANSWERS

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
EMPTY = Ledger(runs={})
GEMMA = Request(model="gemma-3-270m")


@pytest.fixture
def params(project: Path) -> Params:
    return read_params(project)


def after(ledger: Ledger, params: Params, *requests: Request) -> tuple[Ledger, list[Run]]:
    """The ledger and the runs after ``requests`` were planned one after another and each was sealed."""
    made = []
    for request in requests:
        made.append(planned(ledger, params, request, NOW))
        ledger = with_run(ledger, made[-1].with_state("sealed"))
    return ledger, made


def test_a_ledger_reads_back_as_it_was_written(project: Path, params: Params) -> None:
    ledger, _ = after(
        EMPTY, params, GEMMA, Request(model="gemma-3-270m", fresh=True), Request(model="smollm2-135m-instruct")
    )
    for run in runs(ledger):
        record(project, run)
    assert read_ledger(project) == ledger
    first = (project / "runs" / "gemma-3-270m.yaml").read_bytes()
    record(project, next(runs(ledger)))
    assert (project / "runs" / "gemma-3-270m.yaml").read_bytes() == first
    assert b'"2026-11-30":' in first, "a date as a key stays text for every YAML reader"


def test_the_same_request_on_the_same_day_is_the_same_run_and_stays_sealed(params: Params) -> None:
    _, (first, second) = after(EMPTY, params, GEMMA, GEMMA)
    assert (first.id, first.entry.state) == ("gemma-3-270m@2026-11-30", "open")
    assert (second.id, second.entry.state) == (first.id, "sealed")


def test_a_new_language_grows_the_run_and_opens_it_again(params: Params) -> None:
    _, (first, second) = after(EMPTY, params, Request(model="gemma-3-270m", languages=("en",)), GEMMA)
    assert second.id == first.id
    assert second.entry.languages == ("en", "zh")
    assert second.entry.state == "open"


@pytest.mark.parametrize("change", [{"epochs": 4}, {"limit": 5}, {"plan": "full"}, {"seed": 1}, {"fresh": True}])
def test_another_way_of_asking_makes_a_further_run_of_the_day(params: Params, change: dict[str, object]) -> None:
    _, (_, second) = after(EMPTY, params, GEMMA, Request(model="gemma-3-270m", **change))  # type: ignore[arg-type]
    assert second.id == "gemma-3-270m@2026-11-30.2"
    assert second.entry.state == "open"


def test_a_run_of_yesterday_goes_on_but_none_is_made_beside_it(params: Params) -> None:
    ledger, (first,) = after(EMPTY, params, Request(model="gemma-3-270m", languages=("en",)))
    tomorrow, request = NOW + timedelta(days=1), Request(model="gemma-3-270m", date="2026-11-30")
    grown = planned(ledger, params, request, tomorrow)
    assert (grown.id, grown.entry.languages) == (first.id, ("en", "zh"))
    for change in ({"fresh": True}, {"seed": 1}):
        with pytest.raises(UsageError, match="a new run is of the day it is asked on, 2026-12-01"):
            planned(ledger, params, replace(request, **change), tomorrow)


def test_a_date_with_a_number_names_that_run(params: Params) -> None:
    ledger, _ = after(EMPTY, params, GEMMA, Request(model="gemma-3-270m", fresh=True))
    run = planned(ledger, params, Request(model="gemma-3-270m", date="2026-11-30.2"), NOW)
    assert run.id == "gemma-3-270m@2026-11-30.2"


DATES = [
    ("2026-11-30T17:30Z", "Asia/Shanghai", "2026-12-01"),
    ("2026-11-30T15:59:59Z", "Asia/Shanghai", "2026-11-30"),
    ("2026-11-30T16:00Z", "Asia/Shanghai", "2026-12-01"),
    ("2026-11-30T17:30Z", "UTC", "2026-11-30"),
    ("2026-12-01T07:59Z", "America/Los_Angeles", "2026-11-30"),
    ("2026-06-30T06:59Z", "America/Los_Angeles", "2026-06-29"),
    ("2026-12-31T23:00Z", "Pacific/Kiritimati", "2027-01-01"),
    ("2026-12-31T14:00+14:00", "Pacific/Kiritimati", "2026-12-31"),
    ("2026-03-29T00:30Z", "Europe/Berlin", "2026-03-29"),
    ("2026-10-24T22:30Z", "Europe/Berlin", "2026-10-25"),
]


@pytest.mark.parametrize(("instant", "zone", "date"), DATES)
def test_the_date_of_a_new_run_is_that_of_its_start_in_the_zone(
    params: Params, instant: str, zone: str, date: str
) -> None:
    now = datetime.fromisoformat(instant)
    assert today(zone, now) == date
    for settings, asked in ((params, zone), (params.model_copy(update={"timezone": zone}), None)):
        run = planned(EMPTY, settings, replace(GEMMA, timezone=asked), now)
        assert run.stamp == date
        # The same day again goes on with it; only another plan or --fresh makes a further one.
        ledger = with_run(EMPTY, run.with_state("sealed"))
        again = [
            planned(ledger, settings, replace(GEMMA, timezone=asked, **change), now).stamp
            for change in ({}, {"date": date}, {"plan": "full"}, {"fresh": True})
        ]
        assert again == [date, date, f"{date}.2", f"{date}.2"]


def test_the_zone_of_the_request_overrides_that_of_the_settings(params: Params) -> None:
    now = datetime(2026, 11, 30, 17, 30, tzinfo=UTC)
    with pytest.raises(UsageError, match=r"2026-12-01 in Asia/Shanghai; leave --date out"):
        planned(EMPTY, params, replace(GEMMA, timezone="Asia/Shanghai", date="2026-11-30"), now)
    sentence = r"^--timezone: 'Asia/Peking' is not an IANA time zone such as 'Asia/Shanghai'; correct it\.$"
    with pytest.raises(UsageError, match=sentence):
        planned(EMPTY, params, replace(GEMMA, timezone="Asia/Peking"), now)


def test_a_deterministic_model_is_asked_each_order_once(params: Params) -> None:
    entry = planned(EMPTY, params, Request(model="gemma-3-270m", plan="full"), NOW).entry
    assert (entry.epochs, entry.each_order_once) == (6, True)
    asked = planned(EMPTY, params, Request(model="gemma-3-270m", plan="full", epochs=12), NOW).entry
    assert (asked.epochs, asked.each_order_once) == (12, False), "who asks for epochs gets them"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"epochs": 3}, "--epochs 4"),
        ({"model": "gpt"}, "no model 'gpt'"),
        ({"languages": ("fr",)}, "no language 'fr'"),
        ({"protocols": ("four",)}, "no protocol 'four'"),
        ({"plan": "slow"}, "no plan 'slow'"),
        ({"date": "2026-11-29"}, "--date 2026-11-29: a new run is of the day it is asked on, 2026-11-30 in UTC; leave"),
        ({"date": "2026-12-01"}, "--date 2026-12-01: a new run is of the day"),
        ({"date": "30.11.2026"}, "write it as YYYY-MM-DD"),
        ({"date": "2026-02-30"}, "not a day of the calendar"),
    ],
)
def test_a_wrong_request_says_what_is_there(params: Params, change: dict[str, object], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        planned(EMPTY, params, Request(**({"model": "gemma-3-270m"} | change)), NOW)  # type: ignore[arg-type]


def test_an_open_run_is_asked_while_young_and_refused_when_old(params: Params) -> None:
    run = planned(EMPTY, params, GEMMA, NOW)
    assert askable(run, params, NOW + timedelta(hours=47))
    with pytest.raises(LedgerError, match=r"checkup run --model gemma-3-270m --date 2026-11-30 --seal"):
        askable(run, params, NOW + timedelta(hours=49))
    assert not askable(run.with_state("sealed"), params, NOW)


def test_runs_come_in_order_of_model_and_date(params: Params) -> None:
    ledger, _ = after(EMPTY, params, *(Request(model="gemma-3-270m", fresh=True) for _ in range(11)))
    assert [run.stamp for run in runs(ledger)][-2:] == ["2026-11-30.10", "2026-11-30.11"]


def test_recording_keeps_what_others_recorded(project: Path, params: Params) -> None:
    record(project, planned(EMPTY, params, GEMMA, NOW))
    record(project, planned(EMPTY, params, Request(model="smollm2-135m-instruct"), NOW))
    assert sorted(read_ledger(project).runs) == ["gemma-3-270m", "smollm2-135m-instruct"]


def test_a_run_that_grew_while_it_was_asked_is_not_sealed(project: Path, params: Params) -> None:
    asked = enter(project, params, Request(model="gemma-3-270m", languages=("en",)), NOW)
    grown = enter(project, params, Request(model="gemma-3-270m", languages=("zh",)), NOW)
    assert grown.entry.languages == ("en", "zh")
    assert seal(project, asked).entry.state == "open"
    assert next(runs(read_ledger(project))).entry == grown.entry
    assert seal(project, grown).entry.state == "sealed"
    assert next(runs(read_ledger(project))).entry.state == "sealed"


def test_a_run_that_is_sealed_again_keeps_the_numbers_it_was_sealed_with(project: Path, params: Params) -> None:
    def answer(run: Run, language: str, items: int) -> None:
        path = run.file(project, ANSWERS, ("checkup", language, "two"))
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = {"item_id": [f"item-{i // 2}" for i in range(2 * items)], "variant": ["single"] * 2 * items}
        pl.DataFrame(rows).write_parquet(path)

    first = enter(project, params, Request(model="gemma-3-270m", languages=("en",)), NOW)
    answer(first, "en", 3)
    assert seal(project, first).entry.items == {"checkup.en.two": 3}
    grown = enter(project, params, Request(model="gemma-3-270m", languages=("zh",)), NOW)
    answer(grown, "en", 2)
    answer(grown, "zh", 3)
    assert seal(project, grown).entry.items == {"checkup.en.two": 3, "checkup.zh.two": 3}
    (sealed,) = runs(read_ledger(project))
    assert sealed.entry.items == {"checkup.en.two": 3, "checkup.zh.two": 3}
    assert len({sealed, *runs(read_ledger(project))}) == 1, "runs are keys, also with numbers in their entry"


def test_an_old_run_does_not_grow_and_keeps_its_age(params: Params) -> None:
    old = planned(
        EMPTY, params, Request(model="gemma-3-270m", languages=("en",), date="2026-11-01"), NOW - timedelta(days=29)
    )
    for state in ("open", "sealed"):
        ledger = with_run(EMPTY, old.with_state(state))
        with pytest.raises(LedgerError, match="older than 48 hours"):
            planned(ledger, params, Request(model="gemma-3-270m", languages=("zh",), date="2026-11-01"), NOW)
    young = planned(
        with_run(EMPTY, old), params, Request(model="gemma-3-270m", date="2026-11-01"), NOW - timedelta(days=28)
    )
    assert young.entry.opened == old.entry.opened


def test_the_ledger_is_what_lies_in_its_folder(project: Path, params: Params) -> None:
    """Whatever git does to the index: it is DVC's, and made anew before DVC records anything."""
    enter(project, params, GEMMA, NOW)
    (project / "runs.yaml").write_text("asked: []\n", encoding="utf-8")
    assert [run.model for run in runs(read_ledger(project))] == ["gemma-3-270m"]
    reindex(project)
    assert "gemma-3-270m" in (project / "runs.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "runs/gemma-3-270m.yaml is empty; restore it with: git checkout runs/gemma-3-270m.yaml, or delete it"),
        ("# only this\n", "runs/gemma-3-270m.yaml is empty"),
        ("2026-11-30: {state: open}\n", 'the date 2026-11-30 stands without quotes, .*; write "2026-11-30":'),
        ("2026-11-30T10:00:00: {state: open}\n", "stands without quotes"),
        ("'2026-11-31': {state: open}\n", "'2026-11-31' is not a day of the calendar"),
        ("- a\n", "gemma-3-270m.yaml, key 'runs': Input should be a valid dictionary"),
    ],
)
def test_a_damaged_file_of_runs_says_how_to_mend_it(project: Path, text: str, sentence: str) -> None:
    (project / "runs" / "gemma-3-270m.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=sentence):
        read_ledger(project)


def test_digits_of_other_scripts_are_no_date(params: Params) -> None:
    with pytest.raises(UsageError, match="is not a date"):
        planned(EMPTY, params, Request(model="gemma-3-270m", date="２０２６-11-02"), NOW)


def asked(run: Run) -> set[str]:
    return {f"{benchmark}.{protocol}" for benchmark, _, protocol in run.entry.asks}


def test_only_what_fits_each_other_is_asked(params: Params) -> None:
    both = Request("gemma-3-270m", "full", benchmarks=("checkup", "checkup-b"))
    run = planned(EMPTY, params, both, NOW)
    assert asked(run) == {"checkup.two", "checkup.three", "checkup.closed", "checkup-b.two", "checkup-b.three"}


def test_growing_by_a_benchmark_asks_no_other_pair_of_benchmark_and_protocol(params: Params) -> None:
    first = planned(EMPTY, params, Request("gemma-3-270m", "full", protocols=("closed",)), NOW)
    ledger = with_run(EMPTY, first)
    second = planned(ledger, params, Request("gemma-3-270m", "full", ("checkup-b",), (), ("two",)), NOW)
    assert second.id == first.id
    assert asked(second) == {"checkup.closed", "checkup-b.two"}
    again = planned(with_run(ledger, second), params, Request("gemma-3-270m", "full", protocols=("two",)), NOW)
    assert asked(again) == {"checkup.closed", "checkup-b.two", "checkup.two"}


STEREOSET = Request("gemma-3-270m", "stereoset")


@pytest.mark.parametrize("epochs", [1, 2, 3, 6, 12])
def test_stereoset_takes_few_epochs_as_its_orders_are_balanced_over_items(params: Params, epochs: int) -> None:
    assert planned(EMPTY, params, replace(STEREOSET, epochs=epochs), NOW).entry.epochs == epochs


def test_stereoset_is_asked_in_the_languages_it_has(params: Params) -> None:
    assert planned(EMPTY, params, STEREOSET, NOW).entry.languages == ("en",)
    assert planned(EMPTY, params, replace(STEREOSET, languages=("pt",)), NOW).entry.languages == ("pt",)
    with pytest.raises(UsageError, match="Language zh does not fit"):
        planned(EMPTY, params, replace(STEREOSET, languages=("en", "zh")), NOW)


def test_what_is_named_twice_is_asked_once(params: Params) -> None:
    twice = Request("gemma-3-270m", "full", ("checkup",) * 2, ("en", "zh", "en"), ("two", "two"))
    entry = planned(EMPTY, params, twice, NOW).entry
    assert (entry.benchmarks, entry.languages, entry.protocols) == (("checkup",), ("en", "zh"), ("two",))


def test_a_temperature_is_another_way_of_asking_and_repeats_are_no_repeats_then(params: Params) -> None:
    _, (first, warm, again) = after(
        EMPTY, params, STEREOSET, replace(STEREOSET, temperature=0.7), replace(STEREOSET, temperature=0.7)
    )
    assert [run.id for run in (first, warm, again)] == [f"gemma-3-270m@2026-11-30{n}" for n in ("", ".2", ".2")]
    assert (first.entry.each_order_once, warm.entry.each_order_once) == (True, False)
    assert planned(EMPTY, params, replace(STEREOSET, temperature=0), NOW).entry.each_order_once


def test_the_order_of_asking_is_kept_but_asks_nothing_else(project: Path, params: Params) -> None:
    _, (first, second) = after(EMPTY, params, replace(STEREOSET, shuffle=True), STEREOSET)
    assert first.id == second.id
    record(project, first)
    assert next(runs(read_ledger(project))).entry.shuffle


def test_likelihoods_are_asked_once_whatever_the_epochs(params: Params) -> None:
    both = replace(STEREOSET, protocols=("choice", "likelihood"), epochs=6)
    assert planned(EMPTY, params, both, NOW).entry.asked_once == ("likelihood",)
    _, (_, grown) = after(EMPTY, params, STEREOSET, replace(STEREOSET, protocols=("likelihood",)))
    assert (grown.id, grown.entry.asked_once) == ("gemma-3-270m@2026-11-30", ("likelihood",))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"model": "smollm2-135m-instruct"}, "Model smollm2-135m-instruct cannot be asked: .* add `likelihood` to it"),
        ({"temperature": 1.0}, "--temperature draws no answer of likelihood"),
    ],
)
def test_a_likelihood_that_cannot_be_asked_for_is_one_sentence(
    params: Params, change: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UsageError, match=sentence):
        planned(EMPTY, params, replace(Request("gemma-3-270m", "stereoset-likelihood"), **change), NOW)


def test_a_language_that_a_benchmark_lacks_is_left_out(project: Path, params: Params) -> None:
    """And one that no benchmark has is refused."""
    only_english = params.model_copy(update={"benchmarks": {"checkup": ["en", "zh"], "checkup-b": ["en"]}})
    request = Request("gemma-3-270m", "quick", benchmarks=("checkup", "checkup-b"))
    run = planned(EMPTY, only_english, request, NOW)
    assert {(b, language) for b, language, _ in run.entry.asks} == {
        ("checkup", "en"),
        ("checkup", "zh"),
        ("checkup-b", "en"),
    }
    record(project, run)
    assert read_ledger(project).runs["gemma-3-270m"]["2026-11-30"].asks == run.entry.asks


def test_a_model_that_is_forgotten_while_the_ledger_is_read_has_no_runs(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file is gone after the folder was listed; that is no error, as it would not be a moment later."""
    (project / "runs").mkdir(exist_ok=True)
    gone = project / "runs" / "model-a.yaml"
    monkeypatch.setattr(Path, "glob", lambda *_: iter([gone]))
    assert read_ledger(project).runs == {}
