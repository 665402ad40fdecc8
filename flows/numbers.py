"""With which definitions numbers were made, and what docs/changelog-of-numbers.md says of the way from one to the other."""

import re
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from stages.store import VERSION_KEY

CHANGELOG = "docs/changelog-of-numbers.md"


def metrics_version(path: Path) -> int | None:
    """The version of the definitions that the scores in ``path`` were made with; null where the file has none."""
    found = pl.scan_parquet(path, glob=False).select("metrics_version").head(1).collect()
    return int(found.item()) if found.height else None


def metrics_versions(paths: Iterable[Path]) -> set[int]:
    return {version for path in paths if (version := metrics_version(path)) is not None}


def schema_version(path: Path) -> int | None:
    """The version of the tables' shape that ``path`` was written under; null in a file from before files said so."""
    found = pl.read_parquet_metadata(path).get(VERSION_KEY)
    return None if found is None else int(found)


def explained(root: Path, before: set[int], after: set[int]) -> str:
    """Which versions of the definitions made the numbers ``before`` and ``after``, and what the changelog says between them."""
    if not before or not after:
        return ""
    first, last = min(before), max(after)
    if first == last:
        return (
            f"METRICS_VERSION {last} made both, so no change of the numbers is declared: where code or patterns changed them, "
            f"raise it in stages/schema/labels.py and add a section to {CHANGELOG}."
        )
    low, high = sorted((first, last))
    told = [text for version, text in sorted(sections(root).items()) if low < version <= high]
    head = f"METRICS_VERSION {first} → {last}; {CHANGELOG} says:"
    return (
        "\n\n".join([head, *told]) if told else f"METRICS_VERSION {first} → {last}, of which {CHANGELOG} says nothing."
    )


def sections(root: Path) -> dict[int, str]:
    """Version -> its section in the changelog of numbers; empty where the project in ``root`` has no changelog."""
    path = root / CHANGELOG
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    parts = re.split(r"^## (\d+)$", text, flags=re.MULTILINE)[1:]
    return {
        int(version): f"## {version}\n\n{body.strip()}" for version, body in zip(parts[::2], parts[1::2], strict=True)
    }
