"""The facts that audit rules look at, gathered beforehand: rules read no files and ask no database."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pandas as pd

from dashboard.analysis.audit.finding import Place

__all__ = [
    "EPISODE_COLUMNS",
    "MANIFEST",
    "SUMMARY",
    "TRACES",
    "BundleFacts",
    "Document",
    "ProvenanceVariant",
    "RootFacts",
    "RunFacts",
    "SupersededRecord",
    "places_of",
]

MANIFEST: Final = "manifest.json"
TRACES: Final = "traces.jsonl"
SUMMARY: Final = "summary.json"

EPISODE_COLUMNS: Final = (
    "episode_id",
    "task_id",
    "sample_id",
    "seed",
    "split",
    "schema_version",
    "status",
    "complete",
    "scored",
    "reward",
    "r_type",
    "r_att",
    "r_option",
    "r_price",
    "r_loose",
    "r_strict",
    "r_success",
    "termination_reason",
    "num_attr_matches",
    "num_option_matches",
    "n_attributes",
    "n_options",
    "steps",
    "error_type",
    "line_offset",
    "line_length",
)
"""Columns of :attr:`RunFacts.episodes`, rows of ``audit_episodes.sql``."""


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON file: whether it is there, what it holds, or why it cannot be read."""

    exists: bool = False
    value: Any = None
    error: str | None = None

    @property
    def object(self) -> Mapping[str, Any]:
        """The content when it is an object, else an empty one."""
        return self.value if isinstance(self.value, Mapping) else {}


@dataclass(frozen=True, slots=True)
class SupersededRecord:
    """A valid record that a later one of the same episode replaced."""

    episode_id: str
    offset: int
    complete: bool
    reward: float | None


@dataclass(frozen=True, slots=True)
class ProvenanceVariant:
    """One of the provenances in a trace or round: how many episodes have it, and one of them.

    In a trace ``offset`` tells where that one is, in a round ``file``; ``steps`` are a round's rollout steps.
    """

    episodes: int
    episode_id: str | None
    offset: int | None
    value: Mapping[str, Any]
    file: str | None = None
    steps: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class RunFacts:
    """All that is known about one run folder.

    ``episodes`` has :data:`EPISODE_COLUMNS` (no rows without traces). ``index`` are the counts of the trace,
    None without a readable one. ``computed_summary`` is the summary of spec 04 A made from the traces.
    ``unread_superseded`` counts superseded records beyond the reading limit, ``unread_variants`` provenances.
    ``complete`` are the complete ones of ``episodes``.
    """

    run_id: str
    path: Path
    root: Path
    kind: str
    episodes: pd.DataFrame
    manifest: Document = Document()
    summary: Document = Document()
    has_traces: bool = False
    index: Mapping[str, int] | None = None
    coverage: float | None = None
    computed_summary: Mapping[str, Any] | None = None
    summary_is_older: bool = False
    invalid_lines: Sequence[Mapping[str, Any]] = ()
    superseded: Sequence[SupersededRecord] = ()
    unread_superseded: int = 0
    provenances: Sequence[ProvenanceVariant] = ()
    unread_variants: int = 0
    in_bundle: bool = False
    folder_problems: Sequence[str] = ()
    trace_problems: Sequence[str] = ()
    complete: pd.DataFrame = field(init=False)

    def __post_init__(self) -> None:
        """Pick the complete episodes once: nearly every rule asks for them."""
        complete = self.episodes[self.episodes["complete"].astype(bool)]
        object.__setattr__(self, "complete", complete)

    @property
    def records_file(self) -> str:
        """The file of the records, in the folder of the run."""
        return TRACES

    @property
    def redo(self) -> str:
        """How to have what is missing."""
        return "Resume the run with the same command: recorded episodes are kept."

    @property
    def plan(self) -> Mapping[str, Any]:
        """The manifest's plan, empty when there is none."""
        plan = self.manifest.object.get("plan")
        return plan if isinstance(plan, Mapping) else {}

    @property
    def jobs(self) -> Sequence[Any] | None:
        """The manifest's jobs, None when it has no list of them."""
        jobs = self.plan.get("jobs")
        return jobs if isinstance(jobs, list) else None


@dataclass(frozen=True, slots=True)
class RootFacts:
    """All runs together: ``term_extractors`` by root and run, and what the search for runs met."""

    term_extractors: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    problems: Sequence[str] = ()
    idle_folders: Sequence[Path] = ()


@dataclass(frozen=True, slots=True)
class BundleFacts:
    """A published analysis bundle (spec 04 C). Tables and documents by their path in the bundle."""

    name: str
    path: Path
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    documents: Mapping[str, Any] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)


def places_of(
    episodes: pd.DataFrame, detail: Callable[[Mapping[Hashable, Any]], str], *, field: str | None = None
) -> tuple[Place, ...]:
    """A place for every episode of ``episodes``, in file order; ``detail`` says what stands there.

    Rows that have a ``file`` each are in order already.
    """
    if "file" in episodes:
        rows = episodes.to_dict("records")
        return tuple(Place(detail(row), row["episode_id"], None, field, row["file"]) for row in rows)
    rows = episodes.sort_values("line_offset", kind="stable").to_dict("records")
    return tuple(Place(detail(row), row["episode_id"], int(row["line_offset"]), field) for row in rows)
