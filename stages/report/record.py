"""What the page says about the data itself: contracts, coverage, failures, unreadable replies, provenance, sources."""

from collections import defaultdict
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import duckdb
import polars as pl

from stages.errors import DataError
from stages.report.evidence import LATEST, NOT_ASKED, Row, part_of, rows
from stages.report.items import cut
from stages.schema import METRICS_VERSION, SCHEMA_VERSION

SOURCES = "data/checkup/sources.csv"
EXAMPLES = 5
"""So many unreadable replies are shown per run and language."""
UNUSABLE = ("invalid", "empty", "truncated", "error", "judge-invalid", NOT_ASKED)


@dataclass(frozen=True)
class Coverage:
    """Questions of one run in one language and protocol by how they ended."""

    run: str
    language: str
    protocol: str
    expected: int
    asked: int
    usable: float
    """Percent of the expected answers."""
    outcomes: list[tuple[str, int]]


def contracts(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, list[Row]]]:
    """(suite, its expectations), broken ones first."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows(connection, "from contracts order by suite, success, position"):
        found[row["suite"]].append(row)
    return list(found.items())


def coverage(connection: duckdb.DuckDBPyConnection) -> list[Coverage]:
    """How the latest runs' answers ended."""
    found: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    query = f"""
        from endings {LATEST}
        order by run, benchmark, protocol, language, n desc, ending
    """
    for row in rows(connection, query):
        found[row["run"], row["language"], row["protocol"]].append(row)
    return [_coverage(key, ended) for key, ended in found.items()]


def _coverage(key: tuple[str, str, str], ended: list[Row]) -> Coverage:
    expected = sum(row["n"] for row in ended)
    asked = sum(row["n"] for row in ended if row["ending"] != NOT_ASKED)
    usable = sum(row["n"] for row in ended if row["ending"] not in UNUSABLE)
    return Coverage(*key, expected, asked, 100 * usable / expected, [(row["ending"], row["n"]) for row in ended])


def failures(connection: duckdb.DuckDBPyConnection) -> list[Row]:
    """Questions of the latest runs that got no reply, by kind."""
    return rows(connection, f"from failures {LATEST} order by run, protocol, language, n desc, failure")


def unusable(connection: duckdb.DuckDBPyConnection) -> list[Row]:
    """The most frequent replies of the latest runs that no rule could read; ``text`` is what to show of each."""
    found = rows(
        connection,
        f"""
        from unusable {LATEST}
        qualify row_number() over (partition by run, benchmark, language, protocol order by n desc, reply) <= {EXAMPLES}
        order by run, protocol, language, n desc, reply
        """,
    )
    return [{**row, "text": cut(row["reply"]), "length": len(row["reply"] or "")} for row in found]


def provenance(connection: duckdb.DuckDBPyConnection) -> list[tuple[Row, list[Row]]]:
    """(run, what was asked in each language and protocol, with what of it was ``sent_back``), runs with answers only."""
    asked: dict[str, list[Row]] = defaultdict(list)
    sent_back = {part_of(row): row for row in rows(connection, "from drafts")}
    for row in rows(connection, "from provenance"):
        asked[row["run"]].append(row | {"sent_back": sent_back.get(part_of(row))})
    return [(run, asked[run["run"]]) for run in rows(connection, "from runs where not retired") if asked[run["run"]]]


def versions() -> dict[str, int]:
    return {"schema_version": SCHEMA_VERSION, "metrics_version": METRICS_VERSION}


def sources(root: Path) -> list[Row]:
    """The sources that type the concepts; none where the project has no such file.

    :raises DataError: the file is not a CSV table in UTF-8.
    """
    path = root / SOURCES
    if not path.exists():
        return []
    try:
        content = path.read_bytes().decode("utf-8-sig")
        return pl.read_csv(BytesIO(content.encode()), comment_prefix="#", infer_schema=False).to_dicts()
    except (UnicodeDecodeError, pl.exceptions.PolarsError) as error:
        raise DataError(f"{path} is not a CSV table in UTF-8; correct the file.") from error
