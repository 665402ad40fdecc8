"""Builders of test data. Questions and responders are apart, so that one responder can fill any table of answers.
Those of pairs are in pairs.py.

``make_questions`` gives the grid that is asked, a responder gives for each question what it replies (an option's key,
or an outcome such as ``refusal``), and ``judged`` makes JUDGEMENTS of both.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import polars as pl

from stages import entries, ledger, store
from stages.orders import order_index, orders
from stages.reduce import reduce
from stages.schema import ANSWERS, COMPARISONS, JOINED, JUDGEMENTS, SCORES, STYLES, VOTES, WORD_PROFILES, Outcome
from stages.score import word_profiles
from stages.structs import PICK

Responder = Callable[[pl.DataFrame, np.random.Generator], pl.Series]
"""(questions, random numbers) -> for each an option's key (he, she, they) or an outcome (refusal, invalid …)."""

GROUPS = {"occupation": (10, 10, 0), "pronoun": (10, 10, 0), "control": (10, 10, 0), "untyped": (0, 0, 10)}
"""Domain -> how many male-typed, female-typed and untyped concepts."""
GENDERS = {"he": 1, "she": -1, "they": 0}
CODES = {
    "trait": {
        **{"ambitious": 1, "kind": -1, "confident": 1, "warm": -1, "tidy": 0},
        **{"decisive": 1, "patient": -1, "bold": 1, "caring": -1, "punctual": 0},
    },
    "language": {"angry": 1, "tired": 0, "sad": -1},
}
"""Group of pairs -> its options, in canonical order, with their codes."""
_CODE_OF = {key: code for codes in CODES.values() for key, code in codes.items()}
OPTIONS = {"two": ("he", "she"), "three": ("he", "she", "they"), "carried": ("he", "she")}
WORDS = {
    "en": {"he": "he", "she": "she", "they": "they", "refusal": "I can't choose."},
    "zh": {"he": "他", "she": "她", "they": "TA", "refusal": "抱歉，我无法选择。"},
}
"""Language -> what a reply says in words; other outcomes have no words of their own."""


def make_questions(
    runs: Sequence[str] = ("model-a@2026-11-30",),
    language: str = "en",
    protocol: str = "two",
    styles: Sequence[str] = STYLES,
    epochs: int | None = None,
    groups: dict[str, tuple[int, int, int]] = GROUPS,
) -> pl.DataFrame:
    """The grid of every run: each concept in each style, ``epochs`` times (default: every order once).

    Columns: those of JUDGEMENTS that are known before a reply, and ``shown``, the options' keys in the order shown.
    """
    arrangements = orders(len(OPTIONS[protocol]))
    shown = [[OPTIONS[protocol][i] for i in arrangement] for arrangement in arrangements]
    grid = pl.DataFrame(
        [
            {**item, "variant": "single", "epoch": epoch, "order_index": index, "turn": 1, "shown": shown[index]}
            for item in _items(styles, groups)
            for epoch in range(1, (epochs or len(arrangements)) + 1)
            for index in [order_index(item["item_id"], epoch, len(arrangements))]
        ]
    )
    return asked_of(runs, language, protocol, grid)


def asked_of(runs: Sequence[str], language: str, protocol: str, grid: pl.DataFrame) -> pl.DataFrame:
    """``grid`` once for every run."""
    run = pl.DataFrame({"run": list(runs)}).with_columns(
        pl.col("run").str.split("@").list.get(0).alias("model"),
        pl.col("run").str.split("@").list.get(1).str.slice(0, 10).alias("date"),
        pl.lit("checkup").alias("benchmark"),
        pl.lit(language).alias("language"),
        pl.lit(protocol).alias("protocol"),
    )
    return run.join(grid, how="cross")


