"""Every contract on answers, broken by one small edit of a run's files."""

from itertools import permutations
from pathlib import Path

import polars as pl
import pytest

from stages.errors import ContractBroken
from stages.ledger import read_ledger, runs
from stages.orders import order_index
from stages.schema import ANSWERS
from stages.store import Partition, read, recorded
from stages.structs import DRAFT
from stages.validate import drafts
from stages.validate.answers import contracts, declared, judgeable
from stages.validate.contracts import Checkable
from stages.validate.expectations import check
from stages.validate.results import gate
from tests.validate.broken import Case, broken, put, rules, twice, without
from tests.validate.offers import OPTIONS, lettered, option, scored

FOLDER = "data/answers/model=gemma-3-270m/run=2026-11-30"
FILE = f"{FOLDER}/checkup.zh.two.parquet"
NURSE = "occupation-nurse-direct"


def at(epoch: int) -> pl.Expr:
    return (pl.col("item_id") == NURSE) & (pl.col("language") == "zh") & (pl.col("epoch") == epoch)


FIRST = at(1)
NAMED = f"(item_id {NURSE}, variant single, epoch 1"
BAD_NUMBER = pl.concat_list(pl.struct(pl.lit("he").alias("key"), pl.lit(float("nan")).alias("logprob")))
ONE_MORE = pl.concat_list(OPTIONS.list.get(0), OPTIONS)


def sent_back(**changes: object) -> pl.Expr:
    """A draft, which cost a quarter of a dollar."""
    told = {"reply": "he", "reason": "Once more.", "cost": 0.25} | changes
    fields = DRAFT.to_schema()
    return pl.concat_list(pl.struct(pl.lit(told.get(name), dtype).alias(name) for name, dtype in fields.items()))


