"""Playing jobs in threads: for agents that wait for an endpoint, not for a processor."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable
from contextlib import closing
from typing import Any, Final

from shopsim.chat import ContextLengthError
from shopsim.engine import Engine
from shopsim.errors import ShopSimError
from shopsim.jsonl import encode_record
from shopsim.rollout.agents import Agent, EpisodeInfo, Turn, build_agent
from shopsim.rollout.episode import run_episode
from shopsim.rollout.model import ModelResponse
from shopsim.rollout.workers import Assignment
from shopsim.threads import in_threads

__all__ = ["EndpointDownError", "play_in_threads"]

_LEAST_IN_A_ROW: Final = 3


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
    once as many episodes in a row as are played at a time (at least three) failed at the model. Episodes
    whose conversation outgrew what the model reads tell nothing of its endpoint and are passed over.
    """
    waiting = list(assignments)
    stopped = threading.Event()

    def play(assignment: Assignment) -> dict[str, Any]:
        agent = _Stoppable(build_agent(assignment.agent, engine), stopped)
        return run_episode(engine.new_env(), agent, assignment.job, assignment.settings)

    failed, most = 0, max(_LEAST_IN_A_ROW, min(threads, len(waiting)))
    with closing(in_threads(play, waiting, threads, stopped)) as finished:
        for place, future in finished:
            record = future.result()
            yield waiting[place].run, encode_record(record)
            if _outgrown(record):
                continue
            problem = _model_problem(record)
            failed = failed + 1 if problem else 0
            if failed >= most:
                raise EndpointDownError(
                    f"{failed} episodes in a row failed at the model: {problem}",
                    hint="Finished episodes are kept; go on with --resume.",
                )


def _model_problem(record: dict[str, Any]) -> str | None:
    error = record["error"]
    return str(error["message"]) if error and error["stage"] == "model" else None


def _outgrown(record: dict[str, Any]) -> bool:
    error = record["error"]
    return bool(record["steps"] and error and error["type"] == ContextLengthError.__name__)


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
