"""Streams of chance: each purpose has its own, so that one more draw here changes nothing there."""

from __future__ import annotations

import hashlib
from random import Random

__all__ = ["derived_seed", "stream"]


def derived_seed(seed: int, *purpose: str | int) -> int:
    """A seed in [0, 2**63) for ``purpose``, the same everywhere: the first bytes of a SHA-256."""
    text = ":".join(str(part) for part in (seed, *purpose))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def stream(seed: int, *purpose: str | int) -> Random:
    """A generator of its own for ``purpose``."""
    return Random(derived_seed(seed, *purpose))