EACH = [
    ("no value that must be there is missing", put(FIRST, prompt=None), f"{NAMED}, null_column prompt)"),
    (
        "run + benchmark + language + protocol + item_id + variant + epoch names one row",
        twice(FIRST),
        f"2 rows break it: {NAMED}",
    ),
    (
        "an answer is a reply or a failure, and never both",
        put(FIRST, failure="timeout"),
        f"1 row breaks it: {NAMED}, ended reply and failure)",
    ),
    (
        "an answer is a reply or a failure, and never both",
        put(FIRST, reply=None, stop_reason=None),
        f"{NAMED}, ended neither reply nor failure)",
    ),
    ("run is that of the file", put(FIRST, run="gemma-3-270m@2026-11-29"), "run_declared gemma-3-270m@2026-11-30)"),
    ("model is that of the file", put(FIRST, model="gemma-4"), "model gemma-4, model_declared gemma-3-270m)"),
    ("date is that of the file", put(FIRST, date="2026-11-29"), "date 2026-11-29, date_declared 2026-11-30)"),
    ("benchmark is that of the file", put(FIRST, benchmark="stereoset"), "benchmark_declared checkup)"),
    ("language is that of the file", put(FIRST, language="en"), "language en, language_declared zh)"),
    ("protocol is that of the file", put(FIRST, protocol="three"), "protocol three, protocol_declared two)"),
    (
        "access_route is api, web, local, imported or person",
        put(FIRST, access_route="fax"),
        f"{NAMED}, access_route fax)",
    ),
    ("typed is male, female or none", put(FIRST, typed="feminine"), f"{NAMED}, typed feminine)"),
    ("status is high, ordinary or none", put(FIRST, status="low"), f"{NAMED}, status low)"),
    ("variant is single, woman or man", put(FIRST, variant="foo"), f"(item_id {NURSE}, variant foo, epoch 1)"),
    ("style is direct, situational, scene or none", put(FIRST, style="poem"), f"{NAMED}, style poem)"),
    (
        "domain is occupation, pronoun, family, trait, language, control, untyped, gender, race, religion, profession, story, letter, success, agency, ability or praise",
        put(FIRST, domain="job"),
        f"{NAMED}, domain job)",
    ),
    *(
        ("asked_at is a time in UTC as ISO 8601 writes it", put(FIRST, asked_at=at), f"{NAMED}, asked_at {at})")
        for at in ("yesterday", "2026-11-30T10:00:00+08:00", "2026-11-30 10:00:00")
    ),
    *(
        (
            "the parameters asked for and sent are JSON objects",
            put(FIRST, **{name: text}),
            f"{NAMED}, params_defect {name})",
        )
        for name, text in (("params_sent", "seed=1"), ("params_sent", "[1]"), ("params_requested", ""))
    ),
    *(
        (
            "candidates are options, each once, and a log-probability is at most 0 (imported: any score)",
            put(FIRST, candidates=scored(**values)),
            f"{NAMED}, candidate_defect {defect})",
        )
        for values, defect in (
            ({"keys": ("he", "he")}, "a key twice"),
            ({"keys": ("he", "it")}, "a key that was not offered"),
            ({"logprob": 0.5}, "a log-probability above 0"),
        )
    ),
    *(
        (
            drafts.SAYS,
            put(FIRST, **{"drafts": sent_back(), "protocol": "two+x", "attempts": 2} | values),
            f"draft_defect {defect})",
        )
        for values, defect in (
            ({"drafts": sent_back().list.head(0)}, "an empty list"),
            ({"drafts": sent_back(reply=None)}, "no reply"),
            ({"drafts": sent_back(reason="")}, "no reason"),
            ({"protocol": "two"}, "no mitigation"),
            ({"attempts": 0}, "fewer attempts"),
            ({"cost": 0.1}, "more than all"),
        )
    ),
    ("failure is one word in lower case", put(FIRST, failure="Error: 429"), f"{NAMED}, failure Error: 429)"),
    ("epoch is at least 1", put(FIRST, epoch=0), "epoch 0)"),
    ("order_index is at least 0", put(FIRST, order_index=-1), f"{NAMED}, order_index -1)"),
    ("turn is at least 1", put(FIRST, turn=0), f"{NAMED}, turn 0)"),
    ("task is blank, pick, option or text", put(FIRST, task="draw"), f"{NAMED}, task draw)"),
    ("attempts is at least 0", put(FIRST, attempts=-1), f"{NAMED}, attempts -1)"),
    ("cost is at least 0", put(FIRST, cost=-0.01), f"{NAMED}, cost -0.01)"),
    ("latency is at least 0", put(FIRST, latency=-1.0), f"{NAMED}, latency -1.0)"),
    ("prompt_tokens is at least 0", put(FIRST, prompt_tokens=-1), f"{NAMED}, prompt_tokens -1)"),
    ("completion_tokens is at least 0", put(FIRST, completion_tokens=-1), f"{NAMED}, completion_tokens -1)"),
    ("cached_tokens is at least 0", put(FIRST, cached_tokens=-1), f"{NAMED}, cached_tokens -1)"),
    (
        "at least two answers were offered, and none where a text was wanted",
        put(FIRST, options=OPTIONS.list.head(1)),
        f"{NAMED}, options_defect 1 offered)",
    ),
    (
        "at least two answers were offered, and none where a text was wanted",
        put(FIRST, task="text"),
        f"{NAMED}, options_defect 2 offered)",
    ),
    ("no answer was offered twice", put(FIRST, options=ONE_MORE), f"{NAMED}, n_keys 2, n_options 3)"),
    (
        "an option's outcome is one of stereotype, anti-stereotype, neutral, unrelated, correct, incorrect, gendered, paired, "
        "refusal, filtered, invalid, empty, truncated, error, judge-invalid",
        put(FIRST, options=option(outcome="rude")),
        f"{NAMED}, stray_outcome he)",
    ),
    ("an option's gender is -1, 0, 1 or null", put(FIRST, options=option(gender=5)), f"{NAMED}, stray_gender he)"),
    ("an option's code is -1, 0, 1 or null", put(FIRST, options=option(code=99)), f"{NAMED}, stray_code he)"),
    *(
        (
            "choosing an option means what the group and type of its item say",
            put(FIRST, options=option(**values)),
            f"{NAMED}, stray_meaning he)",
        )
        for values in ({"outcome": "stereotype"}, {"outcome": None}, {"gender": None}, {"gender": -1}, {"code": 0})
    ),
    *(
        (
            "every option has a text, and those of an item differ",
            put(FIRST, options=option(text=text)),
            f"{NAMED}, text_defect {defect})",
        )
        for text, defect in ((None, "blank"), (" ", "blank"), ("她", "alike"))
    ),
    *(
        (
            "options have a letter each, all different, or none has any",
            put(FIRST, **values),
            f"{NAMED}, label_defect {defect})",
        )
        for values, defect in (
            ({"options": option(label="A")}, "missing"),
            ({"options": lettered("A", "A")}, "alike"),
            ({"task": "option"}, "missing"),
        )
    ),
    ("schema_version is from 1 to 3", put(FIRST, schema_version=4), f"{NAMED}, schema_version 4)"),
    ("no number is NaN or infinite", put(FIRST, cost=float("nan")), f"{NAMED}, unreal_column cost)"),
    ("no number is NaN or infinite", put(FIRST, candidates=BAD_NUMBER), f"{NAMED}, unreal_column candidates)"),
]
ITEM = f"(item_id {NURSE}, variant single, "
GRIDS = [
    ("an item is answered at every epoch exactly once", without(FIRST), f"{ITEM}epochs 2, epochs_declared 1 2)"),
    ("an item is answered at every epoch exactly once", put(FIRST, epoch=2), f"{ITEM}epochs 2 2, epochs_declared 1 2)"),
    (
        "an item is shown in every order equally often, or in as many as it has epochs",
        put(FIRST, order_index=1 - pl.col("order_index")),
        "orders_declared 0 1)",
    ),
    (
        "item_hash is that of the item's text and answers, wherever all were offered",
        put(FIRST, options=option(gender=0)),
        f"{ITEM}hash_made ",
    ),
    (
        "an item is the same at every epoch, and offers the same answers",
        put(FIRST, target="midwife"),
        f"{ITEM}askings 2)",
    ),
    (
        "an item is the same at every epoch, and offers the same answers",
        put(FIRST, options=option(outcome="stereotype")),
        f"{ITEM}askings 2)",
    ),
    (
        "an item's answers are shown in all their orders, or in as many as it has epochs",
        put(FIRST, options=OPTIONS.list.reverse()),
        f"{ITEM}shown 1, n_shown 2)",
    ),
    (
        "an order_index always means the same order",
        lambda frame: pl.concat([frame, frame.filter(FIRST).with_columns(OPTIONS.list.reverse())]),
        f"{ITEM}arrangements 3, n_shown 2)",
    ),
]
ITEMS = [
    (
        "an item is there in every language and protocol, a pair with both sides",
        without(pl.col("item_id") == NURSE),
        f"{FILE} 1 row breaks it: (item_id {NURSE}, sides missing)",
    ),
    (
        "an item is there in every language and protocol, a pair with both sides",
        lambda frame: frame.with_columns(
            variant=pl.when(pl.col("item_id") == NURSE).then(pl.lit("man")).otherwise("variant")
        ),
        f"(item_id {NURSE}, sides man)",
    ),
]
FILES = [
    ("a file holds at least one answer", without(pl.col("language") == "zh"), f"{FILE} 1 row breaks it: (answers 0)"),
    (
        "a file holds one answer per item and epoch",
        without(FIRST),
        f"{FILE} 1 row breaks it: (answers 179, expected 180)",
    ),
    (
        "a file was asked under one protocol hash",
        put(FIRST, protocol_hash="other"),
        f"{FILE} 1 row breaks it: (protocol_hashes 2)",
    ),
    (
        "a file holds as many items as the ledger says that were asked",
        without(pl.col("item_id") == NURSE),
        f"{FILE} 1 row breaks it: (items 89, items_declared 90)",
    ),
    (
        "a file has no more items than the ledger's limit",
        lambda frame: frame,
        f"(beyond_limit 85); (file {FILE}, beyond_limit 85)",
    ),
]
SUITES = {"answers": EACH, "answers-grids": GRIDS, "answers-items": ITEMS, "answers-files": FILES}
CASES = [Case(suite, *case) for suite, cases in SUITES.items() for case in cases]


