"""The scripted shopper's skill: a frozen set of named parameters, and the five stages of the demo.

They are settings of a script, not results of training; runs made with them say so in their manifest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from shopsim.errors import UsageError
from shopsim.rollout.scripted_skills import check_chance, skill_from_mapping

__all__ = ["SKILLS", "QueryWording", "Skill", "skill_from_mapping"]

QueryWording = Literal["verbatim", "keywords", "keywords+persona"]
_WORDINGS: Final = ("verbatim", "keywords", "keywords+persona")
_CHANCES: Final = (
    "comparing",
    "rewording",
    "price_attention",
    "need_attention",
    "persona_attention",
    "option_care",
    "budget_check",
    "indecision",
    "protocol_slip",
    "slip_repeat",
    "invalid_action",
    "invalid_repeat",
    "length_cutoff",
)
_COUNTS: Final = ("query_terms", "max_searches", "pages_read", "products_tried")


@dataclass(frozen=True, slots=True)
class Skill:
    """How well the shopper does each part of the work. Chances are between 0 and 1."""

    label: str
    query_wording: QueryWording
    """``verbatim``: the instruction as it is; ``keywords``: without filler and money; or with the persona."""
    query_terms: int
    """At most this many words in a query (not for ``verbatim``)."""
    max_searches: int
    """Queries tried before it settles for what it saw."""
    pages_read: int
    """Result pages read for each query."""
    products_tried: int
    """Products opened before it settles."""
    comparing: float
    """Chance in an episode that it ranks products by the needs instead of taking the first result."""
    rewording: float
    """Chance in an episode that it words the query anew when no product listed is all that was named."""
    price_attention: float
    """Chance in an episode that listed prices count when it ranks products."""
    need_attention: float
    """Chance that a need of the instruction is kept in mind."""
    persona_attention: float
    """Chance that a line of the persona is kept in mind."""
    option_care: float
    """Chance for each axis that the option is chosen by the needs instead of the first one offered."""
    budget_check: float
    """Chance in an episode that the price is checked before buying."""
    indecision: float
    """Chance in an episode that it keeps looking until the actions are used up."""
    protocol_slip: float
    """Chance in a turn that it breaks the tool protocol."""
    slip_repeat: float
    """Chance that it breaks the protocol again right after being told."""
    invalid_action: float
    """Chance in a turn that it does something that the page does not offer."""
    invalid_repeat: float
    """Chance that it repeats an action that was refused."""
    length_cutoff: float
    """Chance in a turn that it talks until it is cut off."""

    def __post_init__(self) -> None:
        if self.query_wording not in _WORDINGS:
            raise UsageError(f"skill {self.label}: query_wording must be one of {', '.join(_WORDINGS)}")
        for name in _COUNTS:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise UsageError(f"skill {self.label}: {name} must be a whole number of at least 1")
        for name in _CHANCES:
            check_chance(self, name)


_ITER00 = Skill(
    label="iter00",
    query_wording="verbatim",
    query_terms=3,
    max_searches=2,
    pages_read=1,
    products_tried=1,
    comparing=0.55,
    rewording=0.1,
    price_attention=0.3,
    need_attention=0.7,
    persona_attention=0.4,
    option_care=0.75,
    budget_check=0.3,
    indecision=0.05,
    protocol_slip=0.07,
    slip_repeat=0.35,
    invalid_action=0.09,
    invalid_repeat=0.4,
    length_cutoff=0.01,
)
_ITER20 = Skill(
    label="iter20",
    query_wording="verbatim",
    query_terms=4,
    max_searches=2,
    pages_read=1,
    products_tried=1,
    comparing=0.75,
    rewording=0.2,
    price_attention=0.5,
    need_attention=0.85,
    persona_attention=0.6,
    option_care=0.85,
    budget_check=0.5,
    indecision=0.04,
    protocol_slip=0.05,
    slip_repeat=0.3,
    invalid_action=0.06,
    invalid_repeat=0.3,
    length_cutoff=0.008,
)
_ITER40 = Skill(
    label="iter40",
    query_wording="keywords",
    query_terms=5,
    max_searches=3,
    pages_read=2,
    products_tried=2,
    comparing=0.88,
    rewording=0.3,
    price_attention=0.7,
    need_attention=0.92,
    persona_attention=0.75,
    option_care=0.92,
    budget_check=0.7,
    indecision=0.03,
    protocol_slip=0.035,
    slip_repeat=0.25,
    invalid_action=0.035,
    invalid_repeat=0.2,
    length_cutoff=0.006,
)
_ITER60 = Skill(
    label="iter60",
    query_wording="keywords+persona",
    query_terms=6,
    max_searches=3,
    pages_read=2,
    products_tried=2,
    comparing=0.95,
    rewording=0.35,
    price_attention=0.9,
    need_attention=0.97,
    persona_attention=0.88,
    option_care=0.96,
    budget_check=0.85,
    indecision=0.02,
    protocol_slip=0.025,
    slip_repeat=0.2,
    invalid_action=0.015,
    invalid_repeat=0.15,
    length_cutoff=0.004,
)
_ITER80 = Skill(
    label="iter80",
    query_wording="keywords+persona",
    query_terms=6,
    max_searches=4,
    pages_read=3,
    products_tried=6,
    comparing=1.0,
    rewording=0.4,
    price_attention=1.0,
    need_attention=1.0,
    persona_attention=1.0,
    option_care=1.0,
    budget_check=0.97,
    indecision=0.01,
    protocol_slip=0.015,
    slip_repeat=0.15,
    invalid_action=0.008,
    invalid_repeat=0.1,
    length_cutoff=0.003,
)

SKILLS: Final[Mapping[str, Skill]] = {
    skill.label: skill for skill in (_ITER00, _ITER20, _ITER40, _ITER60, _ITER80)
}
"""The stages of the demo by label, in order."""
