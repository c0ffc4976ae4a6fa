"""Episode records (``ecomrlve-episode-v1``): made while an episode is played, and read back."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from shopsim.formats import RLVE_EPISODE_SCHEMA
from shopsim.rlve.agents.base import Agent, EpisodeStart
from shopsim.rlve.curriculum import AdaptiveWindow
from shopsim.rlve.env import RlveEnv
from shopsim.rlve.rewordings import RecordedVerbaliser
from shopsim.rlve.seeds import derived_seed
from shopsim.rollout.trace import TraceIndex, read_records

__all__ = [
    "Draw",
    "episode_id",
    "is_complete",
    "play",
    "read_episodes",
    "recorded_verbaliser",
    "replay",
    "without_timing",
]

_TIMING: Final = ("started_at", "duration_ms", "agent")


@dataclass(frozen=True, slots=True)
class Draw:
    """What the curriculum decided about one episode, and the window that it drew the difficulty from."""

    episode: int
    env: str
    difficulty: int
    seed: int
    window: AdaptiveWindow | None

    def to_wire(self) -> dict[str, Any]:
        """The fields of a record that say what was drawn."""
        return {
            "episode_id": episode_id(self.episode),
            "episode": self.episode,
            "env": self.env,
            "difficulty": self.difficulty,
            "seed": self.seed,
            "window": None if self.window is None else asdict(self.window),
        }


@dataclass(slots=True)
class _Clock:
    """What only time decides: no part of a replay."""

    started_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat())
    started: float = field(default_factory=time.perf_counter)
    latencies_ms: list[float] = field(default_factory=list)
    usage: list[dict[str, Any]] = field(default_factory=list)

    def to_wire(self) -> dict[str, Any]:
        return {
            "started_at": self.started_at,
            "duration_ms": (time.perf_counter() - self.started) * 1000.0,
            "agent": {"latency_ms": self.latencies_ms, "usage": self.usage},
        }


def episode_id(episode: int) -> str:
    """``episode-000012``."""
    return f"episode-{episode:06d}"


def play(env: RlveEnv, agent: Agent, draw: Draw) -> dict[str, Any]:
    """Play the episode of ``draw`` and return its record.

    Raises :class:`~shopsim.rlve.agents.base.AgentError` when the agent cannot go on.
    """
    clock = _Clock()
    observation = env.reset(draw.seed, draw.env, draw.difficulty)
    seed = derived_seed(draw.seed, "agent")
    agent.begin(EpisodeStart(observation, seed, draw.difficulty, env.solution))
    done = False
    while not done:
        asked = time.perf_counter()
        reply = agent.act(observation)
        clock.latencies_ms.append((time.perf_counter() - asked) * 1000.0)
        clock.usage.append(dict(reply.usage))
        result = env.step(reply.response)
        observation, done = result.observation, result.done
    return {**_record(env, draw), **clock.to_wire()}


def replay(env: RlveEnv, record: Mapping[str, Any], draw: Draw) -> dict[str, Any]:
    """Play the recorded responses again and return the record that comes out, without timing.

    ``env`` must word the user's texts as the record does (:func:`recorded_verbaliser`).
    """
    env.reset(draw.seed, draw.env, draw.difficulty)
    for turn in record["turns"]:
        if env.step(turn["response"]).done:
            break
    return _record(env, draw)


def recorded_verbaliser(record: Mapping[str, Any]) -> RecordedVerbaliser | None:
    """Words the user's texts as they were recorded; None where no model reworded them."""
    texts = record.get("rewordings")
    return None if texts is None else RecordedVerbaliser(texts)


def is_complete(record: Mapping[str, Any]) -> bool:
    """Whether a record is a whole episode of the known schema."""
    return record.get("schema_version") == RLVE_EPISODE_SCHEMA and isinstance(record.get("end"), Mapping)


def read_episodes(path: Path) -> TraceIndex:
    """The episodes of a run, by the reading rules of traces: torn lines are passed over, the last wins.

    Raises :class:`~shopsim.rollout.trace.TraceError` when the file is missing or cannot be read.
    """
    return read_records(path, complete=is_complete)


def without_timing(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record without what only time decides."""
    return {name: value for name, value in record.items() if name not in _TIMING}


def _record(env: RlveEnv, draw: Draw) -> dict[str, Any]:
    episode = env.episode
    end = episode.end
    spoken = [entry for entry in episode.conversation if entry["role"] != "tool"]
    return {
        "schema_version": RLVE_EPISODE_SCHEMA,
        **draw.to_wire(),
        "max_turns": episode.max_turns,
        "tool_calls_per_turn": episode.problem.difficulty.tool_calls,
        "conversation": [{"role": entry["role"], "content": entry["content"]} for entry in spoken],
        "opening": episode.opening,
        "turns": episode.turns,
        "rewordings": env.rewordings,
        "end": None if end is None else end.to_wire(),
        "private": episode.private(),
    }
