"""One record of a trace file, read from the place where the lake found it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dashboard.lake.errors import LakeError
from dashboard.lake.folders import readable_name
from shopsim.rollout.lines import parse_line

__all__ = ["record_at"]


def record_at(path: Path, offset: int, length: int, episode_id: str, *, hint: str) -> dict[str, Any]:
    """The record of ``episode_id``: ``length`` bytes of ``path`` from byte ``offset``, read with one seek.

    ``hint`` says what to do when the file was changed meanwhile. Raises :class:`LakeError` then, and when the
    file cannot be read.
    """
    try:
        with path.open("rb") as file:
            file.seek(offset)
            record, reason = parse_line(file.read(length))
    except OSError as error:
        raise LakeError(f"{path}: cannot be read ({error.strerror})") from None
    # the tables hold an id as text that can be stored, which an escape in the record may not be
    if record is None or readable_name(record["episode_id"]) != episode_id:
        raise LakeError(f"{path}: byte {offset}: {reason or 'another episode is there now'}", hint=hint)
    return record
