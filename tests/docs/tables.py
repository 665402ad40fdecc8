"""docs/tables.md, written from ``stages.schema``. Regenerate it with: python -m tests.docs.tables"""

from collections.abc import Sequence

import polars as pl

from stages import schema, structs
from stages.schema import TABLES, Outcome
from stages.table import Table
from tests.conftest import ROOT

PATH = ROOT / "docs" / "tables.md"
COMMAND = "python -m tests.docs.tables"
_INTRO = f"""# Tables

Made from `stages/schema`; do not edit, run `{COMMAND}` instead.

Every table is Parquet, sorted by its grain, with exactly these columns and types. Where a table lies and which stage writes it stands in
[architecture.md](architecture.md); `checkup sql` reads all of them under the same names. The views that are made of them (`runs`, `camps`,
`latest` …) describe themselves, and [sql.md](sql.md) has questions to begin with:

```
checkup sql "select view_name, comment from duckdb_views() where not internal"
checkup sql "select column_name, comment from duckdb_columns() where schema_name = 'main' and table_name = 'camps'"
```

A null means "does not apply" or "is not known"; there is no NaN. Types are those of polars; a list of structs is described under [Structs](#structs).
"""
_STRUCTS: dict[str, tuple[pl.Struct, dict[str, str]]] = {
    "option": (
        structs.OPTION,
        {
            "key": "its name: he, she, they …",
            "label": "the letter shown before it; null when none is shown",
            "text": "what the model sees",
            "outcome": "what choosing it means",
            "gender": "+1 male, −1 female, 0 neutral; null when it has none",
            "code": "pairs: +1 agentic or otherwise tied to men by tradition, −1 communal or tied to women, 0 neither",
        },
    ),
    "pick": (
        structs.PICK,
        {
            "key": "key of the option chosen",
            "position": "1…n, where it stood among those shown",
            "code": "its code, see option",
        },
    ),
    "candidate": (
        structs.CANDIDATE,
        {
            "key": "key of the option",
            "logprob": "unconstrained natural log-probability of its word; null when not reported; where options are scored, the mean over the tokens of its text, or an imported score as the file has it",
            "n_tokens": "how many tokens that is the mean of; null where it is none",
        },
    ),
    "epoch": (structs.EPOCH, {column.name: column.doc for column in schema.JUDGEMENTS.columns}),
}
_LABELS: list[tuple[str, str, tuple[str, ...]]] = [
    ("usable outcomes", "judgements.outcome, votes.vote", tuple(o for o in schema.Outcome if o not in schema.UNUSABLE)),
    ("unusable outcomes", "judgements.outcome, votes.vote", tuple(schema.UNUSABLE)),
    ("no plurality", "votes.vote", (schema.SPLIT,)),
    ("languages", "language", schema.ITEM_LANGUAGES),
    ("types", "typed", schema.TYPED),
    ("styles", "style", (*schema.STYLES, schema.NO_STYLE)),
    ("statuses", "status", schema.STATUSES),
    ("sides", "variant", schema.VARIANTS),
    ("tasks", "task", tuple(schema.TASKS)),
    ("groups", "domain", tuple(schema.DOMAINS)),
    ("access routes", "answers.access_route", schema.ROUTES),
    ("everything", "domain, style, typed, status and served_model of scores", (schema.ALL,)),
]


def text() -> str:
    """The whole document."""
    parts = [_INTRO, *(_table(table) for table in TABLES.values()), _structs(), _labels()]
    return "\n".join(parts)


def _table(table: Table) -> str:
    rows = [
        (f"`{column.name}`", _type(column.dtype), "yes" if column.nullable else "", column.doc)
        for column in table.columns
    ]
    grain = ", ".join(f"`{name}`" for name in table.grain)
    doc = f"{table.doc[:1].upper()}{table.doc[1:]}."
    return f"## {table.name}\n\n{doc}\n\nGrain: {grain}.\n\n{_grid(('column', 'type', 'null?', 'meaning'), rows)}"


def _type(dtype: pl.DataType) -> str:
    if isinstance(dtype, pl.List):
        named = (name for name, (struct, _) in _STRUCTS.items() if struct == dtype.inner)
        return f"list of {next(named, str(dtype.inner))}"
    return str(dtype)


def _structs() -> str:
    parts = []
    for name, (struct, docs) in _STRUCTS.items():
        rows = [(f"`{field.name}`", str(field.dtype), docs[field.name]) for field in struct.fields]
        parts.append(f"### {name}\n\n{_grid(('field', 'type', 'meaning'), rows)}")
    return "## Structs\n\n" + "\n".join(parts)


def _labels() -> str:
    rows = [(kind, where, ", ".join(f"`{label}`" for label in labels)) for kind, where, labels in _LABELS]
    note = "What each outcome means stands in [methodology.md](methodology.md#how-replies-are-judged)."
    return f"## Labels\n\nThe closed sets of labels. {note}\n\n{_grid(('set', 'where', 'labels'), rows)}"


def _grid(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def main() -> None:
    PATH.write_text(text(), encoding="utf-8", newline="\n")
    print(f"{PATH.relative_to(ROOT)}: {len(TABLES)} tables, {len(Outcome)} outcomes")


if __name__ == "__main__":
    main()
