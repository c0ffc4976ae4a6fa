"""Two runs of conversations compared: what problem is the same, what each run shows, and the difference.

Problems are drawn; under adaptive windows two runs draw different ones. So there are two differences.
*Paired*: of the problems that both runs played. *Matched*: of all episodes, each environment and difficulty
that both runs have on its own (:mod:`dashboard.analysis.compare.strata`). Neither mixes difficulties.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from dashboard.analysis.compare import Interval, Pairing, PlanDifference
from dashboard.analysis.compare.catalogues import Kinship
from dashboard.analysis.compare.strata import MatchedDifference

__all__ = [
    "COMPARED",
    "Basis",
    "Compared",
    "ConversationComparison",
    "Difference",
    "Estimate",
    "GroupComparison",
]

Basis = Literal["paired", "matched"]

_PAIRED_FROM: Final = 0.5
"""From this share of the smaller run on the pairs are the main figure."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A figure of an episode: ``kind`` "share" for yes or no, "mean" for a number within ``bounds``."""

    label: str
    meaning: str
    kind: Literal["share", "mean"]
    better: bool | None
    bounds: tuple[float, float] | None = None
    percent: bool = False


COMPARED: Final[Mapping[str, Compared]] = {
    "passed": Compared(
        "Passed", "correct, and without what makes the reward −1", "share", True, percent=True
    ),
    "reward": Compared("Reward", "mean total reward, −1 to 1", "mean", True, (-1.0, 1.0)),
    "turns": Compared("Turns", "mean turns of the agent", "mean", None),
    "facts_told": Compared(
        "Facts told",
        "of what the user knew, the mean share told while the agent could act on it; what was never told is "
        "not held against the agent",
        "mean",
        None,
        (0.0, 1.0),
        percent=True,
    ),
    "invalid_calls": Compared(
        "Invalid calls",
        "episodes with an unknown tool or wrong arguments, which makes the reward −1",
        "share",
        False,
        percent=True,
    ),
}
"""Column of ``conversation_compare_episodes.sql`` -> what it is."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The figure of one run as it was played; the interval is None where it is not known."""

    value: float
    interval: Interval | None
    n: int


@dataclass(frozen=True, slots=True)
class Difference:
    """B minus A of ``n`` pairs, or of ``n`` matched episodes; ``mean_a`` and ``mean_b`` belong to it.

    ``interval`` is None where no spread is known. ``better``: whether more is better, None for neither.
    """

    mean_a: float
    mean_b: float
    value: float
    interval: Interval | None
    n: int
    better: bool | None

    @property
    def verdict(self) -> str:
        """What B is: better, worse, changed (where more is neither) or undecided, or that this is unknown."""
        if self.interval is None:
            return "no interval"
        if not self.interval.decided:
            return "undecided"
        if self.better is None:
            return "changed"
        return "better" if (self.value > 0) == self.better else "worse"


@dataclass(frozen=True, slots=True)
class GroupComparison:
    """All episodes (``env`` empty), those of one environment, or of one at one ``difficulty``.

    By name of :data:`COMPARED`: ``a`` and ``b`` hold the figures as they were played, ``matched`` and
    ``paired`` the differences. ``transitions`` counts what became of the paired problems, with McNemar's
    exact p; ``q`` is the p of one environment after Benjamini-Hochberg over all of them.
    """

    env: str
    difficulty: int | None
    n_a: int
    n_b: int
    a: Mapping[str, Estimate]
    b: Mapping[str, Estimate]
    matched: Mapping[str, MatchedDifference]
    paired: Mapping[str, Difference]
    transitions: Mapping[str, int]
    mcnemar_p: float
    q: float | None = None

    @property
    def pairs(self) -> int:
        """How many problems both runs played."""
        return sum(self.transitions.values())

    def difference(self, name: str, basis: Basis) -> Difference | None:
        """The difference of the figure ``name``; None where there is nothing to compare."""
        if basis == "paired":
            return self.paired.get(name)
        found = self.matched.get(name)
        if found is None:
            return None
        better = COMPARED[name].better
        return Difference(found.mean_a, found.mean_b, found.difference, found.interval, found.n, better)


@dataclass(frozen=True, slots=True)
class ConversationComparison:
    """Run B against run A. ``kin`` says whether equal keys are equal problems, as far as the plans tell.

    ``repeated``: episodes of either run whose problem that run played more than once, and ``unnamed`` those
    without a seed; neither is paired.
    """

    differences: list[PlanDifference]
    plans_known: tuple[bool, bool]
    kin: Kinship
    whole: GroupComparison
    envs: list[GroupComparison]
    levels: list[GroupComparison]
    pairing: Pairing
    repeated: tuple[int, int]
    unnamed: tuple[int, int]

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        frames = (self.pairing.pairs, self.pairing.only_a, self.pairing.only_b)
        return 20_000 + sum(int(frame.memory_usage().sum()) for frame in frames)

    @property
    def same_mix(self) -> bool:
        """Whether both runs were asked the same: every environment and difficulty in the same share."""
        n_a, n_b = self.whole.n_a, self.whole.n_b
        return all(level.n_a * n_b == level.n_b * n_a for level in self.levels)

    @property
    def basis(self) -> Basis:
        """The main figure: paired where half of the smaller run's episodes are, else matched."""
        smaller = min(self.whole.n_a, self.whole.n_b)
        return "paired" if 0 < self.whole.pairs >= _PAIRED_FROM * smaller else "matched"

    @property
    def bases(self) -> list[Basis]:
        """The differences that there are, the main one first."""
        found: list[Basis] = [name for name, there in self._there() if there]
        return sorted(found, key=lambda name: name != self.basis)

    def _there(self) -> Iterator[tuple[Basis, bool]]:
        yield "paired", self.whole.pairs > 0
        yield "matched", bool(self.whole.matched)
