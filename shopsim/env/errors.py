"""What can go wrong in an episode: errors for the caller. Nothing here ever reaches the agent."""

from __future__ import annotations

from typing import ClassVar

from shopsim.errors import ShopSimError

__all__ = [
    "EpisodeEndedError",
    "EpisodeError",
    "ObservationStateError",
    "TerminationReasonError",
]


class EpisodeError(ShopSimError):
    """The environment was driven in a way that no episode allows."""

    code = "episode"
    http_status: ClassVar[int] = 400


class EpisodeEndedError(EpisodeError):
    """A step or termination came after the end: an error, never a silent no-op (spec 01 §1)."""

    code = "episode_ended"
    http_status: ClassVar[int] = 409


class TerminationReasonError(EpisodeError):
    """A runner may report ``action_limit`` or ``generation_length``; every other reason is refused."""

    code = "termination_reason"


class ObservationStateError(ShopSimError):
    """A state that must not be shown: private keys, an unknown version or page, inconsistent products."""

    code = "observation_state"
    http_status: ClassVar[int] = 400
