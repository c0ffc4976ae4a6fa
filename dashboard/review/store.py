"""Reviewers' verdicts: an append-only history, of which each reviewer's last event on a target stands.

Several reviewers, sessions and processes may write at once. A change names the event that the reviewer saw
(0: none); when another one stands meanwhile, nothing is written and :class:`ConflictError` says so.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pandas as pd

from dashboard.lake.sql import load_sql
from dashboard.review.database import file_identity, reading, writing
from dashboard.review.errors import ConflictError, ReviewError
from dashboard.review.verdicts import Action, Event, Target, Verdict, checked_reviewer

__all__ = ["COLUMNS", "ReviewStore"]

COLUMNS: Final = (
    "event_id",
    "at",
    "reviewer",
    "target",
    "kind",
    "run_id",
    "episode_id",
    "task_id",
    "catalogue",
    "record",
    "action",
    "present",
    "labels",
    "severity",
    "comment",
    "restores",
)
"""Columns of the frames below; ``labels`` is a tuple of keys, ``task_id`` and ``restores`` may be missing."""

_TYPES: Final[dict[Any, Any]] = {
    **dict.fromkeys(COLUMNS, "str"),
    **dict.fromkeys(("task_id", "restores"), "Int64"),
    "event_id": "int64",
    "present": "bool",
    "labels": "object",
}


class ReviewStore:
    """The verdicts kept in one SQLite file, which the first verdict creates.

    Every method raises :class:`ReviewError` when the file cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)

    def version(self) -> tuple[int, int, int]:
        """Changes with every change of the history: device, inode and number of the last event."""
        with reading(self.path) as connection:
            last = (
                0
                if connection is None
                else connection.execute(load_sql("triage_store_version")).fetchone()[0]
            )
        return (*file_identity(self.path), int(last))

    def record(self, target: Target, reviewer: str, verdict: Verdict, *, expected: int) -> Event:
        """Save a verdict (see :func:`~dashboard.review.verdicts.checked_verdict`) and return its event."""
        return self._change(target, reviewer, expected, "verdict", verdict)

    def retract(self, target: Target, reviewer: str, *, expected: int) -> Event:
        """Take the reviewer's verdict back: nothing of theirs stands on the target any more."""
        return self._change(target, reviewer, expected, "retract", None)

    def undo(self, target: Target, reviewer: str, *, expected: int) -> Event:
        """Bring back what stood before the reviewer's last change; undoing again goes further back."""
        return self._change(target, reviewer, expected, "undo", None)

    def latest(self, target: Target, reviewer: str) -> Event | None:
        """The reviewer's last event on a target."""
        events = self.history(target, reviewer) if reviewer else []
        return events[-1] if events else None

    def history(self, target: Target, reviewer: str = "") -> list[Event]:
        """All events on a target, oldest first; of one reviewer or of all."""
        with reading(self.path) as connection:
            return [] if connection is None else _history(connection, target, _known(connection, reviewer))

    def current(self, kind: str) -> pd.DataFrame:
        """The verdicts on ``episode`` or ``task`` targets that stand, oldest first (:data:`COLUMNS`)."""
        return self._frame("triage_store_current", kind=kind)

    def all_events(self) -> pd.DataFrame:
        """The whole history, oldest first (:data:`COLUMNS`)."""
        return self._frame("triage_store_all")

    def reviewers(self) -> list[str]:
        """Everyone who ever gave a verdict."""
        with reading(self.path) as connection:
            return [] if connection is None else _names(connection)

    def _frame(self, query: str, **params: Any) -> pd.DataFrame:
        with reading(self.path) as connection:
            rows = [] if connection is None else connection.execute(load_sql(query), params).fetchall()
        frame = pd.DataFrame([tuple(row) for row in rows], columns=list(COLUMNS))
        frame["labels"] = pd.Series([tuple(json.loads(text)) for text in frame["labels"]], dtype="object")
        return frame.astype(_TYPES)

    def _change(
        self, target: Target, reviewer: str, expected: int, action: Action, verdict: Verdict | None
    ) -> Event:
        name = checked_reviewer(reviewer)
        with writing(self.path) as connection:
            name = _known(connection, name)
            events = _history(connection, target, name)
            last = events[-1] if events else None
            if (last.event_id if last else 0) != expected:
                raise ConflictError(last.event_id if last else 0)
            restores = None
            if action == "undo":
                restores, before = _before(events)
                verdict = before.verdict if before else None
                # What comes back is about the recording that it was given on.
                target = replace(target, record=before.target.record) if before else target
            elif action == "retract" and (last is None or last.verdict is None):
                raise ReviewError("there is no verdict to take back")
            return _append(connection, target, name, action, verdict, restores)


def _before(events: list[Event]) -> tuple[int, Event | None]:
    """The state before the one that stands: its number (0: nothing was said) and the event that made it."""
    state = events[-1].state if events else 0
    if state == 0:
        raise ReviewError("there is nothing to undo")
    earlier = [event for event in events if event.event_id < state]
    restored = earlier[-1].state if earlier else 0
    return restored, next((event for event in events if event.event_id == restored), None)


def _append(
    connection: sqlite3.Connection,
    target: Target,
    reviewer: str,
    action: Action,
    verdict: Verdict | None,
    restores: int | None,
) -> Event:
    said = verdict or Verdict()
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    values = {
        "at": at,
        "reviewer": reviewer,
        "target": target.key,
        "kind": target.kind,
        "run_id": target.run_id,
        "episode_id": target.episode_id,
        "task_id": target.task_id,
        "catalogue": target.catalogue,
        "record": target.record,
        "action": action,
        "present": verdict is not None,
        "labels": json.dumps(said.labels, ensure_ascii=False),
        "severity": said.severity,
        "comment": said.comment,
        "restores": restores,
    }
    event_id = connection.execute(load_sql("triage_store_append"), values).lastrowid
    return Event(int(event_id or 0), at, reviewer, target, action, verdict, restores)


def _history(connection: sqlite3.Connection, target: Target, reviewer: str) -> list[Event]:
    params = {"target": target.key, "reviewer": reviewer}
    return [_event(row) for row in connection.execute(load_sql("triage_store_history"), params)]


def _event(row: sqlite3.Row) -> Event:
    target = Target(
        row["kind"], row["run_id"], row["episode_id"], row["task_id"], row["catalogue"], row["record"]
    )
    verdict = Verdict(tuple(json.loads(row["labels"])), row["severity"], row["comment"])
    return Event(
        row["event_id"],
        row["at"],
        row["reviewer"],
        target,
        row["action"],
        verdict if row["present"] else None,
        row["restores"],
    )


def _known(connection: sqlite3.Connection, name: str) -> str:
    """The name as its owner first wrote it: case tells no two people apart."""
    return next((known for known in _names(connection) if known.casefold() == name.casefold()), name)


def _names(connection: sqlite3.Connection) -> list[str]:
    return [str(row[0]) for row in connection.execute(load_sql("triage_store_reviewers"))]
