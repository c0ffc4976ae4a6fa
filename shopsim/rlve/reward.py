"""The reward of an episode, given once at its end (spec 06, "Episode"). Pure: figures in, figures out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

__all__ = [
    "EpisodeReward",
    "Violation",
    "clip",
    "effective_turns",
    "efficiency",
    "episode_reward",
    "hallucination",
]

Violation = Literal["unparsable_action", "invalid_tool_call", "denied_category"]
"""What makes the whole episode worth -1, whatever else was achieved; the first that holds is named."""

TASK_WEIGHT: Final = 0.75
EFFICIENCY_WEIGHT: Final = 0.15
HALLUCINATION_WEIGHT: Final = 0.10
_PENALTY: Final = -1.0


@dataclass(frozen=True, slots=True)
class EpisodeReward:
    """The reward and what it is made of. All parts are in [-1, 1]; ``hallucination`` is in [-1, 0]."""

    total: float
    task: float
    """r_task, as the task's verifier says."""
    efficiency: float
    """r_eff: 1 for an episode of one effective turn, -1 for one that used all its turns."""
    hallucination: float
    """r_hall: minus the share of recommended ids that no tool ever showed."""
    violation: Violation | None
    """Why ``total`` is -1 without regard to the parts, or None."""
    turns: int
    effective_turns: int
    """T_eff: turns less those that the user spent confirming or clarifying, at least 1."""

    def to_wire(self) -> dict[str, Any]:
        """The breakdown as JSON data."""
        return asdict(self)


def clip(value: float, low: float = -1.0, high: float = 1.0) -> float:
    """``value``, or the bound of [low, high] that it lies beyond."""
    return min(high, max(low, value))


def effective_turns(turns: int, user_turns: int) -> int:
    """T_eff of ``turns`` turns of which the user spent ``user_turns`` confirming or clarifying."""
    return max(1, turns - user_turns)


def efficiency(effective: int, max_turns: int) -> float:
    """r_eff = clip(1 - 2 (T_eff - 1) / (T_max - 1), -1, 1); 1 where one turn is all there is."""
    if max_turns <= 1:
        return 1.0
    return clip(1.0 - 2.0 * (effective - 1) / (max_turns - 1))


def hallucination(recommended: Sequence[str], shown: Collection[str]) -> float:
    """r_hall: minus the share of ``recommended`` ids (each counted once) that are not in ``shown``.

    0 where nothing is recommended.
    """
    unique = dict.fromkeys(recommended)
    if not unique:
        return 0.0
    unseen = sum(product_id not in shown for product_id in unique)
    return -unseen / len(unique) if unseen else 0.0


def episode_reward(
    *,
    task: float,
    turns: int,
    user_turns: int,
    max_turns: int,
    recommended: Sequence[str],
    shown: Collection[str],
    violation: Violation | None = None,
) -> EpisodeReward:
    """The reward of an episode that ended.

    ``turns`` are those the agent took, ``user_turns`` the ones that the user spent confirming or clarifying,
    ``max_turns`` is T_max, ``recommended`` the ids of the last answer, ``shown`` every id that a tool showed.
    """
    effective = effective_turns(turns, user_turns)
    r_task = clip(task)
    r_eff = efficiency(effective, max_turns)
    r_hall = hallucination(recommended, shown)
    total = _PENALTY
    if violation is None:
        total = clip(TASK_WEIGHT * r_task + EFFICIENCY_WEIGHT * r_eff + HALLUCINATION_WEIGHT * r_hall)
    return EpisodeReward(total, r_task, r_eff, r_hall, violation, turns, effective)
