"""Conversation episodes read by DuckDB, and by Python where DuckDB might read a line otherwise (spec 06).

The reading rules are those of traces: :func:`shopsim.rlve.rollout.records.read_episodes` is the reference.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import duckdb
import pyarrow as pa

from dashboard.lake.catalogue import fingerprint
from dashboard.lake.conversations_schema import CONVERSATION_STRUCTURE, conversation_structure_json
from dashboard.lake.doubtful import judge
from dashboard.lake.lines import Batch, InvalidLine, Stretch, end_of_lines, lines_table
from dashboard.lake.reader import LineBuffer, LineReader
from dashboard.lake.sql import load_sql
from dashboard.lake.suspects import Suspects

__all__ = ["EpisodesFile", "no_episodes", "read_episodes_file"]

_BUFFER_BYTES: Final = 32 << 20
_MOST_INVALID: Final = 100


@dataclass(frozen=True, slots=True)
class EpisodesFile:
    """What a file held when it had ``size`` bytes.

    ``table``: one row a valid record in file order, also those that a later one of the same episode
    replaces. ``settled`` is where its last ended line ends and ``sample`` a fingerprint of the bytes before:
    while they stay, only what follows has to be read. All places and sizes are bytes.
    """

    size: int
    settled: int
    sample: str
    table: pa.Table
    invalid_lines: int
    invalid: tuple[InvalidLine, ...]


def read_episodes_file(path: Path, size: int, known: EpisodesFile | None = None) -> EpisodesFile:
    """Read the first ``size`` bytes of ``path``; of a file that grew since ``known`` only what is new.

    Raises :class:`OSError` when it cannot be read and :class:`duckdb.Error` when DuckDB cannot go on.
    """
    if known is not None and (size <= known.size or fingerprint(path, known.settled) != known.sample):
        known = None
    start = 0 if known is None else known.settled
    stretch = Stretch(path, "", start, size, path)
    with _connection() as connection:
        table = _read(connection, stretch)
    invalid_lines, invalid = stretch.invalid_lines, stretch.invalid
    if known is not None:
        offsets = known.table["line_offset"].to_numpy()
        table = pa.concat_tables([known.table.filter(pa.array(offsets < start)), table])
        before = [line for line in known.invalid if line.offset < start]
        torn = len(known.invalid) - len(before)  # at most the last line, and then its details are kept
        invalid_lines += known.invalid_lines - torn
        invalid = before + invalid
    settled = end_of_lines(path, start, size)
    return EpisodesFile(size, settled, fingerprint(path, settled), table, invalid_lines, _some(invalid))


def no_episodes() -> pa.Table:
    """The columns of :attr:`EpisodesFile.table`, without a row."""
    with _connection() as connection:
        return _figures(connection, lines_table([], [], [], [], [], []))


def _connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:", config={"memory_limit": "512MB"})
    connection.execute(load_sql("ingest_macros"))
    return connection


def _some(invalid: list[InvalidLine]) -> tuple[InvalidLine, ...]:
    """The first details, and always those of the last line: it may be torn and be read again."""
    return tuple(invalid if len(invalid) <= _MOST_INVALID else [*invalid[: _MOST_INVALID - 1], invalid[-1]])


def _read(connection: duckdb.DuckDBPyConnection, stretch: Stretch) -> pa.Table:
    found = [_figures(connection, lines_table([], [], [], [], [], []))]
    search, reader = Suspects(), LineReader([stretch])
    size = max(1, min(stretch.stop - stretch.start + 1, _BUFFER_BYTES))
    with LineBuffer(size) as buffer:
        while (batch := reader.next(buffer)) is not None:
            found += _read_batch(connection, batch, batch.suspects(search), stretch)
    return pa.concat_tables(found).sort_by("line_offset")


def _read_batch(
    connection: duckdb.DuckDBPyConnection, batch: Batch, suspects: list[int], stretch: Stretch
) -> Iterable[pa.Table]:
    """The figures of a batch's valid records: what DuckDB read, and what Python had to read first."""
    found = []
    if len(suspects) < len(batch):
        found.append(_figures(connection, batch.table(suspects)))
        doubtful = connection.execute(load_sql("conversation_ingest_doubtful")).fetchall()
        suspects = sorted({*suspects, *(int(row) for (row,) in doubtful)})
    judged = judge(batch, suspects, [stretch], CONVERSATION_STRUCTURE)
    if judged is not None:
        found.append(_figures(connection, judged))
    return found


def _figures(connection: duckdb.DuckDBPyConnection, lines: pa.Table) -> pa.Table:
    connection.register("lines", lines)
    connection.execute(load_sql("conversation_ingest_parse"), {"structure": conversation_structure_json()})
    figures = connection.sql(load_sql("conversation_ingest_episodes")).to_arrow_table()
    connection.unregister("lines")
    return figures
