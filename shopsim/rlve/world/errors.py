"""What the shop says no to."""

from __future__ import annotations

from typing import ClassVar

from shopsim.rlve.errors import RlveError

__all__ = ["RefusedError"]


class RefusedError(RlveError):
    """The shop refuses: no such id, out of stock, not returnable. A well-formed call that has no effect.

    The message is read by the agent: it names what was refused and why.
    """

    code = "rlve_refused"
    http_status: ClassVar[int] = 409
