"""A stage of dvc.yaml depends on every module that its results come from, so that DVC makes them anew when one changes."""

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tests.conftest import ROOT
from tests.test_layers import STAGES, imports

PLUMBING = {
    *(
        "command",
        "derive",
        "download",
        "entries",
        "errors",
        "files",
        "ledger",
        "locks",
        "mitigations",
        "params",
        "protocols",
        "requests",
        "roster",
        "settings",
        "stamps",
        "stopping",
        "store",
    ),
}
"""Modules that say where things are and how they are read and written; no row depends on them. What of the settings a stage
reads stands in its ``params``."""
PACKAGES = {
    "load": "load",
    "validate": "validate",
    "check": "validate",
    **{s: s for s in ("judge", "reduce", "score", "report")},
}
"""Stage of dvc.yaml -> its module. That of ``query`` has none: a sealed run does not change with the program."""


def files(name: str) -> list[Path]:
    folder = ROOT / "stages" / name
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]


def read_by(name: str) -> set[str]:
    """The modules beside the stages that stage ``name`` imports, directly or through others but for plumbing."""
    found: set[str] = set()
    todo = [name]
    while todo:
        named = {module for path in files(todo.pop()) for module in imports(path)}
        own = {parts[1] for parts in (module.split(".") for module in named) if parts[0] == "stages" and len(parts) > 1}
        new = own - found - STAGES - PLUMBING
        found |= new
        todo += new
    return found


@pytest.mark.parametrize(("stage", "module"), PACKAGES.items())
def test_a_stage_depends_on_the_modules_it_imports(stage: str, module: str) -> None:
    graph = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    declared = {Path(dep).stem for dep in graph[stage]["deps"] if dep.startswith("stages/")}
    assert declared == {module, *read_by(module)}


def test_who_reads_the_benchmarks_of_the_settings_depends_on_them() -> None:
    graph = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    readers = {s for s, m in PACKAGES.items() if any("stages.params.read_params" in imports(path) for path in files(m))}
    assert {stage for stage in graph if graph[stage].get("params") == ["benchmarks"]} == readers - {"check"}


def test_every_module_is_plumbing_or_read_by_a_stage() -> None:
    beside = {path.parent.name for path in (ROOT / "stages").glob("*/__init__.py")}
    beside |= {path.stem for path in (ROOT / "stages").glob("*.py")}
    beside -= {"__init__", *STAGES}
    outside = {"cells", "differences", "imports", "inspect_logs", "inspect_runs", "scores_file"}
    assert beside - PLUMBING - outside == {module for stage in PACKAGES.values() for module in read_by(stage)}
