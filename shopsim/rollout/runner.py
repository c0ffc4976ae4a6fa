"""Running experiments: one folder each, resumable, any number of processes (spec 04 A)."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shopsim.engine import Engine
from shopsim.errors import UsageError
from shopsim.jsonl import LineWriter
from shopsim.locking import folder_lock
from shopsim.rollout.agents import AgentSpec
from shopsim.rollout.episode import EpisodeSettings
from shopsim.rollout.folder import (
    MANIFEST_FILE,
    RESUME_LATER,
    TRACES_FILE,
    checked_name,
    fresh_summary,
    run_plan,
    write_summary,
)
from shopsim.rollout.jobs import Job
from shopsim.rollout.manifest import ANOTHER_NAME, check_same_plan, provenance, read_manifest, write_manifest
from shopsim.rollout.report import RunReport
from shopsim.rollout.skill_bank import NO_SKILLS, SkillBank
from shopsim.rollout.threads import play_in_threads
from shopsim.rollout.trace import TraceIndex, read_records
from shopsim.rollout.workers import Assignment, play_here, play_in_processes
from shopsim.storage import storing

__all__ = ["OpenRuns", "RunRequest", "open_runs", "run"]

#: Starting a process costs more than playing this many episodes.
_JOBS_PER_PROCESS = 8


@dataclass(frozen=True, slots=True)
class RunRequest:
    """One experiment: who plays which jobs, and how the task is shown."""

    experiment: str
    agent: AgentSpec
    jobs: tuple[Job, ...]
    split: str
    persona: bool = True
    interaction_mode: str = "single_turn"
    bank: SkillBank = NO_SKILLS
    """Skills in the system prompt: only models read it, scripts do not."""


@dataclass(slots=True)
class _OpenRun:
    request: RunRequest
    folder: Path
    plan: dict[str, Any]
    pending: list[Job]
    played: int = 0


class OpenRuns:
    """Requests whose folders are checked and locked. Iterate :meth:`play`, then take :meth:`reports`."""

    def __init__(self, engine: Engine, runs: list[_OpenRun], concurrency: int) -> None:
        self._engine = engine
        self._runs = runs
        self._concurrency = concurrency

    @property
    def pending(self) -> int:
        """Episodes that :meth:`play` would play."""
        return sum(len(run.pending) for run in self._runs)

    def play(self) -> Generator[str]:
        """Play what is pending; each record is on disk before its experiment's name is yielded.

        A run's summary is written as soon as its last episode is there. What was recorded stays when this
        raises: :class:`~shopsim.storage.StorageError` when the disk is full,
        :class:`~shopsim.rollout.threads.EndpointDownError` when no model answers.
        """
        finished = self._finished()
        with closing(finished), ExitStack() as stack:
            writers: dict[int, LineWriter] = {}
            for number, line in finished:
                run = self._runs[number]
                with storing(run.folder, hint=RESUME_LATER):
                    if number not in writers:
                        writers[number] = stack.enter_context(LineWriter(run.folder / TRACES_FILE))
                    writers[number].append_line(line)
                    run.played += 1
                    if run.played == len(run.pending):
                        write_summary(run.folder)
                yield run.request.experiment

    def reports(self) -> list[RunReport]:
        """One report a request, in the order of the requests."""
        return [self._report(run) for run in self._runs]

    def _finished(self) -> Generator[tuple[int, bytes]]:
        """The records as they are made: where agents wait for endpoints in threads, else in processes."""
        tasks = self._assignments()
        if any(run.request.agent.chat for run in self._runs):
            return play_in_threads(self._engine, tasks, self._concurrency)
        workers = min(self._concurrency, self.pending // _JOBS_PER_PROCESS)
        if workers > 1:
            return play_in_processes(self._engine.settings, tasks, workers)
        return play_here(self._engine, tasks)

    def _report(self, run: _OpenRun) -> RunReport:
        kept = len(run.request.jobs) - len(run.pending)
        with storing(run.folder, hint=RESUME_LATER):
            summary = fresh_summary(run.folder)
        return RunReport(run.request.experiment, run.folder, run.played, kept, summary)

    def _assignments(self) -> Iterator[Assignment]:
        for number, run in enumerate(self._runs):
            settings = EpisodeSettings(
                persona=run.request.persona,
                interaction_mode=run.request.interaction_mode,
                max_steps=run.plan["runtime"]["max_steps"],
                provenance=provenance(run.plan),
                bank=run.request.bank,
            )
            for job in run.pending:
                yield Assignment(number, job, run.request.agent, settings)


@contextmanager
def open_runs(
    engine: Engine,
    requests: Sequence[RunRequest],
    *,
    concurrency: int = 1,
    resume: bool = False,
    mend: str = ANOTHER_NAME,
) -> Iterator[OpenRuns]:
    """Check and lock the folders of ``requests`` under the engine's runs root, all before any plays.

    With ``resume`` only jobs without a complete record are pending; without it a folder that already has
    records is refused. ``mend`` is what to tell people whose folder holds another experiment.

    Raises :class:`~shopsim.rollout.manifest.PlanMismatchError` when a folder holds another experiment,
    :class:`~shopsim.locking.RunLockedError` when someone else writes it and
    :class:`~shopsim.errors.UsageError` for a bad name.
    """
    with ExitStack() as stack:
        runs = []
        for request in requests:
            folder = engine.settings.runs_root / checked_name(request.experiment)
            with storing(folder):
                stack.enter_context(folder_lock(folder))
            plan = run_plan(
                engine,
                experiment=request.experiment,
                model=request.agent.to_model(),
                jobs=request.jobs,
                split=request.split,
                persona=request.persona,
                interaction_mode=request.interaction_mode,
                concurrency=concurrency,
                bank=request.bank,
            )
            runs.append(_open_run(request, folder, plan, resume, mend))
        yield OpenRuns(engine, runs, concurrency)


def run(engine: Engine, request: RunRequest, *, concurrency: int = 1, resume: bool = False) -> RunReport:
    """Run one experiment to its end. See :func:`open_runs` for what it refuses."""
    with open_runs(engine, [request], concurrency=concurrency, resume=resume) as runs:
        for _ in runs.play():
            pass
        return runs.reports()[0]


def _open_run(request: RunRequest, folder: Path, plan: dict[str, Any], resume: bool, mend: str) -> _OpenRun:
    manifest_path, traces = folder / MANIFEST_FILE, folder / TRACES_FILE
    index = read_records(traces) if traces.exists() else TraceIndex(traces)
    if manifest_path.exists():
        check_same_plan(folder, read_manifest(manifest_path)["plan"], plan, mend=mend)
    elif index.records or index.invalid_count:
        raise UsageError(f"{folder}: holds traces but no manifest", hint="Choose another name.")
    else:
        with storing(folder):
            write_manifest(manifest_path, plan)
    if index.records and not resume:
        raise UsageError(
            f"{folder}: already holds {index.unique_episodes} episodes",
            hint="Pass --resume to run what is missing, or choose another name.",
        )
    complete = index.complete_ids
    pending = [job for job in request.jobs if job.episode_id not in complete]
    return _OpenRun(request, folder, plan, pending)
