"""`checkup sql`: formats, files, pipes and the prompt; and that it only reads."""

import io
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import polars as pl
import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from typer.testing import CliRunner

from flows.cli import app
from flows.options import FileFormat, Format
from flows.printing import show
from flows.prompt import HISTORY, Prompt, completer
from stages.errors import CheckupError, UsageError
from stages.report import Session
from stages.score import score
from tests import factories as f
from tests.conftest import ROOT, make_project

SMALL = {"occupation": (1, 1, 0), "control": (1, 1, 0)}
RUN = "model-a@2026-11-30"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sql")
    make_project(folder)
    rows = f.make_judgements(f.always_stereotype, f.make_questions([RUN], styles=["direct"], groups=SMALL))
    f.record(folder, rows, score(rows))
    return folder


@pytest.fixture(scope="module")
def session(root: Path) -> Iterator[Session]:
    with Session(root) as opened:
        yield opened


def command(root: Path, *arguments: str, stdin: str | None = None) -> str:
    found = CliRunner(env={"CHECKUP_ROOT": str(root)}).invoke(app, ["sql", *arguments], input=stdin)
    assert found.exit_code == 0, found.exception
    return found.output


FRAME = pl.DataFrame({"a": ["x|y\nz", None], "n": [1.23456, None], "l": [[1, 2], []]})
SHOWN = {
    "csv": 'a,n,l\n"x|y\nz",1.23456,"[1, 2]"\n,,[]\n',
    "json": '[{"a":"x|y\\nz","n":1.23456,"l":[1,2]},{"a":null,"n":null,"l":[]}]\n',
    "markdown": "| a | n | l |\n| --- | --: | --- |\n| x\\|y<br>z | 1.235 | [1, 2] |\n| – | – | [] |\n",
    "table": "a        n  l     \nx|y  1.235  [1, 2]\nz                 \n–        –  []    \n",
}


