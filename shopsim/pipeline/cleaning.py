"""Step 4, the data: cleaned records and their bytes, the same for the same input (spec 05)."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, Final

from shopsim.pipeline.budgets import Budget
from shopsim.pipeline.identity import RawTask, broken_text
from shopsim.pipeline.progress import Progress, silent

__all__ = ["clean_records", "document_bytes", "gzip_bytes", "product_bytes"]

_GZIP_LEVEL: Final = 6
_GZIP_CHUNK: Final = 1 << 22


def clean_records(
    records: Sequence[Mapping[str, Any]],
    excluded: Container[int],
    tasks: Iterable[RawTask],
    budgets: Iterable[Budget],
) -> list[dict[str, Any]]:
    """The records whose index is not ``excluded``, with identity and budget written into their tasks.

    The raw records stay untouched. A standard task always gets ``price_upper: null``: its budget is parsed
    at run time.
    """
    limits = {budget.task.task_id: budget.price_upper for budget in budgets}
    of_product: dict[int, list[RawTask]] = {}
    for task in tasks:
        of_product.setdefault(task.product_index, []).append(task)
    return [
        _clean_record(record, index, of_product.get(index, []), limits)
        for index, record in enumerate(records)
        if index not in excluded
    ]


def _clean_record(
    record: Mapping[str, Any], index: int, tasks: Sequence[RawTask], limits: Mapping[int, float | None]
) -> dict[str, Any]:
    instructions = [
        {
            **record["instructions"][task.instruction_index],
            "price_upper": limits.get(task.task_id),
            "task_id": task.task_id,
            "task_uid": task.task_uid,
            "instruction_index": task.instruction_index,
        }
        for task in tasks
    ]
    return {**record, "source_product_index": index, "instructions": instructions}


def product_bytes(records: Iterable[Mapping[str, Any]], source: str) -> bytes:
    """The product file: one JSON array, one record a line. ``source`` names the file in errors."""
    lines = []
    for record in records:
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        try:
            lines.append(text.encode("utf-8"))
        except UnicodeEncodeError:
            place = f"record {record.get('source_product_index')} (ASIN {record.get('asin')})"
            raise broken_text(source, place) from None
    return b"[\n" + b",\n".join(lines) + b"\n]\n"


def gzip_bytes(data: bytes, progress: Progress = silent) -> bytes:
    """``data`` as gzip without time stamp, file name or platform mark."""
    buffer = io.BytesIO()
    chunks = range(0, len(data), _GZIP_CHUNK)
    with gzip.GzipFile(filename="", mode="wb", compresslevel=_GZIP_LEVEL, fileobj=buffer, mtime=0) as file:
        for start in progress(chunks, label="compress archive", total=len(chunks)):
            file.write(data[start : start + _GZIP_CHUNK])
    return buffer.getvalue()


def document_bytes(document: Mapping[str, Any]) -> bytes:
    """A manifest as it is written: indented JSON, UTF-8, a final newline."""
    return (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode("utf-8")