@pytest.fixture(scope="module")
def parts(asked: Path) -> list[Partition]:
    return recorded(asked, read_ledger(asked), ANSWERS)


@pytest.fixture(scope="module")
def frames(asked: Path, parts: list[Partition]) -> dict[str, pl.DataFrame]:
    """File -> its answers."""
    paths = [part.path(asked, ANSWERS) for part in parts]
    return {path.relative_to(asked).as_posix(): read(path, ANSWERS) for path in paths}


def of(
    asked: Path, parts: list[Partition], frames: dict[str, pl.DataFrame], limit: int | None = None
) -> list[Checkable]:
    facts = pl.concat([judgeable(frame, file) for file, frame in frames.items()])
    files = declared(asked, parts).with_columns(pl.lit(limit, pl.Int64).alias("limit"))
    return contracts(files, facts)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_small_edit_breaks_the_rule_and_the_sentence_names_the_row(
    asked: Path, parts: list[Partition], frames: dict[str, pl.DataFrame], case: Case
) -> None:
    limit = 5 if "limit" in case.rule else None
    result = broken(of(asked, parts, {**frames, FILE: case.edit(frames[FILE])}, limit), case)
    assert not result.success
    assert result.sentence().startswith(f"{case.suite}: {case.rule}, but in {FOLDER}/checkup.")
    assert case.names in result.sentence()


def test_every_rule_has_a_case(asked: Path, parts: list[Partition], frames: dict[str, pl.DataFrame]) -> None:
    assert rules(of(asked, parts, frames)) == {(case.suite, case.rule) for case in CASES}


