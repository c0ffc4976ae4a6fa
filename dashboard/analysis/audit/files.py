"""Rules: the files of a run are there and can be read (spec 04 A)."""

from __future__ import annotations

from collections.abc import Iterator

from dashboard.analysis.audit.facts import MANIFEST, TRACES, RunFacts
from dashboard.analysis.audit.finding import Observation, Place
from dashboard.analysis.audit.run_rules import RUN_RULES
from dashboard.analysis.audit.summaries import broken_summary, document_faults
from shopsim.formats import MANIFEST_SCHEMA

__all__: list[str] = []


@RUN_RULES.rule("Folder cannot be read", "error")
def folder_unreadable(run: RunFacts) -> Iterator[Observation]:
    """A folder below a root that cannot be looked into: whatever runs are in it are missing everywhere."""
    for problem in run.folder_problems:
        yield Observation(
            "The folder cannot be looked into.",
            str(run.path),
            "Give read permission to it, or move it away from the runs.",
            (Place(problem),),
        )


@RUN_RULES.rule("Traces cannot be read", "error")
def traces_unreadable(run: RunFacts) -> Iterator[Observation]:
    """A traces.jsonl that could not be read or ingested: its episodes are missing everywhere."""
    if run.trace_problems:
        yield Observation(
            "The traces cannot be read.",
            TRACES,
            "Mend what is named here, then look for new data.",
            tuple(Place(problem) for problem in run.trace_problems),
        )


@RUN_RULES.rule("Traces without a manifest", "warning")
def manifest_missing(run: RunFacts) -> Iterator[Observation]:
    """Traces without manifest.json: nobody knows what was asked for, so coverage cannot be judged."""
    if run.has_traces and not run.manifest.exists:
        yield Observation(
            "There are traces but no manifest: what was asked for, and with what settings, is unknown.",
            MANIFEST,
            "Copy the manifest.json of the run beside its traces.",
        )


@RUN_RULES.rule("Manifest broken", "error")
def manifest_broken(run: RunFacts) -> Iterator[Observation]:
    """A manifest.json that is no JSON object of a known schema with a plan and a list of jobs."""
    places = document_faults(run.manifest, MANIFEST_SCHEMA)
    if run.manifest.exists and not places:
        if not run.plan:
            places = [Place("plan: missing, empty or no object", field="plan")]
        elif run.jobs is None:
            places = [Place("plan.jobs: missing or no list", field="plan.jobs")]
    if places:
        yield Observation(
            "The manifest is not what its schema promises.",
            MANIFEST,
            "Restore the file from where the run was made; without it coverage and plan are unknown.",
            tuple(places),
        )


@RUN_RULES.rule("Summary broken", "error")
def summary_broken(run: RunFacts) -> Iterator[Observation]:
    """A summary.json that is no JSON object of a known schema."""
    yield from broken_summary(run.summary, records=run.has_traces)


@RUN_RULES.rule("No traces", "warning")
def traces_missing(run: RunFacts) -> Iterator[Observation]:
    """A run without traces.jsonl: a manifest whose jobs never ran, or (info) a summary alone.

    In a published bundle summaries stand alone by design.
    """
    if run.has_traces or run.folder_problems or run.trace_problems:
        return
    if run.manifest.error is not None:  # a finding of its own
        return
    if run.manifest.exists:
        yield Observation(
            "Nothing was recorded: there is a manifest but no traces.",
            TRACES,
            "Start the run, or delete its manifest if it was given up.",
        )
    elif run.summary.exists and not run.in_bundle:
        yield Observation(
            "The run is a summary alone: nothing in it can be checked.",
            TRACES,
            "Copy the traces beside the summary to check it.",
            severity="info",
        )
