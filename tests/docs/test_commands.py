"""Every command that the documents show exists, takes those options, and works."""

import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from flows.cli import app
from stages.report.history import query
from tests.conftest import ROOT
from tests.docs.markdown import DOCUMENTS, code_lines, name, read, spans

COMMANDS: dict[str, Any] = vars(typer.main.get_command(app))["commands"]
_CALL = re.compile(r"(?:^|(?:^|\s)\.venv/bin/)checkup (.+)")


@cache
def calls() -> tuple[tuple[str, ...], ...]:
    """The words after ``checkup`` of every call in the documents."""
    lines = (line for path in DOCUMENTS for line in code_lines(read(path)))
    found = (_CALL.search(line) for line in lines)
    return tuple(sorted({tuple(shlex.split(call[1], comments=True)) for call in found if call}))


def queries() -> list[str]:
    return [words[1] for words in calls() if words[0] == "sql" and len(words) > 1]


def options() -> set[str]:
    return {
        option
        for command in COMMANDS.values()
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }


@pytest.mark.parametrize("words", calls(), ids=" ".join)
def test_a_call_is_understood(words: tuple[str, ...]) -> None:
    assert words[0] in COMMANDS
    if len(words) > 1:
        COMMANDS[words[0]].make_context(words[0], list(words[1:]))


def test_the_documents_show_calls() -> None:
    assert {words[0] for words in calls()} >= {"run", "plan", "models", "runs", "sql", "report"}
    assert len(queries()) >= 4


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_an_option_named_alone_exists(path: Path) -> None:
    named = {span.split()[0] for span in spans(read(path)) if span.startswith("--")}
    assert named <= options()


@pytest.mark.parametrize("text", queries())
def test_a_query_works_on_an_empty_history(project: Path, text: str) -> None:
    assert query(project, text).columns


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_a_target_of_make_exists(path: Path) -> None:
    targets = set(re.findall(r"^([\w-]+):", read(ROOT / "Makefile"), flags=re.MULTILINE))
    named = {found[1] for line in code_lines(read(path)) if (found := re.match(r"make ([\w-]+)", line))}
    assert named <= targets


NAMED = [
    *sorted(ROOT.glob("flows/**/*.py")),
    *sorted(ROOT.glob("stages/**/*.py")),
    *sorted(ROOT.glob("reports/templates/*.json")),
]


@pytest.mark.parametrize("path", [path for path in NAMED if "checkup " in read(path)], ids=name)
def test_a_command_that_the_program_names_exists(path: Path) -> None:
    named = set(re.findall(r"(?<![\w-])checkup ([a-z]+)", read(path)))
    assert named <= set(COMMANDS)


@pytest.mark.parametrize("path", [path for path in NAMED if "docs/" in read(path)], ids=name)
def test_a_document_that_the_program_names_exists(path: Path) -> None:
    named = set(re.findall(r"(?<![\w/])docs/[\w/-]+\.md", read(path)))
    assert [document for document in sorted(named) if not (ROOT / document).exists()] == []
