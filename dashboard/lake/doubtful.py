"""Lines that DuckDB may read differently from Python: Python decides, DuckDB gets what Python read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from dashboard.lake.lines import Batch, InvalidLine, Stretch, lines_table
from dashboard.lake.structure import STRUCTURE, prune
from shopsim.rollout.lines import parse_line

__all__ = ["judge"]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def judge(
    batch: Batch,
    rows: Iterable[int],
    stretches: Sequence[Stretch],
    structure: Mapping[str, Any] = STRUCTURE,
) -> pa.Table | None:
    """Read lines with Python's json (spec 04 A: what it reads is valid).

    Of valid ones what ``structure`` declares is returned as clean JSON in a table like :meth:`Batch.table`
    (None when there are none); invalid ones are counted in their stretch.
    """
    kept: list[int] = []
    texts: list[str] = []
    for row in rows:
        content = batch.content(row)
        if not content.removeprefix(_BYTE_ORDER_MARK).strip():
            continue
        record, reason = parse_line(content, terminated=row not in batch.unterminated)
        if record is None:
            line = InvalidLine(int(batch.offset[row]), len(content), reason or "not a record")
            stretches[int(batch.stretch[row])].add_invalid(line)
            continue
        kept.append(row)
        texts.append(json.dumps(prune(record, structure), ensure_ascii=False))
    if not kept:
        return None
    lengths = [len(batch.content(row)) for row in kept]
    return lines_table(
        kept, batch.first_id + np.array(kept), batch.stretch[kept], batch.offset[kept], lengths, texts
    )