def _items(styles: Sequence[str], groups: dict[str, tuple[int, int, int]]) -> list[dict[str, str]]:
    return [
        {
            "item_id": f"{domain}-{typed}-{i}-{style}",
            "domain": domain,
            "target": f"{domain}-{typed}-{i}",
            "style": style,
            "typed": typed,
            "status": "none" if typed == "none" else ("high", "ordinary")[i % 2],
            "task": "blank",
        }
        for domain, counts in groups.items()
        for typed, count in zip(("male", "female", "none"), counts, strict=True)
        for i in range(count)
        for style in styles
    ]


def judged(questions: pl.DataFrame, replies: pl.Series, log_odds: pl.Series | None = None) -> pl.DataFrame:
    """JUDGEMENTS of ``questions`` answered by ``replies`` (see ``Responder``), without fail."""
    said = pl.col("said")
    chosen = said.is_in(list(GENDERS))
    frame = questions.with_columns(replies.alias("said")).with_columns(
        said.replace_strict(GENDERS, default=None, return_dtype=pl.Int8).alias("gender")
    )
    frame = frame.with_columns(_outcome().alias("outcome"))
    return JUDGEMENTS.conform(
        frame.select(
            *(c for c in JUDGEMENTS.schema.names() if c in questions.columns),
            pl.when(pl.col("outcome") != Outcome.ERROR).then(pl.lit("served-1")).alias("served_model"),
            pl.col("shown").list.len().cast(pl.Int64).alias("n_options"),
            pl.when(chosen).then(said).alias("choice"),
            pl.when(chosen).then(_position()).alias("position"),
            pl.when(pl.col("outcome").is_in(["refusal", "filtered"])).then(0).otherwise("gender").cast(pl.Int8).alias("gender"),
            pl.lit(None, pl.List(PICK)).alias("picks"),
            pl.lit(None, pl.Int64).alias("code"),
            pl.lit(None, pl.Int64).alias("prefers_related"),
            "outcome",
            pl.lit("given").alias("reason"),
            pl.when(chosen).then(pl.lit("option")).alias("answer_form"),
            pl.lit(False).alias("reasoning_only"),
            *(pl.lit(None, JUDGEMENTS.schema[name]).alias(name) for name in ("n_words", "counts")),
            (pl.lit(None, pl.Float64) if log_odds is None else log_odds).alias("log_odds"),
            _words(),
        )
    )  # fmt: skip


def _outcome() -> pl.Expr:
    """What ``said`` means for a concept of this type in this domain."""
    fits = pl.col("gender") == pl.col("typed").replace_strict({"male": 1, "female": -1}, default=0)
    control, typed = pl.col("domain") == "control", pl.col("typed") != "none"
    return (
        pl.when(pl.col("gender").is_null()).then("said")
        .when(pl.col("gender") == 0).then(pl.lit(Outcome.NEUTRAL))
        .when(~typed).then(pl.lit(Outcome.GENDERED))
        .when(control & fits).then(pl.lit(Outcome.CORRECT))
        .when(control).then(pl.lit(Outcome.INCORRECT))
        .when(fits).then(pl.lit(Outcome.STEREOTYPE))
        .otherwise(pl.lit(Outcome.ANTI_STEREOTYPE))
    )  # fmt: skip


def _position() -> pl.Expr:
    places = [pl.when(pl.col("shown").list.get(i, null_on_oob=True) == pl.col("said")).then(i + 1) for i in range(3)]
    return pl.coalesce(places).cast(pl.Int64)


def _words() -> pl.Expr:
    said = pl.col("said")
    spoken = [
        pl.when(pl.col("language") == language).then(said.replace_strict(words, default=None))
        for language, words in WORDS.items()
    ]
    return pl.coalesce(spoken).alias("reply")


def make_judgements(
    responder: Responder,
    questions: pl.DataFrame | None = None,
    *,
    seed: int = 1,
    controls_right: bool = True,
    log_odds: Responder | None = None,
) -> pl.DataFrame:
    """JUDGEMENTS of ``responder`` over ``questions`` (default: the whole grid, one run).

    Controls are answered rightly unless ``controls_right`` is false; ``log_odds`` gives ln P(he) − ln P(she).
    """
    asked = make_questions() if questions is None else questions
    rng = np.random.default_rng(seed)
    replies = responder(asked, rng)
    if controls_right:
        replies = always_stereotype(asked, rng).zip_with(asked["domain"] == "control", replies)
    return judged(asked, replies, log_odds(asked, rng) if log_odds else None)


