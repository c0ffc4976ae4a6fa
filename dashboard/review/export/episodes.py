"""Recorded episodes as they were recorded: the very bytes of their trace lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pandas as pd

from dashboard.lake import Lake
from dashboard.lake.discovery import TRACES
from dashboard.review.errors import ExportError
from shopsim.rollout.lines import parse_line

__all__ = ["MEDIA_TYPE", "episode_lines", "recorded_lines"]

MEDIA_TYPE: Final = "application/x-ndjson"


def episode_lines(lake: Lake, episodes: pd.DataFrame) -> Iterator[bytes]:
    """Yield the recorded lines of the episodes, unchanged, each ended by a newline.

    ``episodes``: rows of ``triage_episodes.sql``. Raises :class:`ExportError` when a trace cannot be read or
    was changed since.
    """
    for line, _ in recorded_lines(lake, episodes):
        yield line


def recorded_lines(lake: Lake, episodes: pd.DataFrame) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Yield each episode's line (ended by a newline) and its record; one in memory at a time."""
    columns = (episodes[name] for name in ("run_id", "episode_id", "line_offset", "line_length"))
    for run_id, episode_id, offset, length in zip(*columns, strict=True):
        path = lake.run(str(run_id)).path / TRACES
        line = _read(path, int(offset), int(length)).removesuffix(b"\n")
        record, reason = parse_line(line)
        if record is None or record["episode_id"] != episode_id:
            raise ExportError(
                f"{path}: byte {int(offset)}: {reason or 'another episode is there now'}",
                hint="The file was changed meanwhile; export again.",
            )
        yield line + b"\n", record


def _read(path: Path, offset: int, length: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(offset)
            return file.read(length)
    except OSError as error:
        raise ExportError(f"{path}: cannot be read ({error.strerror})") from None
