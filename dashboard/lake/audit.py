"""Gathering what an audit looks at: manifests, summaries, the lake's tables, and few records (spec 04)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pandas as pd

from dashboard.analysis.audit import (
    AuditReport,
    BundleFacts,
    ProvenanceVariant,
    RootFacts,
    RunFacts,
    audit,
)
from dashboard.analysis.audit.bundles import OUTCOMES, ROUNDS, TRAINING_GROUPS, TRAINING_STEPS
from dashboard.analysis.audit.facts import SupersededRecord
from dashboard.lake.conversations_discovery import find_conversations
from dashboard.lake.discovery import MANIFEST, SUMMARY, TRACES, FoundRun, find_runs
from dashboard.lake.document import read_document
from dashboard.lake.errors import LakeError
from dashboard.lake.fields import json_object
from dashboard.lake.store import Lake
from dashboard.lake.summary import run_summary
from dashboard.lake.training import Training
from dashboard.lake.training_audit import found_rounds, round_facts, training_problems
from shopsim.rollout.lines import MAX_LINE_BYTES, parse_line
from shopsim.rollout.recorded_on import recorded_on
from shopsim.rollout.summary import finite_number
from shopsim.rollout.trace import is_complete

__all__ = ["audit_lake"]

_MOST_VARIANTS: Final = 25
"""So many provenances of one run are read: one seek each."""
_MOST_SUPERSEDED_BYTES: Final = 64 << 20
Progress = Callable[[Sequence[Any]], Iterable[Any]]

_TRAINING: Final = ("slime-training", "group-*", "*/group-*")


def audit_lake(lake: Lake, progress: Progress | None = None, training: Training | None = None) -> AuditReport:
    """Audit every run, root and bundle of a lake, and every round of ``training`` (of the same roots).

    ``progress`` may wrap the lists of runs and of rounds (in a bar). Of the traces only superseded records
    (up to 64 MiB a run) and one record of each provenance are read, of the rounds their ``summary.json``.
    """
    runs = lake.runs
    wanted = [run.run_id for run in runs if run.traces is not None]
    episodes = dict(tuple(lake.query("audit_episodes", run_ids=wanted).groupby("run_id", sort=False)))
    nothing = lake.query("audit_episodes", run_ids=[])
    extractors: dict[str, dict[str, str]] = {}

    found = find_runs(lake.roots)
    bundle_paths = [bundle.path for bundle in found.bundles]
    rounds = found_rounds(training) if training is not None else []
    # Summaries stand alone by design in bundles, and in the folders of rounds.
    alone = [*bundle_paths, *(one.found.path for one in rounds)]

    def facts() -> Iterator[RunFacts]:
        for run in progress(runs) if progress else runs:
            known = _run_facts(lake, run, episodes.get(run.run_id, nothing))
            known = replace(known, in_bundle=any(run.path.is_relative_to(path) for path in alone))
            if name := _term_extractor(known):
                extractors.setdefault(str(run.root), {})[run.run_id] = name
            yield known

    bundles = [_bundle_facts(path) for path in bundle_paths]
    talks = [run.path for run in find_conversations(lake.roots).runs]
    idle = _idle_folders(lake.roots, [*(run.path for run in runs), *alone, *talks])
    # The extractors are known once all runs were looked at: the mapping is read last.
    problems = list(found.problems)
    if training is not None:
        told = {_place(text) for text in (*problems, *(text for run in runs for text in run.problems))}
        problems += [text for text in training_problems(training) if _place(text) not in told]
    shown = progress(rounds) if progress and rounds else rounds
    audited = (round_facts(training, one) for one in shown) if training is not None else ()
    return audit(facts(), RootFacts(extractors, problems, idle), bundles, audited)


def _run_facts(lake: Lake, run: FoundRun, episodes: pd.DataFrame) -> RunFacts:
    index = lake.trace_index(run.run_id)
    manifest, summary = read_document(run.path / MANIFEST), read_document(run.path / SUMMARY)
    computed = None
    if index is not None and summary.exists:
        computed = run_summary(lake, run.run_id)
        if lake.requested(run.run_id) is None:  # nothing to hold the recorded ones against
            del computed["counts"]["requested"], computed["counts"]["coverage"]
    superseded, unread = _superseded(run.path / TRACES, episodes, (index or {}).get("duplicate_records", 0))
    provenances, more = _provenances(lake, run.run_id) if index is not None else ([], 0)
    asked = lake.requested(run.run_id)
    older = run.summary is not None and run.traces is not None and run.summary[3] < run.traces[3]
    return RunFacts(
        run_id=run.run_id,
        path=run.path,
        root=run.root,
        kind=run.kind,
        episodes=episodes,
        manifest=manifest,
        summary=summary,
        has_traces=run.traces is not None,
        index=index,
        coverage=int(episodes["scored"].sum()) / asked if index is not None and asked else None,
        computed_summary=computed,
        summary_is_older=older,
        invalid_lines=lake.invalid_lines(run.run_id),
        superseded=superseded,
        unread_superseded=unread,
        provenances=provenances,
        unread_variants=more,
        folder_problems=[text for text in run.problems if _place(text) == str(run.path)],
        trace_problems=_trace_problems(lake, run),
    )


def _trace_problems(lake: Lake, run: FoundRun) -> list[str]:
    """What is wrong with the traces as a file; problems of manifest and summary have rules of their own."""
    others = (str(run.path / MANIFEST), str(run.path / SUMMARY), f"{run.path}: ")
    return [text for text in lake.file_problems(run.run_id) if not text.startswith(others)]


def _superseded(path: Path, episodes: pd.DataFrame, count: int) -> tuple[list[SupersededRecord], int]:
    """Records that lie between the winning ones, and how many of ``count`` are beyond the reading limit."""
    records: list[SupersededRecord] = []
    if not count:
        return records, 0
    budget = _MOST_SUPERSEDED_BYTES
    with suppress(OSError), path.open("rb") as file:
        for start, stop in _gaps(episodes):
            if (budget := budget - (stop - start)) < 0:
                break
            file.seek(start)
            while (offset := file.tell()) < stop:
                line = file.readline(MAX_LINE_BYTES)
                record, _ = parse_line(line)
                if record is not None:
                    records.append(_superseded_record(record, offset))
    return records, max(count - len(records), 0)


def _superseded_record(record: dict[str, Any], offset: int) -> SupersededRecord:
    final = record.get("final")
    reward = finite_number(final.get("reward")) if isinstance(final, dict) else None
    return SupersededRecord(record["episode_id"], offset, is_complete(record), reward)


def _gaps(episodes: pd.DataFrame) -> Iterator[tuple[int, int]]:
    """Stretches of the file before the last winning record that belong to no winning record."""
    end = 0
    ordered = episodes[["line_offset", "line_length"]].sort_values("line_offset")
    for start, length in ordered.itertuples(index=False):
        if start > end:
            yield end, int(start)
        end = int(start) + int(length)


def _provenances(lake: Lake, run_id: str) -> tuple[list[ProvenanceVariant], int]:
    rows = lake.rows("audit_provenances", run_id=run_id)
    variants = []
    for episodes, episode_id, offset in rows[:_MOST_VARIANTS]:
        with suppress(LakeError):  # the file changed meanwhile: the next audit sees it
            value = lake.episode_record(run_id, episode_id).get("provenance")
            if isinstance(value, dict):
                variants.append(ProvenanceVariant(episodes, episode_id, offset, value))
    return variants, max(len(rows) - _MOST_VARIANTS, 0)


def _place(problem: str) -> str:
    """The path that a problem begins with: what reads runs and what reads rounds may both meet it."""
    return problem.partition(": ")[0]


def _term_extractor(run: RunFacts) -> str | None:
    """How the run's title terms were made: as the plan says, else as the records do."""
    if not run.has_traces:
        return None
    planned, *recorded = (
        json_object(source.get("environment"))
        for source in (run.plan, *(variant.value for variant in run.provenances))
    )
    return recorded_on("term_extractor", planned, recorded)


