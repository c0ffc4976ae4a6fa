"""Playing jobs in threads: for agents that wait for an endpoint, not for a processor."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable
from queue import SimpleQueue
from typing import Any

from shopsim.engine import Engine
from shopsim.errors import ShopSimError
from shopsim.rollout.agents import Agent, EpisodeInfo, Turn, build_agent
from shopsim.rollout.episode import run_episode
from shopsim.rollout.model import ModelResponse
from shopsim.rollout.trace import encode_record
from shopsim.rollout.workers import Assignment

__all__ = ["EndpointDownError", "play_in_threads"]

_LEAST_IN_A_ROW = 3


class EndpointDownError(ShopSimError):
    """So many episodes in a row failed at the model that its endpoint must be down."""

    code = "endpoint_down"


class _StoppedError(Exception):
    """Ends an episode whose run was stopped; its record is thrown away."""


def play_in_threads(
    engine: Engine, assignments: Iterable[Assignment], threads: int
) -> Generator[tuple[int, bytes]]:
    """Play ``threads`` episodes at a time; yields ``(run, trace line)`` as episodes end.

    Closing it (Ctrl-C) waits for no answer: unfinished episodes are left. Raises :class:`EndpointDownError`
    once as many episodes in a row as are played at a time (at least three) failed at the model.
    """
    waiting = list(assignments)
    play = _Play(engine, waiting)
    threads = min(threads, len(waiting))
    for _ in range(threads):
        # No executor: its threads are waited for at the end of the process, whatever they wait for.
        threading.Thread(target=play.work, daemon=True).start()
    failed, most = 0, max(_LEAST_IN_A_ROW, threads)
    try:
        for _ in waiting:
            run, record = play.finished()
            yield run, encode_record(record)
            problem = _model_problem(record)
            failed = failed + 1 if problem else 0
            if failed >= most:
                raise EndpointDownError(
                    f"{failed} episodes in a row failed at the model: {problem}",
                    hint="Finished episodes are kept; go on with --resume.",
                )
    finally:
        play.stopped.set()


def _model_problem(record: dict[str, Any]) -> str | None:
    error = record["error"]
    return str(error["message"]) if error and error["stage"] == "model" else None


class _Play:
    """What the threads share: the jobs that wait, and the records that are done."""

    def __init__(self, engine: Engine, waiting: list[Assignment]) -> None:
        self.stopped = threading.Event()
        self._engine = engine
        self._waiting = iter(waiting)
        self._lock = threading.Lock()
        self._results: SimpleQueue[tuple[int, dict[str, Any]] | BaseException] = SimpleQueue()

    def finished(self) -> tuple[int, dict[str, Any]]:
        """The next finished episode; raises what ended a thread."""
        result = self._results.get()
        if isinstance(result, BaseException):
            raise result
        return result

    def work(self) -> None:
        """Play jobs until none waits or the run is stopped."""
        try:
            while (assignment := self._next()) is not None:
                agent = _Stoppable(build_agent(assignment.agent, self._engine), self.stopped)
                record = run_episode(self._engine.new_env(), agent, assignment.job, assignment.settings)
                self._results.put((assignment.run, record))
        except BaseException as error:  # noqa: BLE001 - a thread's end is the run's end, and told there
            self._results.put(error)

    def _next(self) -> Assignment | None:
        with self._lock:
            return None if self.stopped.is_set() else next(self._waiting, None)


class _Stoppable:
    """An agent that plays no further turn once the run is stopped."""

    def __init__(self, agent: Agent, stopped: threading.Event) -> None:
        self._agent = agent
        self._stopped = stopped

    def reset(self, info: EpisodeInfo) -> None:
        self._agent.reset(info)

    def act(self, turn: Turn) -> ModelResponse:
        if self._stopped.is_set():
            raise _StoppedError
        return self._agent.act(turn)
