"""The adaptive curriculum: a window of difficulties for each environment (spec 06, "Difficulty").

A window ``[low, high]`` starts at ``[0, 0]``. Difficulties are drawn from it uniformly, but only episodes at
``high`` count: after 32 of them the window moves up by one when at least nine tenths were solved, never
spanning more than five difficulties; whether it moves or not, the count starts again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from random import Random
from typing import Any, Final

from shopsim.errors import UsageError
from shopsim.formats import RLVE_CURRICULUM_SCHEMA
from shopsim.jsonio import read_json, write_json
from shopsim.rlve.difficulty import MAX_DIFFICULTY
from shopsim.rlve.errors import RlveError

__all__ = ["AdaptiveWindow", "Curriculum", "CurriculumError"]

EPISODES_A_LEVEL: Final = 32
PASS_RATE: Final = 0.9
MAX_SPAN: Final = 4
_MEND: Final = "Use the file as it was saved, or start without one."


class CurriculumError(RlveError):
    """A saved state is not one: names the field and what is wrong with it."""

    code = "rlve_curriculum"


@dataclass(frozen=True, slots=True)
class AdaptiveWindow:
    """Difficulties ``low``..``high``, and how the episodes at ``high`` went since the last decision."""

    low: int = 0
    high: int = 0
    attempts: int = 0
    passes: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise CurriculumError(f"{field.name}: must be a whole number of at least 0, not {value!r}")
        if not 0 <= self.high - self.low <= MAX_SPAN or self.high > MAX_DIFFICULTY:
            raise CurriculumError(
                f"window [{self.low}, {self.high}]: must span 0 to {MAX_SPAN} and end at {MAX_DIFFICULTY}"
            )
        if not self.passes <= self.attempts < EPISODES_A_LEVEL:
            raise CurriculumError(
                f"passes {self.passes} of attempts {self.attempts}: at most all, and below {EPISODES_A_LEVEL}"
            )

    def draw(self, dice: Random) -> int:
        """A difficulty of the window, each as likely as the others."""
        return dice.randint(self.low, self.high)

    def record(self, difficulty: int, passed: bool) -> AdaptiveWindow:
        """The window after an episode at ``difficulty``."""
        if difficulty != self.high:
            return self
        attempts, passes = self.attempts + 1, self.passes + passed
        if attempts < EPISODES_A_LEVEL:
            return AdaptiveWindow(self.low, self.high, attempts, passes)
        climbs = passes >= PASS_RATE * attempts and self.high < MAX_DIFFICULTY
        high = self.high + climbs
        return AdaptiveWindow(max(self.low, high - MAX_SPAN), high)


class Curriculum:
    """One window for each environment of a collection."""

    def __init__(self, envs: Sequence[str]) -> None:
        """Start at difficulty 0. Raises :class:`UsageError` without environments or with one given twice."""
        if not envs or len(set(envs)) != len(envs):
            raise UsageError("environments of a curriculum: at least one, each once")
        self._windows = {env: AdaptiveWindow() for env in envs}
        self._episodes = 0

    @property
    def envs(self) -> tuple[str, ...]:
        """The environments, in the order in which they were given."""
        return tuple(self._windows)

    @property
    def episodes(self) -> int:
        """Episodes recorded so far, at any difficulty."""
        return self._episodes

    def window(self, env: str) -> AdaptiveWindow:
        """The window of ``env``. Raises :class:`UsageError` for one that is not of the collection."""
        if env not in self._windows:
            raise UsageError(f"environment {env!r}: not one of {', '.join(self._windows)}")
        return self._windows[env]

    def draw(self, dice: Random, env: str | None = None) -> tuple[str, int]:
        """An environment (uniformly, unless it is given) and a difficulty of its window."""
        if env is None:
            env = dice.choice(self.envs)
        return env, self.window(env).draw(dice)

    def record(self, env: str, difficulty: int, passed: bool) -> None:
        """Count an episode that ended."""
        self._windows[env] = self.window(env).record(difficulty, passed)
        self._episodes += 1

    def to_wire(self) -> dict[str, Any]:
        """The state as JSON data, with the version of its schema."""
        return {
            "schema_version": RLVE_CURRICULUM_SCHEMA,
            "episodes": self._episodes,
            "windows": {env: asdict(window) for env, window in self._windows.items()},
        }

    @classmethod
    def from_wire(cls, wire: object) -> Curriculum:
        """The curriculum of a saved state. Raises :class:`CurriculumError` for anything else."""
        if not isinstance(wire, Mapping) or wire.get("schema_version") != RLVE_CURRICULUM_SCHEMA:
            raise CurriculumError(f"schema_version: must be {RLVE_CURRICULUM_SCHEMA}", hint=_MEND)
        if unknown := sorted(set(wire) - {"schema_version", "episodes", "windows"}):
            raise CurriculumError(f"{unknown[0]}: no such field", hint=_MEND)
        episodes, windows = wire.get("episodes"), wire.get("windows")
        if isinstance(episodes, bool) or not isinstance(episodes, int) or episodes < 0:
            raise CurriculumError("episodes: must be a whole number of at least 0", hint=_MEND)
        if not isinstance(windows, Mapping) or not windows:
            raise CurriculumError("windows: must name at least one environment", hint=_MEND)
        restored = cls(tuple(windows))
        restored._episodes = episodes
        restored._windows = {env: _window(env, values) for env, values in windows.items()}
        return restored

    def save(self, path: Path) -> None:
        """Write the state atomically."""
        write_json(path, self.to_wire())

    @classmethod
    def load(cls, path: Path) -> Curriculum:
        """Read a saved state. Raises :class:`CurriculumError` that names the file and the field."""
        try:
            return cls.from_wire(read_json(path, mend=_MEND))
        except CurriculumError as error:
            raise CurriculumError(f"{path}: {error}") from None


def _window(env: object, values: object) -> AdaptiveWindow:
    names = {field.name for field in fields(AdaptiveWindow)}
    if not isinstance(env, str) or not isinstance(values, Mapping) or set(values) != names:
        raise CurriculumError(f"windows.{env}: must hold {', '.join(sorted(names))}", hint=_MEND)
    try:
        return AdaptiveWindow(**values)
    except CurriculumError as error:
        raise CurriculumError(f"windows.{env}.{error}", hint=_MEND) from None
