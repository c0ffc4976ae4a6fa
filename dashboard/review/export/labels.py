"""Reviewers' verdicts for spreadsheets (CSV) and scripts (JSON lines)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any, Final

import pandas as pd

__all__ = ["LABEL_COLUMNS", "label_rows", "labels_csv", "labels_jsonl"]

LABEL_COLUMNS: Final = (
    "event_id",
    "at",
    "reviewer",
    "kind",
    "run_id",
    "episode_id",
    "task_id",
    "catalogue",
    "record",
    "action",
    "stands",
    "labels",
    "severity",
    "comment",
)
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def label_rows(events: pd.DataFrame, current: pd.DataFrame | None = None) -> list[dict[str, Any]]:
    """Events of the review store as plain objects, oldest first; ``labels`` is a list of keys.

    ``stands``: whether the event is what its reviewer says now; with ``current`` (frames of
    :meth:`~dashboard.review.store.ReviewStore.current`) given, only those events do, else all of them.
    """
    standing = None if current is None else set(current["event_id"])
    rows = []
    for event in events.to_dict("records"):
        row: dict[str, Any] = {name: event.get(str(name)) for name in LABEL_COLUMNS}
        row["task_id"] = None if pd.isna(event["task_id"]) else int(event["task_id"])
        row["labels"] = list(event["labels"])
        row["event_id"] = int(event["event_id"])
        row["stands"] = standing is None or event["event_id"] in standing
        rows.append(row)
    return rows


def labels_jsonl(rows: list[dict[str, Any]]) -> Iterator[bytes]:
    """One JSON object a line."""
    for row in rows:
        yield json.dumps(row, ensure_ascii=False).encode() + b"\n"


def labels_csv(rows: list[dict[str, Any]]) -> bytes:
    """A table with a heading; labels are joined by semicolons; UTF-8 with the mark that spreadsheets want.

    A text that a spreadsheet would run as a formula gets an apostrophe in front: use JSON lines where every
    character counts.
    """
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, LABEL_COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(value) for name, value in row.items()})
    return buffer.getvalue().encode("utf-8-sig")


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return ";".join(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value
