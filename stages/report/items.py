"""The items whose answers differ, each with what every model replied in every order."""

from collections import defaultdict
from dataclasses import dataclass

import duckdb

from stages.report.evidence import NOT_ASKED, Key, Row, rows
from stages.schema import DOMAINS, VARIANTS, Kind

LISTED = 2000
"""So many items are listed at most; the page says so when there are more."""
OUTSIDE = ("control", "untyped")
"""Domains outside the scores of leaning; their items are listed last."""
UNLISTED = ", ".join(f"'{domain}'" for domain, kind in DOMAINS.items() if kind == Kind.SENTENCE)
"""Domains of thousands of offensive sentences, which models seldom agree on."""
LISTABLE = f"domain not in ({UNLISTED}) and protocol not in (select protocol from effects)"
"""Of a mitigation it is told what it does, not what each model replied under it."""
SHOWN = 280
"""Characters of a reply that are shown."""

_VOTES = f"""
    select votes.*, previous.vote as vote_before
    from votes
    join latest using (run, model, benchmark, language, protocol)
    semi join contested using (benchmark, language, protocol, item_id)
    left join votes previous
        on previous.run = latest.previous_run
        and previous.benchmark = votes.benchmark and previous.language = votes.language
        and previous.protocol = votes.protocol and previous.item_id = votes.item_id
    where votes.domain not in ({UNLISTED}) and votes.protocol not in (select protocol from effects)
    order by votes.benchmark, votes.protocol, votes.language, votes.item_id, votes.model
"""
_SHOWN = f"""
    select benchmark, language, protocol, item_id, variant, order_index,
        any_value(text order by run) as text,
        any_value([coalesce(o.label || ' ' || o.key, o.text) for o in options] order by run) as shown
    from answers
    where {LISTABLE}
    group by benchmark, language, protocol, item_id, variant, order_index
    order by variant desc, order_index
"""
Place = tuple[str, int]
"""(variant, order_index): which side of a pair was shown, and in which order of the options."""


@dataclass(frozen=True)
class Reply:
    """One reply and the epochs that gave it in one order; ``shown`` are the options in that order, lettered ones by key."""

    order: int
    shown: list[str]
    epochs: list[int]
    text: str | None
    length: int
    """Characters of the whole reply; ``text`` may be cut."""


@dataclass(frozen=True)
class Replies:
    """The replies about one side (of a pair) that mean the same."""

    variant: str
    outcome: str
    replies: list[Reply]


@dataclass(frozen=True)
class ModelVote:
    model: str
    vote: str
    """An outcome, split, or ``NOT_ASKED`` where the run was closed before it was asked."""
    choice: str | None
    vote_before: str | None
    replies: list[Replies]


@dataclass(frozen=True)
class Item:
    facts: Row
    texts: dict[str, str]
    """Variant -> text; 'single', or both sides of a pair."""
    votes: list[ModelVote]


def contested(connection: duckdb.DuckDBPyConnection) -> tuple[list[Item], int]:
    """The items of the mart ``contested`` that are ``LISTABLE``, and how many there are; those of leaning first."""
    found = rows(connection, f"from contested where {LISTABLE}")
    found.sort(
        key=lambda row: (row["domain"] in OUTSIDE, not row["models_differ"], -row["n_changed"], -row["n_turning"])
    )
    texts: dict[Key, dict[str, str]] = defaultdict(dict)
    shown: dict[Key, dict[Place, list[str]]] = defaultdict(dict)
    for row in rows(connection, _SHOWN):
        texts[_key(row)].setdefault(row["variant"], row["text"])
        shown[_key(row)][row["variant"], row["order_index"]] = row["shown"]
    votes: dict[Key, list[ModelVote]] = defaultdict(list)
    for row in rows(connection, _VOTES):
        votes[_key(row)].append(_vote(row, shown[_key(row)]))
    return [Item(row, texts[_key(row)], votes[_key(row)]) for row in found[:LISTED]], len(found)


def _key(row: Row) -> Key:
    return row["benchmark"], row["language"], row["protocol"], row["item_id"]


def _vote(row: Row, shown: dict[Place, list[str]]) -> ModelVote:
    asked = any(epoch["reason"] != NOT_ASKED for epoch in row["epochs"])
    vote = row["vote"] if asked else NOT_ASKED
    return ModelVote(row["model"], vote, row["choice"], row["vote_before"], replies(row["epochs"], shown))


def replies(epochs: list[Row], shown: dict[Place, list[str]]) -> list[Replies]:
    """The answers of an item by side and meaning, the most frequent meaning first; equal ones of an order stand together.

    ``shown`` are the options of each side in each order.
    """
    found: dict[tuple[str, str], dict[tuple[int, str | None], list[int]]] = defaultdict(lambda: defaultdict(list))
    for answer in sorted(epochs, key=lambda e: (VARIANTS.index(e["variant"]), e["order_index"], e["epoch"])):
        found[answer["variant"], answer["outcome"]][answer["order_index"], answer["reply"]].append(answer["epoch"])
    groups = [
        Replies(
            variant,
            outcome,
            [_reply(text, order, asked, shown.get((variant, order), [])) for (order, text), asked in of.items()],
        )
        for (variant, outcome), of in found.items()
    ]
    return sorted(groups, key=lambda g: (VARIANTS.index(g.variant), -sum(len(r.epochs) for r in g.replies)))


def _reply(text: str | None, order: int, asked: list[int], shown: list[str]) -> Reply:
    return Reply(order + 1, shown, asked, cut(text), len(text or ""))


def cut(text: str | None) -> str | None:
    """At most ``SHOWN`` characters of ``text``."""
    return text if text is None or len(text) <= SHOWN else text[:SHOWN].rstrip()
