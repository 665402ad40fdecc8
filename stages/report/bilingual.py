"""Words in every language of the page at once, for what stands in it only once; its style sheet shows one of them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup, escape

from stages.report.format import Figure
from stages.report.items import Item
from stages.report.labels import Labels

ORDERED = ("item", "turning", "changed")
"""Columns of the list of items that are sorted by a button; the others are filtered by a list of their values."""
UNORDERED = ("votes",)
ROWS = 10
"""Items on a page of the list."""


class Bilingual:
    """The labels of all ``voices``, spoken together."""

    def __init__(self, voices: Sequence[Labels]) -> None:
        self.voices = voices
        self._known: dict[tuple[str, ...], Markup] = {}
        self._tags = [Markup(""), *(Markup(" lang={}").format(labels["lang"]) for labels in voices[1:])]

    def __call__(self, *path: str) -> Markup:
        """The label at ``path``; its last step stands for itself where it has no name."""
        if path not in self._known:
            self._known[path] = self.say([str(found) for found in self._found(path)])
        return self._known[path]

    def fill(self, *path: str, **values: str) -> Markup:
        """The label at ``path`` with its placeholders filled."""
        return self.say([str(found).format(**values) for found in self._found(path)])

    def listed(self, paths: Sequence[tuple[str, ...]]) -> Markup:
        """The labels at ``paths``, listed."""
        words = [[str(self._found(path)[place]) for path in paths] for place in range(len(self.voices))]
        return self.say(
            [str(voice["changes"]["separator"]).join(named) for voice, named in zip(self.voices, words, strict=True)]
        )

    def plain(self, *path: str) -> str:
        """The same as text, with a space between languages: what the list of items makes of it."""
        return " ".join(str(found) for found in self._found(path))

    def figure(self, figures: Sequence[Figure]) -> Figure:
        """One figure of the same one as each voice shows it; only what stands for a missing number is words."""
        return replace(figures[0], interval=self.say([figure.interval for figure in figures]))

    def say(self, texts: Sequence[str]) -> Markup:
        """What is shown of ``texts``, one per language. It stands in the page's first language, which needs no mark."""
        if len(set(texts)) == 1:
            return escape(texts[0])
        said = zip(self.voices, self._tags, texts, strict=True)
        return Markup(" ").join(Markup("<span class={}{}>{}</span>").format(v.language, tag, t) for v, tag, t in said)

    def _found(self, path: tuple[str, ...]) -> list[Any]:
        found: list[Any] = [labels.words for labels in self.voices]
        for step in path[:-1]:
            found = [words[step] for words in found]
        return [words.get(path[-1], path[-1]) for words in found]


def columns(items: Sequence[Item]) -> list[str]:
    """The columns of the list of ``items``; the protocol only where there are several."""
    several = len({item.facts["protocol"] for item in items}) > 1
    kept = ("item", "votes", "language", "protocol", "group", "type", "style", "differ", "turning", "changed")
    return [name for name in kept if several or name != "protocol"]


def value(item: Item, column: str) -> tuple[str, ...]:
    """Path of the label that ``column`` shows of ``item``, where it shows one."""
    facts = item.facts
    return {
        "language": ("languages", facts["language"]),
        "protocol": ("protocol_codes", facts["protocol"]),
        "group": ("domains", facts["domain"]),
        "type": ("stated" if facts["domain"] == "control" else "typed", facts["typed"]),
        "style": ("styles", facts["style"]),
        "differ": ("items", "yes" if facts["models_differ"] else "no"),
    }[column]


def table_options(both: Bilingual, items: Sequence[Item]) -> dict[str, Any]:
    """What DataTables is told about the list of items."""
    names = columns(items)
    controls = [
        {"targets": [names.index(name)], "columnControl": _controls(both, items, name)}
        for name in names
        if name not in UNORDERED
    ]
    return {
        "order": [],
        "pageLength": ROWS,
        "autoWidth": False,
        "columnDefs": [*controls, {"targets": [names.index(name) for name in UNORDERED], "orderable": False}],
        "ordering": {"indicators": False, "handler": True},
        "language": _language(both),
    }


def _controls(both: Bilingual, items: Sequence[Item], name: str) -> list[dict[str, Any]]:
    """A button per language of the page, in its words; each is shown in its language only."""
    if name in ORDERED:
        return [{"extend": "order", "className": v.language, "text": v["items"]["table"]["sort"]} for v in both.voices]
    paths = list(dict.fromkeys(value(item, name) for item in items))
    return [
        {
            "extend": "dropdown",
            "className": v.language,
            "text": v["items"]["table"]["filter"],
            "content": [{"extend": "searchList", "search": False, "options": _choices(both, v, paths)}],
        }
        for v in both.voices
    ]


def _choices(both: Bilingual, labels: Labels, paths: list[tuple[str, ...]]) -> list[dict[str, str]]:
    """What can be filtered for: its name in one language, and the text of the cells it stands for."""
    return [{"label": Bilingual([labels]).plain(*path), "value": _cell(both, path)} for path in paths]


def _cell(both: Bilingual, path: tuple[str, ...]) -> str:
    """The text of a cell as DataTables reads it."""
    return str(Markup(both(*path)).striptags())


def _language(both: Bilingual) -> dict[str, Any]:
    """DataTables' own words. Names of buttons are plain text, so they are in all languages at once."""

    def say(name: str) -> str:
        return str(both("items", "table", name))

    def name_of(name: str) -> str:
        return both.plain("items", "table", name)

    return {
        "search": say("search"),
        "info": say("info"),
        "infoEmpty": say("empty"),
        "infoFiltered": say("filtered"),
        "lengthMenu": f"{say('menu_before')} _MENU_ {say('menu_after')}",
        "zeroRecords": say("zero"),
        "columnControl": {"list": {"all": say("select_all"), "none": say("select_none")}},
        "aria": {"paginate": {name: name_of(name) for name in ("first", "previous", "next", "last")}},
    }
