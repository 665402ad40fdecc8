"""The Data Docs: one page per suite and an index, rendered by Great Expectations into templates of our own.

Great Expectations' own page loads styles, scripts, fonts and a logo from five hosts whenever it is opened, and has a
clock and random ids in it. ``pages/page.html`` takes only its sections, with a style sheet of its own: a page needs no
other file and no network, and the same results give the same bytes.
"""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader

from stages.validate.expectations import Checked, quiet

TEMPLATES = Path(__file__).parent / "pages"
INDEX = "index.html"
_RANDOM = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


def write_docs(folder: Path, title: str, checked: Sequence[Checked]) -> None:
    """Write the pages of ``checked`` into ``folder``, in place of what is there."""
    pages = render(title, checked)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, page in pages.items():
        (folder / name).write_text(page, encoding="utf-8", newline="\n")


def render(title: str, checked: Sequence[Checked]) -> dict[str, str]:
    """File name -> page: the index, and one page per suite."""
    pages = {INDEX: _index(title, [_summary(each) for each in checked])}
    if not checked:
        return pages
    with quiet():
        from great_expectations.render.renderer.page_renderer import ValidationResultsPageRenderer
        from great_expectations.render.view import DefaultJinjaPageView

        view = DefaultJinjaPageView(custom_views_directory=str(TEMPLATES))
        renderer = ValidationResultsPageRenderer()
        for each in checked:
            document = renderer.render(_without_tracebacks(each.outcome))
            page = view.render(document, template="page.html", title=title, suite=_summary(each))
            pages[f"{_suite(each)}.html"] = _settled(page)
    return pages


def _index(title: str, suites: Sequence[dict[str, Any]]) -> str:
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True)
    return environment.get_template(INDEX).render(title=title, suites=suites)


def _suite(checked: Checked) -> str:
    return checked.results[0].checkable.contract.suite


def _summary(checked: Checked) -> dict[str, Any]:
    broken = [f"{result.sentence()}." for result in checked.results if not result.success]
    return {"name": _suite(checked), "rules": len(checked.results), "broken": broken}


def _without_tracebacks(outcome: Any) -> Any:
    """A traceback has the paths of this machine in it."""
    for result in outcome.results:
        info = result.exception_info
        for entry in [info] if "raised_exception" in info else info.values():
            entry["exception_traceback"] = ""
    return outcome


def _settled(page: str) -> str:
    """``page`` with its random ids numbered, and without the blank lines that the templates leave."""
    seen: dict[str, str] = {}
    page = _RANDOM.sub(lambda match: seen.setdefault(match[0], f"id-{len(seen)}"), page)
    return re.sub(r"\n\s*\n+", "\n", page)
