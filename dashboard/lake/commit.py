"""Making ingested stretches part of a catalogue: appended, merged, or kept provisional."""

from __future__ import annotations

import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import duckdb

from dashboard.lake.catalogue import Catalogue, Segment, fingerprint
from dashboard.lake.discovery import FileStamp
from dashboard.lake.lines import MAX_INVALID_DETAILS, Stretch
from dashboard.lake.merge import count_episodes, merge_segments, overlaps

__all__ = ["Plan", "commit"]

_MAX_SEGMENTS: Final = 6


@dataclass(slots=True)
class Plan:
    """What is read of one file: ``lines`` are whole new lines, ``tail`` a last line without newline.

    ``whole`` is where the whole lines end. ``catalogue`` is the state so far, changed by :func:`commit`.
    """

    path: Path
    catalogue: Catalogue
    folder: Path
    now: FileStamp
    whole: int
    lines: Stretch | None = None
    tail: Stretch | None = None

    @property
    def stretches(self) -> list[Stretch]:
        """What is to be ingested."""
        return [stretch for stretch in (self.lines, self.tail) if stretch is not None]


def commit(connection: duckdb.DuckDBPyConnection, plan: Plan) -> None:
    """Take the ingested stretches of ``plan`` into its catalogue (which the caller then saves)."""
    catalogue = plan.catalogue
    catalogue.tail, catalogue.tail_invalid, catalogue.tail_replaces = None, None, False
    if plan.lines is not None:
        _add_lines(connection, plan, plan.lines)
    if plan.tail is not None:
        _add_tail(connection, plan, plan.tail)
    catalogue.read, catalogue.stamp = plan.whole, plan.now
    catalogue.sample = fingerprint(plan.path, plan.whole)
    catalogue.counts = _counts(connection, plan)
    catalogue.version = secrets.token_hex(8)


def _add_lines(connection: duckdb.DuckDBPyConnection, plan: Plan, stretch: Stretch) -> None:
    catalogue = plan.catalogue
    catalogue.records += stretch.records
    catalogue.invalid_lines += stretch.invalid_lines
    room = MAX_INVALID_DETAILS - len(catalogue.invalid)
    catalogue.invalid.extend(asdict(line) for line in stretch.invalid[:room])
    earlier = [plan.folder / segment.name for segment in catalogue.segments]
    full = len(earlier) >= _MAX_SEGMENTS
    if earlier and (full or overlaps(connection, earlier, stretch.target)):
        _merge(connection, plan, stretch)
    else:
        catalogue.segments.append(Segment(stretch.target.name, stretch.start, stretch.stop, stretch.tables))


def _add_tail(connection: duckdb.DuckDBPyConnection, plan: Plan, stretch: Stretch) -> None:
    """Take in the last line that has no newline: a record, or a torn line, until the file grows."""
    catalogue = plan.catalogue
    if stretch.invalid:
        catalogue.tail_invalid = asdict(stretch.invalid[0])
    if not stretch.records:
        return
    earlier = [plan.folder / segment.name for segment in catalogue.segments]
    if overlaps(connection, earlier, stretch.target):
        _merge(connection, plan, stretch)
        catalogue.records += 1
        catalogue.tail_replaces = True
    else:
        catalogue.tail = Segment(stretch.target.name, stretch.start, stretch.stop, stretch.tables)


def _merge(connection: duckdb.DuckDBPyConnection, plan: Plan, stretch: Stretch) -> None:
    """Make one segment of all and the new one."""
    start = plan.catalogue.segments[0].start
    target = plan.folder / f"{start:013d}-{stretch.stop:013d}-{secrets.token_hex(4)}"
    parts = [(plan.folder / segment.name, segment.tables) for segment in plan.catalogue.segments]
    tables = merge_segments(connection, [*parts, (stretch.target, stretch.tables)], target)
    plan.catalogue.segments = [Segment(target.name, start, stretch.stop, tables)]


def _counts(connection: duckdb.DuckDBPyConnection, plan: Plan) -> dict[str, int]:
    """Unique episodes, completed, failed, scored: from the stretch when it is all there is."""
    fresh = plan.lines
    names = [part.name for part in plan.catalogue.parts()]
    if fresh is not None and names == [fresh.target.name]:
        return dict(fresh.counts)
    return count_episodes(connection, [plan.folder / name for name in names])
