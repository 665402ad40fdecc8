"""Makes the project that is asked for: StereoSet made up, three models at the mock endpoint, and an open run.

python -m benchmarks.making FOLDER CALLS        prints as JSON how many calls the run takes, which is CALLS or a little more
"""

import json
import sys
from datetime import UTC, datetime
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from benchmarks.cases import ADDRESS, CONNECTIONS, PROMPTS, RECORDS, ROUTES, TIMEOUT, Route
from flows.fetching import fetch
from stages.ledger import enter
from stages.load import load_all
from stages.params import PARAMS_FILE, read_params
from stages.query.sheets import sheet, walked
from stages.requests import Request
from stages.store import partitions
from stages.validate.stereoset import CLUSTERS
from tests.conftest import make_project
from tests.stereoset import as_hugging_face, official, records

TASKS = tuple(CLUSTERS)
FEWEST = min(sum(domains.values()) for domains in CLUSTERS.values())
"""Clusters that every task has."""
WAYS = ((1, 1), (2, 1), (2, 2), (2, 3), *((2, epochs) for epochs in range(6, 601, 6)))
"""Tasks and epochs that a run may have, from few answers to many."""


def main() -> None:
    folder, calls = Path(sys.argv[1]), int(sys.argv[2])
    make_project(folder)
    made = records()
    copy = folder / "dev.json"
    copy.write_bytes(official(made))
    fetch(folder, "stereoset", "en", [copy])
    load_all(folder)
    with (folder / PARAMS_FILE).open("a", encoding="utf-8") as roster:
        roster.writelines(entry(route) for route in ROUTES.values())
    prompts = planned(folder, calls)
    (folder / PROMPTS).write_text(json.dumps(prompts), encoding="utf-8")
    (folder / RECORDS).write_text(json.dumps(numbered(made[TASKS[0]], len(prompts))), encoding="utf-8")
    print(json.dumps({"calls": len(prompts)}))


def entry(route: Route) -> str:
    """The model's entry in params.yaml."""
    return (
        f"  {route.key}:\n    route: {route.route}\n    api_base: {route.at(ADDRESS)}\n"
        f"    max_connections: {CONNECTIONS}\n    timeout: {TIMEOUT}\n"
    )


def planned(folder: Path, calls: int) -> list[Any]:
    """Open a run of at least so many calls; the messages of each of its prompts."""
    params = read_params(folder)
    run = enter(folder, params, request(calls), datetime.now(UTC))
    sheets = [sheet(folder, params, part) for part in partitions(run)]
    return [asked.prompt.messages for each in sheets for asked in walked(each, {})]


def request(calls: int) -> Request:
    """The smallest run of StereoSet with at least so many calls: one task, or both, as often as it takes."""
    for n_tasks, epochs in WAYS:
        items = -(-calls // (n_tasks * epochs))
        if items <= (FEWEST if n_tasks > 1 else sum(CLUSTERS[TASKS[0]].values())):
            benchmarks = tuple(f"stereoset-{task}" for task in TASKS[:n_tasks])
            return Request(ROUTES["openai"].key, "stereoset", benchmarks, ("en",), epochs=epochs, limit=items)
    raise SystemExit(f"{calls} calls are more than the made-up data set can be asked for.")


def numbered(raws: list[dict[str, Any]], n: int) -> list[dict[str, Any]]:
    """``n`` records in the shape of Hugging Face, with ids of their own where they repeat."""
    return [{**as_hugging_face(raw), "id": f"{i:032x}"} for i, raw in enumerate(islice(cycle(raws), n))]


if __name__ == "__main__":
    main()
