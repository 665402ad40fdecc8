"""A checkout with other line ends, or without fonts, gives the same numbers and the same page. (cases 37, 50)"""

from pathlib import Path

import pytest

from stages.judge import _patterns
from stages.ledger import read_ledger
from stages.params import read_params
from stages.query.prompts import protocol_hash
from stages.report import report_all
from stages.score import score
from tests import factories as f
from tests.conftest import ROOT
from tests.judge.test_replies import _judged

TEXTS = (".csv", ".yaml", ".sql", ".j2", ".json", ".css")


def with_crlf(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.suffix in TEXTS:
            path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))


def test_the_page_the_ledger_and_the_protocol_hash_do_not_know_line_ends(project: Path) -> None:
    rows = f.make_judgements(f.coin, f.make_questions(language="zh", groups={"occupation": (2, 2, 0)}))
    f.record(project, rows, score(rows))
    params, ledger, page = read_params(project), read_ledger(project), report_all(project).read_bytes()
    with_crlf(project)
    again = read_params(project)
    assert again == params
    assert read_ledger(project) == ledger
    for model, entry in params.models.items():
        for protocol, wording in params.protocols.items():
            assert protocol_hash(again.protocols[protocol], again.models[model]) == protocol_hash(wording, entry)
    assert report_all(project).read_bytes() == page
    assert b"\r" not in page


def test_the_patterns_read_replies_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _judged()
    other = tmp_path / "patterns.csv"
    other.write_bytes(_patterns.FILE.read_bytes().replace(b"\n", b"\r\n"))
    monkeypatch.setattr(_patterns, "FILE", other)
    _patterns.patterns.cache_clear()
    try:
        assert _judged() == before
    finally:
        _patterns.patterns.cache_clear()


def test_git_gives_every_text_with_lf() -> None:
    """Item hashes and DVC go by bytes, so no setting of the user's git may change them."""
    assert "* text=auto eol=lf" in (ROOT / ".gitattributes").read_text(encoding="utf-8").splitlines()
