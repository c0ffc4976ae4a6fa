"""Playing jobs, in this process or in several. What is played where changes no result.

Every episode depends on its job alone (the episode seed, the task, the agent), so that the records are the
same for any number of processes; only their order in the trace and their timings differ.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass

from shopsim.engine import Engine, open_engine
from shopsim.errors import ShopSimError
from shopsim.jsonl import encode_record
from shopsim.rollout.agents import AgentSpec, build_agent
from shopsim.rollout.episode import EpisodeSettings, run_episode
from shopsim.rollout.jobs import Job
from shopsim.rollout.parent import follow_parent
from shopsim.settings import Settings

__all__ = ["Assignment", "WorkerError", "play_here", "play_in_processes"]

#: Finished episodes wait for the writer at most this many a worker.
_IN_FLIGHT_PER_WORKER = 8


class WorkerError(ShopSimError):
    """A worker process died (out of memory, killed)."""

    code = "worker"


@dataclass(frozen=True, slots=True)
class Assignment:
    """One job of one run. ``run`` is the caller's number of that run."""

    run: int
    job: Job
    agent: AgentSpec
    settings: EpisodeSettings


def play_here(engine: Engine, assignments: Iterable[Assignment]) -> Generator[tuple[int, bytes]]:
    """Play in this process; yields ``(run, trace line)`` as episodes end."""
    for assignment in assignments:
        yield assignment.run, _play(engine, assignment)


def play_in_processes(
    settings: Settings, assignments: Iterable[Assignment], workers: int
) -> Generator[tuple[int, bytes]]:
    """Play in ``workers`` processes, each with an engine of its own; yields as episodes end.

    Raises :class:`WorkerError` when a process dies; what was yielded until then is good.
    """
    waiting = deque(assignments)
    running: set[Future[tuple[int, bytes]]] = set()
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_start_worker, initargs=(settings,))
    try:
        while waiting or running:
            while waiting and len(running) < workers * _IN_FLIGHT_PER_WORKER:
                running.add(pool.submit(_work, waiting.popleft()))
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    except BrokenProcessPool:
        raise WorkerError(
            "a worker process died", hint="Run again with --resume, perhaps with a lower --concurrency."
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _play(engine: Engine, assignment: Assignment) -> bytes:
    agent = build_agent(assignment.agent, engine)
    return encode_record(run_episode(engine.new_env(), agent, assignment.job, assignment.settings))


_engine: Engine | None = None


def _start_worker(settings: Settings) -> None:
    """Open the worker's engine once."""
    global _engine
    follow_parent()
    _engine = open_engine(settings)


def _work(assignment: Assignment) -> tuple[int, bytes]:
    if _engine is None:
        raise WorkerError("a worker has no engine")
    _check_same_engine(_engine, assignment.settings)
    return assignment.run, _play(_engine, assignment)


def _check_same_engine(engine: Engine, settings: EpisodeSettings) -> None:
    """One run never mixes data or rules, even when the prepared data are replaced while it runs."""
    planned = settings.provenance["environment"]
    for name, value in engine.provenance().items():
        if planned.get(name) != value:
            raise WorkerError(
                f"{name}: a worker has {value!r}, the run was planned with {planned.get(name)!r}",
                hint="Do not prepare data while a run is going on; run it again under another name.",
            )
