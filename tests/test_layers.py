"""Dependencies point one way: flows -> stages -> schema, and each heavy library has one home."""

import ast
from pathlib import Path

import pytest

from tests.conftest import ROOT

STAGES = {"load", "validate", "query", "judge", "reduce", "score", "report"}
HOMES: dict[str, str | tuple[str, ...]] = {
    "litellm": "stages/query",
    "aiohttp": "stages/query",
    "httpx": ("stages/download.py", "stages/query", "flows"),
    "xllamacpp": "stages/query",
    "great_expectations": "stages/validate",
    "duckdb": "stages/report",
    "jinja2": ("stages/report", "stages/validate"),
    "altair": "stages/report",
    "itables": "stages/report",
    "inspect_ai": "stages/inspect_logs.py",
    "prefect": "flows",
    "prefect_dask": "flows/cluster.py",
    "distributed": "flows/cluster.py",
    "dask": "flows/cluster.py",
    "typer": "flows",
}
FILES = sorted([*(ROOT / "stages").rglob("*.py"), *(ROOT / "flows").rglob("*.py")])


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def stage_of(path: Path) -> str | None:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return parts[1] if parts[0] == "stages" and parts[1] in STAGES else None


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_file_imports_only_what_it_may(path: Path) -> None:
    named, own = imports(path), stage_of(path)
    inside = str(path.relative_to(ROOT))
    used = {parts[1] for parts in (name.split(".") for name in named) if parts[0] == "stages" and len(parts) > 1}
    if inside.startswith("stages"):
        assert not any(name.split(".")[0] == "flows" for name in named)
        assert used & STAGES <= {own}, "a stage never imports another stage"
    strangers = {name.split(".")[0] for name in named if name.split(".")[0] in HOMES}
    assert {name for name in strangers if not inside.startswith(HOMES[name])} == set()


def test_the_rule_sees_the_files_it_is_about() -> None:
    assert {stage_of(path) for path in FILES} - {None} == STAGES
    assert "litellm" in {name.split(".")[0] for path in FILES for name in imports(path)}
