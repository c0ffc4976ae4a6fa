"""The scripted clerk's skill: a frozen set of named chances to go wrong, and three stages of it.

They are settings of a script, not results of training; runs made with them say so in their manifest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Final

from shopsim.rollout.scripted_skills import check_chance, skill_from_mapping

__all__ = ["SKILLS", "Skill", "skill_from_mapping"]

_MAX_STRAIN: Final = 10.0


@dataclass(frozen=True, slots=True)
class Skill:
    """How often the clerk goes wrong. Chances are in [0, 1], at difficulty 0; ``strain`` raises them."""

    label: str
    strain: float
    """Share that every chance grows by for each level of difficulty: at d it is chance * (1 + strain * d)."""
    broken_action: float
    """Chance in a turn that the answer is no JSON action."""
    invalid_call: float
    """Chance in a turn that a tool is called with an argument that it does not have."""
    idle_talk: float
    """Chance in a turn that it is spent on talk."""
    early_answer: float
    """Chance in a turn that it gives up and answers with nothing."""
    wrong_pick: float
    """Chance for each recommended product that another one is recommended in its place."""
    wrong_piece: float
    """Chance for each product put into the cart that the quantity is one too many."""
    wrong_value: float
    """Chance for each order, line, status or policy answer that it is another one."""

    def __post_init__(self) -> None:
        for name in _CHANCES:
            check_chance(self, name)
        check_chance(self, "strain", _MAX_STRAIN)

    def chance(self, name: str, difficulty: int) -> float:
        """The chance of that name at ``difficulty``, at most 1."""
        value: float = getattr(self, name)
        return min(1.0, value * (1.0 + self.strain * difficulty))


_CHANCES: Final = tuple(field.name for field in fields(Skill) if field.name not in ("label", "strain"))


SKILLS: Final[Mapping[str, Skill]] = MappingProxyType(
    {
        skill.label: skill
        for skill in (
            Skill(
                label="novice",
                strain=0.10,
                broken_action=0.02,
                invalid_call=0.04,
                idle_talk=0.20,
                early_answer=0.05,
                wrong_pick=0.15,
                wrong_piece=0.15,
                wrong_value=0.15,
            ),
            Skill(
                label="trained",
                strain=0.35,
                broken_action=0.001,
                invalid_call=0.002,
                idle_talk=0.05,
                early_answer=0.002,
                wrong_pick=0.004,
                wrong_piece=0.015,
                wrong_value=0.015,
            ),
            Skill(
                label="expert",
                strain=0.20,
                broken_action=0.0,
                invalid_call=0.0005,
                idle_talk=0.02,
                early_answer=0.0,
                wrong_pick=0.001,
                wrong_piece=0.003,
                wrong_value=0.003,
            ),
        )
    }
)
"""Stages of skill by label."""