@pytest.mark.parametrize("form", SHOWN)
def test_a_format_is_the_same_printed_and_in_a_file(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    show(FRAME, form)
    show(FRAME, form, tmp_path / "out")
    assert capsys.readouterr().out == SHOWN[form]
    assert (tmp_path / "out").read_text(encoding="utf-8") == SHOWN[form]


def test_parquet_goes_to_a_file_or_a_pipe_and_not_to_a_terminal(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    show(FRAME, "parquet", tmp_path / "out.parquet")
    assert pl.read_parquet(tmp_path / "out.parquet").equals(FRAME)
    show(FRAME, "parquet")
    assert pl.read_parquet(io.BytesIO(capsysbinary.readouterr().out)).equals(FRAME)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    with pytest.raises(UsageError, match="name a file with --output"):
        show(FRAME, "parquet")


def test_files_have_every_format_of_the_screen() -> None:
    assert {each.value for each in Format} < {each.value for each in FileFormat} == {*SHOWN, "parquet"}


def test_a_query_from_an_argument_a_file_and_a_pipe(root: Path, tmp_path: Path) -> None:
    text = "select run, n_expected from runs"
    (tmp_path / "q.sql").write_text(f"-- 一个问题\n{text};\n", encoding="utf-8")
    expected = f"run,n_expected\n{RUN},8\n"
    assert command(root, text, "--format", "csv") == expected
    assert command(root, "--file", str(tmp_path / "q.sql"), "--format", "csv") == expected
    assert command(root, "--format", "csv", stdin=f"{text}; select 1 as a;\n") == f"{expected}a\n1\n"
    assert command(root, "--output", str(tmp_path / "o.csv"), "--format", "csv", stdin=f"select 1; {text}") == ""
    assert (tmp_path / "o.csv").read_text(encoding="utf-8") == expected


REFUSED = {
    ("a", "--file", "b.sql"): "two questions",
    ("--file", "nowhere.sql"): r"nowhere\.sql cannot be read: No such file",
    ("",): "empty",
    ("from runs", "--output", "/proc/x/y.csv"): "cannot be written",
}


@pytest.mark.parametrize("arguments", REFUSED)
def test_what_cannot_be_done_is_one_sentence(root: Path, arguments: tuple[str, ...]) -> None:
    found = CliRunner(env={"CHECKUP_ROOT": str(root)}).invoke(app, ["sql", *arguments])
    assert isinstance(found.exception, CheckupError)
    assert re.search(REFUSED[arguments], str(found.exception))


WRITING = (
    "copy (select 1) to 'DATA/x.parquet'",
    "explain analyze copy (select 1) to 'DATA/x.parquet'",
    "explain (analyze) copy (select 1) to 'DATA/x.parquet'",
    "explain explain analyze copy (select 1) to 'DATA/x.parquet'",
    "/* explain */ explain analyze copy (select 1) to 'DATA/x.parquet'",
    "select 1; attach 'DATA/x.db' as x",
    "export database 'DATA/x'",
    "install httpfs",
    "load httpfs",
    "set enable_external_access = true",
    "set allowed_directories = ['/']",
    "copy (pivot runs on model) to 'DATA/x.csv'",
    "/* from */ copy (from (pivot runs on model)) to 'DATA/x.csv'",
    "explain analyze copy (pivot runs on model) to 'DATA/x.csv'",
    "prepare p as copy (select 1) to 'DATA/x.csv'",
    "pragma profiling_output = 'DATA/x.json'",
    "call enable_logging(storage = 'file', storage_path = 'DATA/x')",
    "import database 'DATA'",
    "from read_text('ROOT/params.yaml')",
    "from read_csv('/etc/passwd')",
    "from glob('/etc/*')",
    "from 'DATA/../params.yaml'",
    "create persistent secret s (type http, bearer_token 'x')",
)


@pytest.mark.parametrize("text", WRITING)
def test_nothing_is_written_and_nothing_else_is_read(session: Session, text: str) -> None:
    before = sorted(session.root.rglob("*"))
    data = session.root / "data"
    with pytest.raises(UsageError):
        session.ask(text.replace("DATA", str(data)).replace("ROOT", str(session.root)))
    assert sorted(session.root.rglob("*")) == before


READING = {
    "-- a comment\nexplain select '-- copy'": 1,
    "describe runs": 20,
    "explain analyze from runs": 1,
    "pivot (from outcomes) on outcome using sum(n) group by run": 1,
    "create temp table t as from runs; select count(*) from t": 1,
    "create macro double(x) as 2 * x; select double(4)": 1,
    "set variable x = 3; select getvariable('x')": 1,
    "summarize scores": 10,
    "select count(*) from files.answers": 1,
    "SELECT * FROM Runs": 1,
    'from "runs"': 1,
    "from duckdb_views() where not internal and schema_name = 'main' and comment like '%one row per%'": 20,
    "show tables": 20,
}


@pytest.mark.parametrize("text", READING)
def test_whatever_only_reads_is_answered(session: Session, text: str) -> None:
    assert session.ask(text).height >= READING[text]


def test_a_query_opens_only_what_it_names(root: Path) -> None:
    with Session(root) as session:
        session.ask("select count(*) from scores")
        assert set(session.opened) == {"scores"}
        session.ask("from latest")
        assert set(session.opened) == {"scores"}
        session.ask("from outcomes")
        assert set(session.opened) == {"scores", "judgements"}


def typed(session: Session, *keys: str) -> None:
    with create_pipe_input() as pipe:
        for key in keys:
            pipe.send_text(key)
        pipe.send_text("\x04")
        Prompt(session, FileFormat.CSV, pipe, DummyOutput()).run()


CONVERSATION = {
    "a statement over lines": (("select run\n", "from runs;\n"), f"run\n{RUN}\n", ""),
    "a semicolon in a string": (("select 'a;\n", "b' as x;\n"), 'x\n"a;\nb"\n', ""),
    "an empty line": (("\n",), "", ""),
    "an error, and on": (("selec 1;\n", "select 1 as a;\n"), "a\n1\n", "syntax error"),
    "help": ((".help\n",), "Ctrl-D ends", ""),
    "tables": ((".tables\n",), "one row per run of the ledger", ""),
    "schema": ((".schema latest\n",), "the scored run of the same model", ""),
    "no view": ((".schema lates\n",), "", "There is no view 'lates'"),
    "no command": ((".drop\n",), "", "There is no .drop; .help lists"),
    "Ctrl-C drops the line": (("select nonsense\x03", "select 2 as b;\n"), "b\n2\n", ""),
}


@pytest.mark.parametrize("case", CONVERSATION)
def test_the_prompt(session: Session, case: str, capsys: pytest.CaptureFixture[str]) -> None:
    keys, said, wrong = CONVERSATION[case]
    typed(session, *keys)
    out, err = capsys.readouterr()
    assert said in out
    assert wrong in err
    assert err.count("\n") == bool(wrong)


@pytest.mark.parametrize(
    ("text", "word"),
    [("from lates", "latest"), ("select order_dec", "order_decided"), (".sch", ".schema"), ("sel", "select")],
)
def test_words_are_completed(session: Session, text: str, word: str) -> None:
    found = list(completer(session, (".schema",)).get_completions(Document(text), CompleteEvent()))
    assert word in [each.text for each in found]
    assert all(each.start_position == -len(text.split()[-1]) for each in found)


def test_what_was_asked_comes_back_with_the_arrow_keys(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    typed(session, "select 41 as c;\n")
    capsys.readouterr()
    typed(session, "\x1b[A", "\n")
    assert "c\n41\n" in capsys.readouterr().out
    assert "select 41 as c;" in (session.root / HISTORY).read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_prompt_in_a_terminal(root: Path) -> None:
    """The command in a real pseudo-terminal: banner, a result drawn as a table, Ctrl-D, exit code 0."""
    main, other = pty.openpty()
    environment = {**os.environ, "CHECKUP_ROOT": str(root), "PYTHONPATH": str(ROOT), "TERM": "xterm"}
    child = subprocess.Popen(
        [sys.executable, "-c", "from flows.entry import main; main()", "sql"],
        stdin=other, stdout=other, stderr=other, env=environment, start_new_session=True,
    )  # fmt: skip
    os.close(other)
    try:
        said = until(main, "sql>")
        os.write(main, b"select model, state from runs;\r")
        said += until(main, "sealed") + until(main, "sql>")
        os.write(main, b"\x04")
        assert child.wait(30) == 0
    finally:
        child.kill()
        child.wait()
        os.close(main)
    assert ".help says what can be done" in said


def until(terminal: int, expected: str, seconds: float = 60) -> str:
    """What the terminal shows up to ``expected``; answers where it is asked for the cursor."""
    said, deadline = "", time.monotonic() + seconds
    while expected not in said:
        assert time.monotonic() < deadline, said
        if select.select([terminal], [], [], 0.2)[0]:
            new = os.read(terminal, 4096).decode(errors="replace")
            said += new
            if "\x1b[6n" in new:
                os.write(terminal, b"\x1b[1;1R")
    return said


def test_the_history_as_one_file(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It needs none of our files: it opens where there are none."""
    target = tmp_path / "to hand on" / "history.duckdb"
    found = CliRunner(env={"CHECKUP_ROOT": str(root)}).invoke(app, ["export", "history", "--output", str(target)])
    assert found.exit_code == 0, found.exception
    assert found.output == f"History: {target}\n"
    monkeypatch.chdir(tmp_path)
    with duckdb.connect(str(target), read_only=True, config={"enable_external_access": "false"}) as handed:
        assert handed.sql("select count(*) from answers").fetchall() == [(8,)]
        views = handed.sql("select count(*) from duckdb_views() where not internal").fetchall()
        comment = handed.sql("select comment from duckdb_tables() where table_name = 'runs'").fetchall()
    assert views == [(0,)]
    assert comment == [("one row per run of the ledger, retired ones too",)]
    assert [path.name for path in target.parent.iterdir()] == ["history.duckdb"]
