"""Traces: one episode a line, read by the rules of spec 04 A.

:class:`~shopsim.jsonl.LineWriter` appends; :func:`read_records` is the reference reading in plain Python that
every other reader of traces must agree with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from shopsim.formats import EPISODE_SCHEMA
from shopsim.rollout.lines import MAX_LINE_BYTES, TraceError, TraceLine, iter_lines, parse_line

__all__ = [
    "MAX_LINE_BYTES",
    "InvalidLine",
    "TraceEntry",
    "TraceError",
    "TraceIndex",
    "is_complete",
    "read_records",
]

#: Details are kept of this many invalid lines; beyond it they are only counted.
MAX_INVALID_DETAILS = 1000


def is_complete(record: Mapping[str, Any]) -> bool:
    """Complete = known schema, ``status`` completed and ``final.done`` true (spec 04 A)."""
    final = record.get("final")
    return (
        record.get("schema_version") == EPISODE_SCHEMA
        and record.get("status") == "completed"
        and isinstance(final, Mapping)
        and final.get("done") is True
    )


@dataclass(frozen=True, slots=True)
class TraceEntry:
    """Where the winning record of one episode lies. ``length`` is without the final newline."""

    episode_id: str
    offset: int
    length: int
    line_number: int
    complete: bool


@dataclass(frozen=True, slots=True)
class InvalidLine:
    """A line that is no record, and why."""

    line_number: int
    offset: int
    length: int
    reason: str


@dataclass(slots=True)
class TraceIndex:
    """What a trace holds: the last valid record of each episode, and what was passed over.

    Only places are kept, never records: memory grows with the number of episodes, not with the file.
    ``complete`` says which records are complete; traces of another schema have their own rule.
    """

    path: Path
    entries: dict[str, TraceEntry] = field(default_factory=dict)
    records: int = 0
    invalid_count: int = 0
    invalid: list[InvalidLine] = field(default_factory=list)
    complete: Callable[[Mapping[str, Any]], bool] = is_complete

    @property
    def unique_episodes(self) -> int:
        """Episodes with at least one valid record."""
        return len(self.entries)

    @property
    def duplicate_records(self) -> int:
        """Valid records that a later one of the same episode replaced."""
        return self.records - len(self.entries)

    @property
    def complete_ids(self) -> frozenset[str]:
        """Episodes whose winning record is complete."""
        return frozenset(entry.episode_id for entry in self.entries.values() if entry.complete)

    def counts(self) -> dict[str, int]:
        """The ``trace_index`` object of a summary."""
        return {
            "records": self.records,
            "unique_episodes": self.unique_episodes,
            "duplicate_records": self.duplicate_records,
            "invalid_lines": self.invalid_count,
        }

    def add(self, line: TraceLine) -> None:
        """Count one line; a valid record replaces an earlier one of the same episode."""
        if line.record is None:
            self.invalid_count += 1
            if len(self.invalid) < MAX_INVALID_DETAILS:
                reason = line.reason or "not a record"
                self.invalid.append(InvalidLine(line.number, line.offset, line.length, reason))
            return
        self.records += 1
        key: str = line.record["episode_id"]
        self.entries[key] = TraceEntry(key, line.offset, line.length, line.number, self.complete(line.record))

    def read(self, episode_id: str) -> dict[str, Any]:
        """Read the winning record of one episode with one seek.

        Raises :class:`TraceError` when there is none, or when the file changed under the index.
        """
        entry = self.entries.get(episode_id)
        if entry is None:
            raise TraceError(f"{self.path}: no record of episode {episode_id}")
        with self.path.open("rb") as file:
            return self._read_at(file, entry)

    def latest(self) -> Iterator[dict[str, Any]]:
        """Yield the winning records in file order, one in memory at a time."""
        with self.path.open("rb") as file:
            for entry in sorted(self.entries.values(), key=lambda entry: entry.offset):
                yield self._read_at(file, entry)

    def _read_at(self, file: BinaryIO, entry: TraceEntry) -> dict[str, Any]:
        file.seek(entry.offset)
        record, reason = parse_line(file.read(entry.length))
        if record is None or record["episode_id"] != entry.episode_id:
            problem = reason or "another episode is there now"
            raise TraceError(
                f"{self.path}: byte {entry.offset}: {problem}",
                hint="The file was changed while it was read; read it again.",
            )
        return record


def read_records(
    path: Path,
    *,
    max_line_bytes: int = MAX_LINE_BYTES,
    complete: Callable[[Mapping[str, Any]], bool] = is_complete,
) -> TraceIndex:
    """Read a whole trace by the reading rules of spec 04 A, streaming.

    Blank lines are ignored; a torn last line, invalid UTF-8, anything that is no JSON object and a record
    without a text ``episode_id`` are invalid lines; of several valid records of one episode the last wins.
    Raises :class:`TraceError` when the file is missing or cannot be read.
    """
    index = TraceIndex(path, complete=complete)
    for line in iter_lines(path, max_line_bytes=max_line_bytes):
        index.add(line)
    return index
