"""What can go wrong around the conversation environments: errors for the caller, never for the agent."""

from __future__ import annotations

from typing import ClassVar

from shopsim.errors import ShopSimError

__all__ = ["CatalogueError", "DemoError", "EpisodeEndedError", "RlveError"]


class RlveError(ShopSimError):
    """An environment was driven or configured in a way that it does not allow."""

    code = "rlve"
    http_status: ClassVar[int] = 400


class CatalogueError(RlveError):
    """A product file cannot be read: names the file, the line or column and the mend."""

    code = "rlve_catalogue"


class EpisodeEndedError(RlveError):
    """A step came after the end: an error, never a silent no-op."""

    code = "rlve_episode_ended"
    http_status: ClassVar[int] = 409


class DemoError(RlveError):
    """A demo folder holds something that the demo did not write, or a worker process died."""

    code = "rlve_demo"
