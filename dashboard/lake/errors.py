"""What can go wrong in the lake, said in one line."""

from __future__ import annotations

from shopsim.errors import ShopSimError

__all__ = ["LakeError", "UnknownRunError"]


class LakeError(ShopSimError):
    """A run, an episode or the lake's own cache cannot be read or written."""

    code = "lake"


class UnknownRunError(LakeError):
    """A run was asked for that is not there."""

    code = "unknown_run"
    http_status = 404
    exit_code = 2

    def __init__(self, run: str, hint: str = "`shopsim-review runs` lists the runs that were found.") -> None:
        super().__init__(f"no run named {run!r}", hint=hint)
