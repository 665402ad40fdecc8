"""Questions about the texts that another run wrote, put to whoever reads them, a judge model or a person: blind, as the texts
are masked and neither ids nor sides are shown.

The items of the benchmark are its questions; each is put about every text. They are made of answers, never of judgements, which
rest on the answers of all runs, those of the readers among them.
"""

from functools import lru_cache
from io import BytesIO
from pathlib import Path

import polars as pl

from stages.errors import DataError, LedgerError, UsageError
from stages.hashing import item_hash
from stages.ledger import Ledger, Run, named, read_ledger, runs
from stages.lexicon import masked, words
from stages.reasoning import unreasoned
from stages.schema import ANSWERS, ITEMS, LANGUAGES, MAN, OPEN, RUBRIC, TWO_SIDED, WOMAN
from stages.store import partitions, read_all, read_items

NAMES = Path("data") / "checkup" / "names.csv"
LEAST_WORDS, LEAST_DISTINCT = 20, 10
"""Words, and different ones, that a reply must have to be a text that says anything."""
PLAIN_PROTOCOL = "open"
"""The protocol whose texts are read under their own ids; those of another have its name behind."""
TEXT = ("protocol", "item_id", "epoch", "variant")
"""What tells apart the texts of a run in one language."""


def readable(ledger: Ledger, root: Path, run_id: str) -> tuple[str, ...]:
    """The languages in which ``run_id`` wrote texts, all of which are here.

    :raises UsageError: there is no such run, it is retired, or it has no texts, or not all of them yet.
    """
    run = named(ledger, run_id)
    if run.entry.retired:
        raise UsageError(f"Run {run_id} is retired, so its texts are not read; name another with --reads.")
    if OPEN not in run.entry.benchmarks:
        raise UsageError(f"Run {run_id} wrote no texts; --reads takes a run that was asked {OPEN} (see: checkup runs).")
    parts = [part for part in partitions(run) if part.benchmark == OPEN]
    lacking = [part for part in parts if not part.path(root, ANSWERS).exists()]
    if lacking:
        mend = "fetch them with: dvc pull" if run.entry.state == "sealed" else "ask for them first: checkup run"
        raise UsageError(f"Run {run_id} has not all of its texts here, {lacking[0].name} is missing; {mend}.")
    return tuple(dict.fromkeys(part.language for part in parts))


def unread(ledger: Ledger, run: Run) -> None:
    """:raises UsageError: another run reads ``run``, and what it says is about texts that would be gone."""
    readers = [other.id for other in runs(ledger, retired=True) if other.entry.reads == run.id]
    if readers:
        raise UsageError(f"Run {run.id} is read by {readers[0]}; forget that first: checkup forget {readers[0]}.")


def read_run(root: Path, run: Run) -> Run:
    """The run that ``run`` reads.

    :raises LedgerError: it is not in the ledger any more.
    """
    try:
        return named(read_ledger(root), run.entry.reads or "")
    except UsageError as error:
        raise LedgerError(
            f"Run {run.id} reads {run.entry.reads}, which is not in runs/; restore the ledger with: git checkout runs."
        ) from error


def texts(root: Path, run: Run, language: str) -> pl.DataFrame:
    """The texts of ``run`` that can be read, masked: ``TEXT``, ``domain``, ``target``, ``status``, ``text``.

    :raises DataError: a file of its answers is not here or does not fit.
    """
    found = written(root, run, language)
    return found.with_columns(masked(found["text"], language, names(root)).alias("text"))


def written(root: Path, run: Run, language: str) -> pl.DataFrame:
    """The same as they were written.

    A text is read where its partner, the other side of its pair in the same epoch, is one, too: both sides or neither.

    :raises DataError: a file of its answers is not here or does not fit.
    """
    parts = [part for part in partitions(run) if part.benchmark == OPEN and part.language == language]
    lacking = [part for part in parts if not part.path(root, ANSWERS).exists()]
    if lacking:
        raise DataError(f"The texts of {lacking[0]} are not here; fetch them with: dvc pull.")
    replies = read_all(root, parts, ANSWERS).filter(
        pl.col("domain").is_in(TWO_SIDED),
        pl.col("variant").is_in([WOMAN, MAN]),
        pl.col("failure").is_null(),
        pl.col("stop_reason").ne_missing("content_filter"),
    )
    said = replies.with_columns(_without_reasoning().alias("text"))
    said = said.with_columns(words(said["text"], language).alias("words")).filter(
        pl.col("words").list.len() >= LEAST_WORDS, pl.col("words").list.n_unique() >= LEAST_DISTINCT
    )
    both = said.filter(pl.col("variant").n_unique().over("protocol", "item_id", "epoch") == 2).sort(TEXT)
    return both.select(*TEXT, "domain", "target", "status", "text")


def _without_reasoning() -> pl.Expr:
    return unreasoned(pl.col("reply").fill_null("")).str.strip_chars()


def names(root: Path) -> list[str]:
    """The names of all persons that texts are about, in every language.

    :raises DataError: the file of names is not here, or is no such table.
    """
    path = root / NAMES
    try:
        return list(_names(path.read_bytes()))
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(
            f"{path} is not here, or is no CSV table; restore it with: git checkout {NAMES.as_posix()}."
        ) from error


@lru_cache(maxsize=4)
def _names(content: bytes) -> tuple[str, ...]:
    frame = pl.read_csv(BytesIO(content), comment_prefix="#", infer_schema=False)
    return tuple(name for language in LANGUAGES for name in frame[f"name_{language}"].drop_nulls().unique().sort())


def id_of(item_id: str, epoch: int, protocol: str, question: str) -> str:
    """The id of an item of the rubric, the same on both sides of a pair of texts."""
    plain = f"{item_id}-{epoch}-{question}"
    return plain if protocol == PLAIN_PROTOCOL else f"{plain}@{protocol}"


def with_question(found: pl.DataFrame) -> pl.DataFrame:
    """``found`` (``item_id``, ``epoch``, ``protocol`` of texts, and a ``question``) with ``read_as``, the id of its item."""
    parts = ("item_id", "epoch", "protocol", "question")
    ids = [id_of(*row) for row in found.select(parts).iter_rows()]
    return found.with_columns(pl.Series("read_as", ids, pl.String))


def items(root: Path, run: Run, language: str) -> pl.DataFrame:
    """The items that a run asks which reads ``run``: every question about every text in ``language``, rows of ``schema.ITEMS``.

    :raises DataError: the questions were not loaded, or the texts are not here.
    """
    questions = read_items(root, RUBRIC).filter(language=language)
    asked = questions.select("language", "task", "frame", "style", "typed", "options", *_renamed("domain", "text"))
    found = texts(root, run, language).drop("domain").join(asked, how="cross")
    about = with_question(found.rename({"question_domain": "question"}))
    made = about.select(
        pl.lit(RUBRIC).alias("benchmark"),
        *("language", "variant", "target", "style", "typed", "status", "task", "frame", "options"),
        pl.col("read_as").alias("item_id"),
        pl.col("question").alias("domain"),
        pl.concat_str("text", "question_text", separator="\n\n").alias("text"),
        pl.lit(None, pl.String).alias("source"),
        pl.lit(None, pl.Float64).alias("women_share"),
    )
    return ITEMS.conform(made.with_columns(item_hash()).select(ITEMS.schema.names()), RUBRIC)


def _renamed(*columns: str) -> list[pl.Expr]:
    return [pl.col(column).alias(f"question_{column}") for column in columns]