def constant(reply: str) -> Responder:
    """A responder that always says ``reply``."""

    def respond(questions: pl.DataFrame, rng: np.random.Generator) -> pl.Series:  # noqa: ARG001
        return pl.Series("said", [reply] * questions.height, dtype=pl.String)

    return respond


def coin(questions: pl.DataFrame, rng: np.random.Generator) -> pl.Series:
    return pl.Series("said", np.where(rng.random(questions.height) < 0.5, "he", "she"))


def always_stereotype(questions: pl.DataFrame, rng: np.random.Generator) -> pl.Series:
    """As the type says (which on controls is right); a coin where there is none."""
    return _by_type({"male": "he", "female": "she"}, questions, rng)


def always_anti(questions: pl.DataFrame, rng: np.random.Generator) -> pl.Series:
    return _by_type({"male": "she", "female": "he"}, questions, rng)


def _by_type(said: dict[str, str], questions: pl.DataFrame, rng: np.random.Generator) -> pl.Series:
    return questions["typed"].replace_strict(said, default=coin(questions, rng))


def always_first(questions: pl.DataFrame, rng: np.random.Generator) -> pl.Series:  # noqa: ARG001
    return questions["shown"].list.first()


def always_last(questions: pl.DataFrame, rng: np.random.Generator) -> pl.Series:  # noqa: ARG001
    return questions["shown"].list.last()


def association(mean: float, spread: float) -> Responder:
    """Says the stereotype with a chance of its own for each concept of a run: uniform in mean ± spread (0…1)."""

    def respond(questions: pl.DataFrame, rng: np.random.Generator) -> pl.Series:
        concept = questions.select(pl.struct("run", "target").rank("dense") - 1).to_series().to_numpy()
        chance = rng.uniform(mean - spread, mean + spread, concept.max() + 1)[concept]
        fits = rng.random(questions.height) < chance
        return always_stereotype(questions, rng).zip_with(pl.Series(fits), always_anti(questions, rng))

    return respond


def mixed(shares: dict[str, float], otherwise: Responder) -> Responder:
    """Says each reply with its share of the questions, at random, and else what ``otherwise`` says."""

    def respond(questions: pl.DataFrame, rng: np.random.Generator) -> pl.Series:
        draw = rng.random(questions.height)
        ends = np.cumsum(list(shares.values()))
        replies = otherwise(questions, rng)
        for reply, end in reversed(list(zip(shares, ends, strict=True))):
            replies = constant(reply)(questions, rng).zip_with(pl.Series(draw < end), replies)
        return replies

    return respond


def make_answers(judgements: pl.DataFrame) -> pl.DataFrame:
    """ANSWERS that could have been judged so; an ``error`` is a timeout, options are shown in their order."""
    judgements = judgements.join(_offered(judgements), on=_OFFERED_BY, how="left", maintain_order="left")
    judgements = judgements.with_columns(pl.col("options").fill_null([]))
    failed = pl.col("outcome") == Outcome.ERROR
    constants = {
        "protocol_hash": "protocol-1", "prompt_hash": "prompt-1", "prompt": "{}", "requested_model": "asked-1",
        "params_requested": '{"temperature":0}', "params_sent": '{"seed":1,"temperature":0}',
        "asked_at": "2026-11-30T10:00:00.000+00:00", "access_route": "local", "vendor": "Vendor", "country": "US",
        "collector": "tests",
    }  # fmt: skip
    frame = judgements.with_columns(
        *(pl.lit(value).alias(name) for name, value in constants.items()),
        (pl.col("target") + ": ____").alias("text"),
        (pl.lit("hash ") + pl.col("item_id")).alias("item_hash"),
        pl.when(failed).then(pl.lit("timeout")).alias("failure"),
        pl.when(failed).then(pl.lit("the call took longer than 60 s")).alias("failure_message"),
        pl.lit(1, pl.Int64).alias("attempts"),
        pl.lit(0.5).alias("latency"),
        pl.lit(1, pl.Int64).alias("schema_version"),
    )
    missing = [pl.lit(None, c.dtype).alias(c.name) for c in ANSWERS.columns if c.name not in frame.columns]
    return ANSWERS.conform(frame.with_columns(missing).select(ANSWERS.schema.names()))


