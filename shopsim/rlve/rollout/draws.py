"""Which episodes a run consists of: drawn by seed and curriculum, the same on every replay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shopsim.rlve.curriculum import Curriculum
from shopsim.rlve.rollout.records import Draw
from shopsim.rlve.seeds import derived_seed, stream

__all__ = ["Course"]


class Course:
    """The curriculum of a run, batch by batch: :meth:`batch` draws, :meth:`record` tells what came of it.

    The windows move only between batches, so that the episodes of one do not depend on each other.
    """

    def __init__(self, plan: Mapping[str, Any]) -> None:
        """``plan`` is that of a manifest: environments, seed, difficulty and batch size count."""
        self.curriculum = Curriculum(tuple(plan["environment"]["environments"]))
        self.size: int = plan["batch"]
        self._seed: int = plan["seed"]
        self._difficulty: int | None = plan["difficulty"]
        self._next = 0

    def batch(self, episodes: int) -> list[Draw]:
        """The next batch of a run of ``episodes`` episodes; empty when all were drawn."""
        last = min(self._next + self.size, episodes)
        draws = [self._draw(episode) for episode in range(self._next, last)]
        self._next = last
        return draws

    def record(self, draw: Draw, end: Mapping[str, Any]) -> None:
        """Count an episode. ``end`` is that of its record. With a fixed difficulty no window moves."""
        if self._difficulty is None:
            self.curriculum.record(draw.env, draw.difficulty, bool(end["correct"]))

    def _draw(self, episode: int) -> Draw:
        dice = stream(self._seed, "draw", episode)
        seed = derived_seed(self._seed, "episode", episode)
        env, difficulty = self.curriculum.draw(dice)
        if self._difficulty is not None:
            return Draw(episode, env, self._difficulty, seed, None)
        return Draw(episode, env, difficulty, seed, self.curriculum.window(env))
