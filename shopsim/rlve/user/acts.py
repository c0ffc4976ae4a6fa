"""What a turn of the user is: its text and its act."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

__all__ = ["TURNS_FOR_FREE", "UserAct", "UserTurn"]


class UserAct(StrEnum):
    """What the user does with a turn (spec 06)."""

    CONFIRM = "confirm"
    """Says that nothing is missing and nothing is wrong, when asked."""
    CLARIFY = "clarify"
    """Tells a detail that it was asked for."""
    CORRECT = "correct"
    """Says what is wrong with what the agent did."""
    ELABORATE = "elaborate"
    """Tells something unasked: the first message, or a detail when the agent moves on without it."""
    CONTINUE = "continue"
    """Lets the agent go on; the text may be empty."""
    RAGEQUIT = "ragequit"
    """Leaves: the episode ends."""
    DONE = "done"
    """Takes the answer: the episode ends."""
    DISSATISFIED = "dissatisfied"
    """Complains about a poor turn: nothing said and nothing done, or an invalid tool call."""


TURNS_FOR_FREE: Final = frozenset({UserAct.CONFIRM, UserAct.CLARIFY})
"""Acts whose turn the efficiency reward does not count (spec 06, T_eff)."""


@dataclass(frozen=True, slots=True)
class UserTurn:
    """One message of the user. ``told`` names the facts that this very turn told (empty for most)."""

    text: str
    act: UserAct
    told: tuple[str, ...] = ()
