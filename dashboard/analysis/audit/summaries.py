"""Rule: a recorded summary agrees with the traces beside it (spec 04 A)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dashboard.analysis.audit.facts import SUMMARY, RunFacts
from dashboard.analysis.audit.finding import Observation, Place
from dashboard.analysis.audit.run_rules import RUN_RULES

__all__ = ["summary_differences"]

_PASSED_OVER: Final = frozenset({"schema_version", "created_at", "trace_index"})
_COUNTERS: Final = frozenset({"errors", "behavior.termination_reasons"})
_TOLERANCE: Final = 1e-9


@RUN_RULES.rule("Summary differs from the traces", "error")
def summary_differs(run: RunFacts) -> Iterator[Observation]:
    """Every figure of summary.json must be what the traces give; one place a field.

    A summary older than the traces of an unfinished run is a warning only: the run goes on.
    """
    if run.computed_summary is None or not run.summary.object:
        return
    places = [
        Place(f"recorded {_shown(recorded)}, the traces give {_shown(computed)}", field=name)
        for name, recorded, computed in summary_differences(run.summary.object, run.computed_summary)
    ]
    if not places:
        return
    unfinished = run.summary_is_older and run.coverage is not None and run.coverage < 1
    yield Observation(
        "The recorded summary is not what the traces give."
        + (" It is older than they are: the run goes on." if unfinished else ""),
        SUMMARY,
        "Have it written anew from the traces: shopsim-review summary RUN --json > summary.json",
        tuple(places),
        severity="warning" if unfinished else None,
    )


def summary_differences(
    recorded: Mapping[str, Any], computed: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    """``(field, recorded, computed)`` of every figure that both have and that differs.

    Optional fields may be missing and unknown ones are passed over (spec 04). A name that one side of a
    counter lacks counts as 0 there.
    """
    yield from _walk(recorded, computed, "")


def _walk(
    recorded: Mapping[str, Any], computed: Mapping[str, Any], prefix: str
) -> Iterator[tuple[str, Any, Any]]:
    counter = prefix in _COUNTERS
    names = sorted(recorded.keys() | computed.keys()) if counter else [n for n in recorded if n in computed]
    for name in names:
        field = f"{prefix}.{name}" if prefix else name
        if field in _PASSED_OVER:
            continue
        left, right = recorded.get(name, 0), computed.get(name, 0)
        if isinstance(left, Mapping) and isinstance(right, Mapping):
            yield from _walk(left, right, field)
        elif not _same(left, right):
            yield field, left, right


def _same(left: Any, right: Any) -> bool:
    if _is_number(left) and _is_number(right):
        return math.isclose(left, right, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    return type(left) is type(right) and bool(left == right)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    return "nothing" if value is None else str(value)[:60]
