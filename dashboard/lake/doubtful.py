"""Lines that DuckDB may read differently from Python: Python decides, DuckDB gets what Python read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from dashboard.lake.lines import Batch
from dashboard.lake.structure import prune
from shopsim.rollout.lines import parse_line

__all__ = ["MAX_INVALID_DETAILS", "InvalidLine", "Verdict", "judge"]

MAX_INVALID_DETAILS: Final = 1000
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class InvalidLine:
    """A line that is no record, and why."""

    offset: int
    length: int
    reason: str


@dataclass(slots=True)
class Verdict:
    """What Python made of doubtful lines: valid ones as clean JSON, invalid ones counted with a reason."""

    offsets: list[int] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    invalid: list[InvalidLine] = field(default_factory=list)

    def table(self) -> pa.Table:
        """The valid lines, shaped like :meth:`Batch.table`."""
        columns = {
            "line_offset": pa.array(self.offsets, pa.int64()),
            "line_length": pa.array(self.lengths, pa.int64()),
            "line": pa.array(self.texts, pa.large_string()),
        }
        return pa.table(columns)


def judge(batch: Batch, rows: Iterable[int]) -> Verdict:
    """Read the lines ``rows`` of a batch with Python's json (spec 04 A: what it reads is valid)."""
    verdict = Verdict()
    for row in rows:
        start, end = int(batch.starts[row]), int(batch.ends[row])
        content = batch.data[start:end]
        if not content.removeprefix(_BYTE_ORDER_MARK).strip():
            continue
        terminated = batch.terminated or row < len(batch.starts) - 1
        record, reason = parse_line(content, terminated=terminated)
        if record is None:
            verdict.invalid.append(InvalidLine(batch.offset + start, end - start, reason or "not a record"))
            continue
        verdict.offsets.append(batch.offset + start)
        verdict.lengths.append(end - start)
        verdict.texts.append(json.dumps(prune(record), ensure_ascii=False))
    return verdict