def test_a_sealed_run_says_how_many_items_were_asked_and_an_older_one_need_not(
    asked: Path, parts: list[Partition], frames: dict[str, pl.DataFrame]
) -> None:
    (run,) = runs(read_ledger(asked))
    assert run.entry.items == {"checkup.en.two": 90, "checkup.zh.two": 90}
    older = declared(asked, parts).with_columns(items_declared=pl.lit(None, pl.Int64))
    facts = pl.concat([judgeable(frame, file) for file, frame in frames.items()])
    (checked,) = check(contracts(older, facts)[-1:])
    gate(checked.results, "mend it", "findings")


EMPTY_REPLIES = [
    {"reply": ""},
    {"reply": None, "stop_reason": "content_filter"},
    {"reply": None, "stop_reason": "length", "reasoning": "He or she?"},
]


@pytest.mark.parametrize("values", EMPTY_REPLIES, ids=str)
def test_an_empty_reply_and_none_with_a_stop_reason_are_answers(
    asked: Path, parts: list[Partition], frames: dict[str, pl.DataFrame], values: dict[str, object]
) -> None:
    edited = {**frames, FILE: put(FIRST, **values)(frames[FILE])}
    case = Case("answers", "an answer is a reply or a failure, and never both", put(FIRST), "")
    assert broken(of(asked, parts, edited), case).success


def of_three_options(one: pl.DataFrame, indices: list[int]) -> pl.DataFrame:
    """The answer ``one``, as if a third option had been offered, at as many epochs as ``indices`` has orders."""
    options = sorted((dict(o) for o in one["options"][0]), key=lambda o: o["key"])
    options.append({**options[0], "key": "they", "text": "TA", "outcome": "neutral", "gender": 0})
    arranged = [[options[i] for i in order] for order in permutations(range(3))]
    epochs = pl.DataFrame(
        {
            "epoch": range(1, len(indices) + 1),
            "order_index": indices,
            "options": [arranged[index] for index in indices],
        },
        schema={name: ANSWERS.schema[name] for name in ("epoch", "order_index", "options")},
    )
    return one.drop("epoch", "order_index", "options").join(epochs, how="cross").select(ANSWERS.schema.names())


def hold(asked: Path, parts: list[Partition], answers: pl.DataFrame) -> None:
    """Hold ``answers`` of one item to a ledger that gives it as many epochs and a limit of 1."""
    files = declared(asked, parts).filter(pl.col("file") == FILE)
    numbers = {"epochs": answers.height, "limit": 1, "items_declared": 1}
    files = files.with_columns(pl.lit(number, pl.Int64).alias(name) for name, number in numbers.items())
    for checked in check(contracts(files, judgeable(answers, FILE))):
        gate(checked.results, "mend it", "findings")


def test_a_run_with_a_limit_and_six_orders_keeps_its_contracts(
    asked: Path, parts: list[Partition], frames: dict[str, pl.DataFrame]
) -> None:
    """Not only the two orders of the quick plan: three answers, each order twice."""
    hold(asked, parts, of_three_options(frames[FILE].filter(FIRST), [i % 6 for i in range(12)]))


@pytest.mark.parametrize("epochs", [1, 2, 3])
def test_fewer_epochs_than_orders_begin_where_the_item_does(
    asked: Path, parts: list[Partition], frames: dict[str, pl.DataFrame], epochs: int
) -> None:
    """So that over items every order is met, though no item meets them all."""
    one = frames[FILE].filter(FIRST)
    hold(asked, parts, of_three_options(one, [order_index(NURSE, epoch + 1, 6) for epoch in range(epochs)]))
    elsewhere = [order_index(NURSE, epoch + 2, 6) for epoch in range(epochs)]
    with pytest.raises(ContractBroken, match="or in as many as it has epochs"):
        hold(asked, parts, of_three_options(one, elsewhere))


def test_epochs_that_no_order_divides_are_no_grid(
    asked: Path, parts: list[Partition], frames: dict[str, pl.DataFrame]
) -> None:
    with pytest.raises(ContractBroken, match="equally often"):
        hold(asked, parts, of_three_options(frames[FILE].filter(FIRST), [i % 6 for i in range(8)]))


def test_sentences_that_were_scored_may_stand_in_any_one_order(
    asked: Path, parts: list[Partition], frames: dict[str, pl.DataFrame]
) -> None:
    scored = (
        frames[FILE]
        .filter(FIRST)
        .with_columns(pl.lit(None, pl.String).alias("reply"), pl.lit("scored").alias("stop_reason"))
    )
    for index in range(6):
        hold(asked, parts, of_three_options(scored, [index]))
