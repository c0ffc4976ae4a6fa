"""From what was found on disk to the rows of ``runs``, ``summaries`` and ``published_outcomes``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dashboard.lake.catalogue import Catalogue
from dashboard.lake.discovery import SUMMARY, FileStamp, FoundBundle, FoundRun, condition_of
from dashboard.lake.folders import readable_name
from dashboard.lake.origins import catalogue_family, told_by_records
from dashboard.lake.published import condition_label, read_outcomes
from dashboard.lake.runfiles import manifest_columns, manifest_jobs, summary_columns

__all__ = ["RunFiles", "outcome_rows", "read_run_files", "run_row", "summary_row"]


@dataclass(slots=True)
class RunFiles:
    """Manifest and summary of one run as they were when their files had these identities."""

    key: tuple[FileStamp | None, FileStamp | None]
    manifest: dict[str, Any] = field(default_factory=dict)
    jobs: int | None = None
    wanted: frozenset[str] = frozenset()
    summary: dict[str, Any] | None = None
    problems: list[str] = field(default_factory=list)


def read_run_files(run: FoundRun) -> RunFiles:
    """Read manifest and summary of a run; broken ones leave a problem and empty columns."""
    files = RunFiles((run.manifest, run.summary))
    if run.manifest is not None:
        files.manifest, jobs = manifest_columns(run.path, files.problems)
        files.wanted = frozenset(manifest_jobs(jobs or []))
        files.jobs = None if jobs is None else len(jobs)
    elif run.traces is not None:
        files.problems.append(
            f"{run.path}: no manifest.json: what was asked for is unknown. Copy it beside the traces."
        )
    if run.summary is not None:
        files.summary = summary_columns(run.path / SUMMARY, files.problems)
    return files


def run_row(
    run: FoundRun,
    files: RunFiles,
    catalogue: Catalogue | None,
    pending: int | None,
    problems: Sequence[str],
    bundles: Sequence[FoundBundle] = (),
    origins: Sequence[Mapping[str, str | None]] = (),
) -> dict[str, Any]:
    """One row of the view ``runs``. Counts come from the traces, else from the summary.

    ``origins``: what the records say of theirs; it counts where the manifest is silent.
    """
    row: dict[str, Any] = dict(files.manifest)
    row |= told_by_records(row, origins)
    counts: dict[str, Any] = {}
    if catalogue is not None:
        index = catalogue.trace_index()
        counts = {**index, **catalogue.counts}
        # Without a plan nobody knows what was asked for: what is recorded need not be all of it.
        counts["requested"], counts["pending"] = files.jobs, pending
        counts["coverage"] = counts["scored"] / files.jobs if files.jobs else None
    elif files.summary is not None:
        names = ("requested", "completed", "failed", "scored", "coverage")
        counts = {name: files.summary[name] for name in names}
        counts["unique_episodes"] = files.summary["trace_files"]
    elif files.jobs is not None:
        counts = {"requested": files.jobs, "pending": files.jobs, "coverage": 0.0}
    return row | {
        "run_id": run.run_id,
        "root": readable_name(run.root),
        "path": readable_name(run.path),
        "kind": run.kind,
        "label": condition_label(run.run_id) if run.kind == "published" else run.run_id,
        "created_at": row.get("created_at") or (files.summary or {}).get("created_at"),
        "simulated": bool(row.get("simulated")),
        "catalogue_family": catalogue_family(run, row.get("product_data_sha256"), list(bundles)),
        "has_traces": catalogue is not None,
        "problems": [readable_name(problem) for problem in (*run.problems, *files.problems, *problems)],
        **counts,
    }


def summary_row(run: FoundRun, files: RunFiles) -> dict[str, Any] | None:
    """One row of the view ``summaries`` (the recorded ``summary.json``), if the run has one."""
    return None if files.summary is None else {"run_id": run.run_id, **files.summary}


def outcome_rows(
    bundles: Sequence[FoundBundle], runs: Sequence[FoundRun], problems: list[str]
) -> list[dict[str, Any]]:
    """Rows of the view ``published_outcomes``; ``run_id`` is the published run of that condition."""
    rows = []
    for bundle in bundles:
        if bundle.outcomes is None:
            continue
        published = {_condition(run, bundle.path): run.run_id for run in runs if run.kind == "published"}
        found = read_outcomes(bundle.path, problems)
        rows += [{"run_id": published.get(row["condition"], row["condition"]), **row} for row in found]
    return rows


def _condition(run: FoundRun, bundle: Path) -> str | None:
    return condition_of(run.path.name) if run.path.is_relative_to(bundle) else None
