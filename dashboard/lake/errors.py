"""What can go wrong in the lake, said in one line."""

from __future__ import annotations

from shopsim.errors import ShopSimError

__all__ = ["LakeError"]


class LakeError(ShopSimError):
    """A run, an episode or the lake's own cache cannot be read or written."""

    code = "lake"