def _idle_folders(roots: Sequence[Path], known: Sequence[Path]) -> list[Path]:
    """Folders directly below a root that hold something, but no run of either family, bundle or round.

    ``known`` are the runs, bundles and rounds. Each folder counts once, whatever links and roots lead to
    it: a run may have been found by another way.
    """
    places = {path.resolve() for path in known}
    idle: dict[Path, Path] = {}
    for root in roots:
        if root.resolve() in places or not root.is_dir():
            continue
        for folder in sorted(root.iterdir()):
            with suppress(OSError, RuntimeError):  # not readable, or a circle of links: reported as such
                if folder.name.startswith((".", "slime-training")) or not folder.is_dir():
                    continue
                real = folder.resolve()
                inside = not places.isdisjoint((real, *real.parents))
                around = any(path.is_relative_to(real) for path in places)
                if not inside and not around and _is_abandoned(folder):
                    idle.setdefault(real, folder)
    return list(idle.values())


def _is_abandoned(folder: Path) -> bool:
    return any(folder.iterdir()) and not any(next(folder.glob(name), None) for name in _TRAINING)


def _bundle_facts(path: Path) -> BundleFacts:
    tables: dict[str, pd.DataFrame] = {}
    documents: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for name in (TRAINING_STEPS, TRAINING_GROUPS, ROUNDS):
        try:
            tables[name] = pd.read_csv(path / name)
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:  # pandas' parser errors are ValueErrors
            errors[name] = " ".join(str(error).split())
    names = [path / OUTCOMES, *path.glob("eval/**/summary.json"), *path.glob("eval/**/*comparison*.json")]
    for file in names:
        document = read_document(file)
        name = file.relative_to(path).as_posix()
        if document.error is not None:
            errors[name] = document.error
        elif document.exists:
            documents[name] = document.value
    return BundleFacts(path.resolve().name, path, tables, documents, errors)
