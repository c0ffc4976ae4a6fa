"""Rule: a recorded summary agrees with the traces beside it (spec 04 A)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dashboard.analysis.audit.facts import SUMMARY, Document, RunFacts
from dashboard.analysis.audit.finding import Observation, Place
from dashboard.analysis.audit.run_rules import RUN_RULES
from shopsim.formats import SUMMARY_SCHEMA

__all__ = ["broken_summary", "differing_summary", "document_faults", "summary_differences"]

_PASSED_OVER: Final = frozenset({"schema_version", "created_at", "trace_index"})
_COUNTERS: Final = frozenset({"errors", "behavior.termination_reasons"})
_TOLERANCE: Final = 1e-9


@RUN_RULES.rule("Summary differs from the traces", "error")
def summary_differs(run: RunFacts) -> Iterator[Observation]:
    """Every figure of summary.json must be what the traces give; one place a field.

    A summary older than the traces of an unfinished run is a warning only: the run goes on.
    """
    if run.computed_summary is not None:
        yield from differing_summary(
            run.summary.object,
            run.computed_summary,
            records="traces",
            unfinished=run.summary_is_older and run.coverage is not None and run.coverage < 1,
            mend="Have it written anew from the traces: shopsim-review summary RUN --json > summary.json",
        )


def differing_summary(
    recorded: Mapping[str, Any], computed: Mapping[str, Any], *, records: str, unfinished: bool, mend: str
) -> Iterator[Observation]:
    """The observation of a recorded summary that is not what ``records`` give, a warning when unfinished."""
    places = [
        Place(f"recorded {_shown(left)}, the {records} give {_shown(right)}", field=name)
        for name, left, right in summary_differences(recorded, computed)
    ]
    if places:
        yield Observation(
            f"The recorded summary is not what the {records} give."
            + (" More are still to come." if unfinished else ""),
            SUMMARY,
            mend,
            tuple(places),
            severity="warning" if unfinished else None,
        )


def broken_summary(document: Document, *, records: bool = True) -> Iterator[Observation]:
    """The observation of a summary.json that is no JSON object of a known schema.

    Without ``records`` beside it nothing could write it anew: then it is not to be deleted.
    """
    places = document_faults(document, SUMMARY_SCHEMA)
    if places:
        yield Observation(
            "The recorded summary is not what its schema promises.",
            SUMMARY,
            "Delete it and have it written anew from the traces."
            if records
            else "Restore the file from where the run was made: there are no traces to write it anew from.",
            tuple(places),
        )


def document_faults(document: Document, schema: str) -> list[Place]:
    """What is wrong with a JSON file that should be an object of ``schema``; nothing when it is not there."""
    if document.error is not None:
        return [Place(document.error)]
    if not document.exists:
        return []
    if not isinstance(document.value, dict):
        return [Place("not a JSON object")]
    found = document.value.get("schema_version")
    return [] if found == schema else [Place(f"{found!r} instead of {schema!r}", field="schema_version")]


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
