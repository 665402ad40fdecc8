"""validate: Great Expectations contracts on items and on recorded answers; no call and no score on data that breaks one.

Both functions write their results (``schema.CONTRACTS``) to ``reports/validation/<name>.parquet`` and the Data Docs to
``reports/validation/docs-<name>/``, and only then let broken contracts stop the pipeline. Call them from one thread.
"""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from stages.ledger import read_ledger
from stages.params import read_params
from stages.schema import ANSWERS, CONTRACTS, ITEMS, PUBLISHED
from stages.stamps import Stamps
from stages.store import VALIDATION, Partition, items_path, published_path, read_unchecked, recorded, write
from stages.validate import answers, items, published
from stages.validate.contracts import Checkable
from stages.validate.docs import INDEX, write_docs
from stages.validate.expectations import Checked, check
from stages.validate.known import Known
from stages.validate.results import gate, table
from stages.validate.tables import columns, fits

__all__ = ["check_items", "docs_index", "validate_answers", "validate_items"]

MEND = {
    "items": "correct the items' source and run: dvc repro load",
    "answers": "restore the file with: dvc checkout",
}


def docs_index(name: str) -> str:
    """Where the Data Docs of ``items`` or ``answers`` begin, from the project's root."""
    return f"{VALIDATION}/docs-{name}/{INDEX}"


def validate_items(root: Path) -> None:
    """Check the items of every benchmark that params.yaml names, and other people's figures; not again what was found good.

    :raises ContractBroken: a rule does not hold; the message names suite, rule, file and the first rows that break it.
    :raises DataError: the items of a benchmark are not there, or it has no contracts.
    """
    benchmarks = read_params(root).benchmarks
    stamps = Stamps.read(root, "validate", "items")
    inputs = [*(items_path(root, benchmark) for benchmark in benchmarks), published_path(root)]
    if stamps.kept("items", inputs, " ".join(benchmarks)):
        return
    checkables = [c for benchmark in benchmarks for c in _of_items(root, benchmark)]
    _publish(root, "items", check([*checkables, *_of_published(root)]))
    outputs = [root / VALIDATION / "items.parquet", root / docs_index("items")]
    stamps.put("items", inputs, outputs, " ".join(benchmarks))
    stamps.save()


def check_items(benchmark: str, frame: pl.DataFrame, file: str, mend: str) -> None:
    """Hold items that are not in the project yet to the contracts of ``benchmark``; nothing is written.

    :raises ContractBroken: a rule does not hold; the message names it, ``file``, the first rows that break it, and ``mend``.
    """
    checked = check(items.contracts(benchmark, frame, file))
    gate([result for each in checked for result in each.results], mend)


def _of_items(root: Path, benchmark: str) -> list[Checkable]:
    path = items_path(root, benchmark)
    frame, file = read_unchecked(path), path.relative_to(root).as_posix()
    shape = columns(f"items-{benchmark}-columns", ITEMS, {file: frame.schema}, file)
    if not fits(ITEMS, frame.schema):
        return [shape]
    return [shape, *items.contracts(benchmark, frame, file)]


def _of_published(root: Path) -> list[Checkable]:
    path = published_path(root)
    frame, file = read_unchecked(path), path.relative_to(root).as_posix()
    shape = columns("published-columns", PUBLISHED, {file: frame.schema}, file)
    return [shape, *published.contracts(frame, file)] if fits(PUBLISHED, frame.schema) else [shape]


def validate_answers(root: Path) -> None:
    """Check every recorded file of answers of the ledger's runs. Where nothing is recorded, nothing can be broken.

    :raises ContractBroken: a rule does not hold; the message names suite, rule, file and the first rows that break it.
    :raises LedgerError: the ledger and the files disagree.
    """
    parts = recorded(root, read_ledger(root), ANSWERS)
    if not parts:
        write(root / VALIDATION / "answers.parquet", CONTRACTS, CONTRACTS.empty())
        write_docs(root / VALIDATION / "docs-answers", "answers", [])
        return
    known = Known.read(root, parts)
    changed = known.unknown()
    checked = check(_of_answers(root, changed))
    if all(result.success for each in checked for result in each.results):
        checked = known.whole(checked, changed)
    elif len(changed) < len(parts):  # what is found is said of all of them
        checked = check(_of_answers(root, parts))
    _publish(root, "answers", checked)


def _of_answers(root: Path, parts: Sequence[Partition]) -> list[Checkable]:
    files = answers.declared(root, parts)
    schemas, facts = {}, []
    for file in files["file"]:
        frame = ANSWERS.upgraded(read_unchecked(root / file))
        schemas[file] = frame.schema
        if fits(ANSWERS, frame.schema):
            facts.append(answers.judgeable(frame, file))
    checkables = [columns("answers-columns", ANSWERS, schemas, answers.FOLDER)]
    if len(facts) == len(schemas):
        checkables += answers.contracts(files, pl.concat(facts))
    return checkables


def _publish(root: Path, name: str, checked: Sequence[Checked]) -> None:
    """Write what was found, and only then stop at what is broken."""
    results = [result for each in checked for result in each.results]
    write(root / VALIDATION / f"{name}.parquet", CONTRACTS, table(results))
    write_docs(root / VALIDATION / f"docs-{name}", name, checked)
    gate(results, MEND[name], docs_index(name))