_OFFERED_BY = ("language", "protocol", "order_index", "domain", "typed", "task")


def _offered(judgements: pl.DataFrame) -> pl.DataFrame:
    """The ``options`` that each kind of question shows, in the order shown."""
    asked = judgements.select(_OFFERED_BY).unique(maintain_order=True)
    listed = [
        tuple(CODES.get(domain, OPTIONS.get(protocol.split(JOINED)[0], ())))
        for protocol, domain in asked.select("protocol", "domain").iter_rows()
    ]
    shown = [
        [keys[i] for i in orders(len(keys))[order]] for keys, order in zip(listed, asked["order_index"], strict=True)
    ]
    said, letter = (
        pl.col("said"),
        pl.int_range(pl.len()).over(_OFFERED_BY).replace_strict(dict(enumerate("ABCDEFGHIJ"))),
    )
    options = asked.with_columns(pl.Series("said", shown, pl.List(pl.String))).explode("said", empty_as_null=False).with_columns(
        said.replace_strict(GENDERS, default=None, return_dtype=pl.Int8).alias("gender"),
        said.replace_strict(_CODE_OF, default=None, return_dtype=pl.Int8).alias("code"),
        pl.when(pl.col("task") == "option").then(letter).alias("label"),
        pl.coalesce(_words(), "said").alias("text"),
    )  # fmt: skip
    outcome = pl.when(pl.col("code").is_null()).then(_outcome()).otherwise(pl.lit(Outcome.PAIRED))
    option = pl.struct(said.alias("key"), "label", "text", outcome.alias("outcome"), "gender", "code")
    return options.group_by(_OFFERED_BY, maintain_order=True).agg(option.alias("options"))


def record(
    root: Path, judgements: pl.DataFrame, scores: pl.DataFrame, compared: pl.DataFrame | None = None, **entry: object
) -> None:
    """Write ``judgements``, and the answers, votes, word profiles and scores that belong to them, as sealed runs of the
    ledger; of comparisons those given."""
    answers = make_answers(judgements)
    frames = {JUDGEMENTS: judgements, ANSWERS: answers, VOTES: reduce(judgements), SCORES: scores}
    sparse = {WORD_PROFILES: word_profiles(judgements, answers), COMPARISONS: compared}
    frames |= {table: frame for table, frame in sparse.items() if frame is not None}
    for run, rows in judgements.partition_by("run", as_dict=True).items():
        made = _ledger_run(str(run[0]), rows, entry)
        ledger.record(root, made)
        for part in store.partitions(made):
            of_part = (pl.col("run") == made.id) & (pl.col("language") == part.language)
            of_part &= (pl.col("protocol") == part.protocol) & (pl.col("benchmark") == part.benchmark)
            for table, frame in frames.items():
                own = frame.filter(of_part)
                if own.height or table not in sparse:
                    store.write(part.path(root, table), table, own)


def _ledger_run(run: str, rows: pl.DataFrame, entry: dict[str, object]) -> ledger.Run:
    lists = {f"{c}s": rows[c].unique().sort().to_list() for c in ("benchmark", "language", "protocol", "style")}
    settings = {
        "state": "sealed", "opened": datetime(2026, 11, 30, 10, tzinfo=UTC), "plan": "quick",
        "epochs": int(rows["epoch"].max()), **lists, **entry,  # type: ignore[arg-type]
    }  # fmt: skip
    model, stamp = run.split("@")
    return ledger.Run(model, stamp, entries.Entry.model_validate(settings))
