"""Great Expectations, and nothing else that knows it: contracts in, results and the pages of the Data Docs out."""

import functools
import operator
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import polars as pl

from stages.errors import ContractBroken
from stages.validate.contracts import Checkable, Expect
from stages.validate.results import Result

if TYPE_CHECKING:
    import pandas as pd

RUN_TIME = datetime(2000, 1, 1, tzinfo=UTC)
"""Great Expectations wants a time for each run; a fixed one keeps the pages alike."""
RESULT_FORMAT = {
    "result_format": "COMPLETE",
    "include_unexpected_rows": False,
    "return_unexpected_index_query": False,
}
"""Every offending position, without the rows: their keys are looked up in our own frame, typed and much faster."""


@dataclass(frozen=True)
class Checked:
    """One frame's results and what Great Expectations made of them, from which its page is rendered."""

    results: list[Result]
    outcome: Any


def check(checkables: Sequence[Checkable]) -> list[Checked]:
    """Check every contract on its frame. An expectation that cannot be checked has failed.

    Great Expectations keeps one context per process, and ``warnings`` are set for all threads: call it from one thread.
    """
    with quiet():
        context = _context()
        return [_checked(context, checkable) for checkable in checkables]


@contextmanager
def quiet() -> Iterator[None]:
    """Great Expectations imports deprecated modules and leaves warning filters behind; both stay inside."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="module 'sre_", category=DeprecationWarning)
        yield


def _context() -> Any:
    """A context without files, progress bars or analytics."""
    import great_expectations as gx
    from great_expectations.data_context.types import base

    config = base.DataContextConfig(
        store_backend_defaults=base.InMemoryStoreBackendDefaults(),
        analytics_enabled=False,
        progress_bars=base.ProgressBarsConfig(globally=False, metric_calculations=False),
        data_docs_sites={},
    )
    return gx.get_context(mode="ephemeral", project_config=config)


def _checked(context: Any, checkable: Checkable) -> Checked:
    outcome = _outcome(context, checkable)
    found = sorted(outcome.results, key=lambda result: result.expectation_config.meta["position"])
    positions = [result.expectation_config.meta["position"] for result in found]
    if positions != list(range(len(checkable.contract.expects))):
        raise ContractBroken(
            f"Contract {checkable.contract.suite} has {len(checkable.contract.expects)} rules, but Great Expectations "
            f"reported on {len(positions)}, so nothing can be trusted; check its version against requirements/."
        )
    return Checked([_result(checkable, position, each) for position, each in enumerate(found)], outcome)


def _outcome(context: Any, checkable: Checkable) -> Any:
    import great_expectations as gx

    suite_name = checkable.contract.suite
    expectations = [_expectation(e, position) for position, e in enumerate(checkable.contract.expects)]
    suite = context.suites.add(gx.ExpectationSuite(suite_name, expectations=expectations))
    asset = context.data_sources.add_pandas(suite_name).add_dataframe_asset("table")
    data = asset.add_batch_definition_whole_dataframe("whole")
    definition = context.validation_definitions.add(gx.ValidationDefinition(name=suite_name, data=data, suite=suite))
    return definition.run(
        batch_parameters={"dataframe": to_pandas(checkable.frame)},
        run_id=gx.RunIdentifier(run_name="contracts", run_time=RUN_TIME),
        result_format=RESULT_FORMAT,
    )


def _expectation(expect: Expect, position: int) -> Any:
    import great_expectations as gx

    condition = {"row_condition": _condition(expect.when)} if expect.when else {}
    kind = getattr(gx.expectations, expect.kind)
    return kind(**expect.args, **condition, description=expect.rule, meta={"position": position})


def _condition(when: Mapping[str, Any]) -> Any:
    from great_expectations.expectations.row_conditions import Column

    tests = [
        Column(name) == value if isinstance(value, str) else Column(name).is_in(list(value))
        for name, value in when.items()
    ]
    return functools.reduce(operator.and_, tests)


def to_pandas(frame: pl.DataFrame) -> "pd.DataFrame":
    """The one bridge. On Arrow, so that integers with nulls stay integers and a missing text is no NaN.

    Lists and structs are no values that Great Expectations can compare; a contract's frame must not have any.
    """
    if nested := [name for name, dtype in frame.schema.items() if dtype.is_nested()]:
        raise TypeError(f"column {nested[0]} is nested")
    return frame.to_pandas(use_pyarrow_extension_array=True)


def _result(checkable: Checkable, position: int, each: Any) -> Result:
    error = _error(each.exception_info)
    places = tuple(each.result.get("unexpected_index_list") or ())
    found = f"it could not be checked: {error}" if error else f"found {each.result.get('observed_value')}"
    return Result(
        checkable=checkable,
        position=position,
        success=bool(each.success) and error is None,
        checked=each.result.get("element_count", checkable.frame.height),
        places=places,
        found="" if each.success else found,
    )


def _error(info: Mapping[str, Any]) -> str | None:
    """The exception that kept an expectation from being checked; reported flat, or per failed metric."""
    entries = [info] if "raised_exception" in info else list(info.values())
    messages = [str(entry["exception_message"]) for entry in entries if entry["raised_exception"]]
    return messages[0].removeprefix("Error: ").splitlines()[0].rstrip(".") if messages else None
