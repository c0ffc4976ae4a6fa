"""What reviewers say, and about what: verdicts, targets, and the events that hold them."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Literal

from dashboard.review.errors import ReviewError
from dashboard.review.taxonomy import Taxonomy
from dashboard.ui.text import printable

__all__ = [
    "LONGEST_COMMENT",
    "SEVERITIES",
    "Action",
    "Event",
    "Target",
    "Verdict",
    "checked_reviewer",
    "checked_verdict",
    "episode_target",
    "task_target",
]

SEVERITIES: Final = ("minor", "major", "critical")
"""In rising order; an empty text means: not stated."""

LONGEST_COMMENT: Final = 4000
_LONGEST_REVIEWER: Final = 60

Action = Literal["verdict", "retract", "undo"]


@dataclass(frozen=True, slots=True)
class Target:
    """What a verdict is about.

    ``episode``: one recorded episode of a run. ``record`` tells its recording apart from an earlier one of
    the same id (a resumed or repeated run): the time it started, in microseconds, as text.
    ``task``: a task of the catalogue with the SHA-256 ``catalogue`` (empty when the run names none).
    """

    kind: Literal["episode", "task"]
    run_id: str = ""
    episode_id: str = ""
    task_id: int | None = None
    catalogue: str = ""
    record: str = ""

    @property
    def key(self) -> str:
        """The identity under which verdicts are kept; ``record`` is no part of it."""
        parts = [self.run_id, self.episode_id] if self.kind == "episode" else [self.catalogue, self.task_id]
        return json.dumps([self.kind, *parts], ensure_ascii=False, separators=(",", ":"))


def episode_target(run_id: str, episode_id: str, *, task_id: int | None, record: str) -> Target:
    """The target of verdicts on one episode."""
    return Target("episode", run_id, episode_id, task_id, record=record)


def task_target(task_id: int, catalogue: str | None) -> Target:
    """The target of verdicts on one task, whatever the run."""
    return Target("task", task_id=task_id, catalogue=catalogue or "")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Label keys, a severity (one of :data:`SEVERITIES` or empty) and a comment (plain text)."""

    labels: tuple[str, ...] = ()
    severity: str = ""
    comment: str = ""

    @property
    def empty(self) -> bool:
        """Whether nothing is said."""
        return not (self.labels or self.comment)


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of the history. ``verdict`` is what stands after it, None when nothing does.

    ``restores`` is, for an undo, the event whose state came back (0: the state before the first one).
    """

    event_id: int
    at: str
    reviewer: str
    target: Target
    action: Action
    verdict: Verdict | None
    restores: int | None = None

    @property
    def state(self) -> int:
        """The event that made the state which stands after this one."""
        return self.event_id if self.restores is None else self.restores


def checked_reviewer(name: str) -> str:
    """A reviewer's name: folded white space, NFC. Raises :class:`ReviewError` when it cannot be one."""
    text = unicodedata.normalize("NFC", " ".join(printable(name).split()))
    if not text:
        raise ReviewError("reviewer: a name is needed, so that others know whose verdict it is")
    if len(text) > _LONGEST_REVIEWER:
        raise ReviewError(f"reviewer: {len(text)} characters; at most {_LONGEST_REVIEWER}")
    return text


def checked_verdict(
    verdict: Verdict, kind: str, taxonomy: Taxonomy, *, held: Collection[str] = ()
) -> Verdict:
    """The verdict in the form in which it is kept. Raises :class:`ReviewError` naming field and value.

    ``held`` are labels of the verdict that it replaces: those stay allowed when they left the taxonomy.
    """
    allowed = {*taxonomy.keys(kind), *held}
    for key in verdict.labels:
        if key not in allowed:
            known = ", ".join(taxonomy.keys(kind)) or "none"
            raise ReviewError(f"label {key!r}: no label for {kind}s", hint=f"Known: {known}.")
    if verdict.severity and verdict.severity not in SEVERITIES:
        raise ReviewError(f"severity {verdict.severity!r}: must be one of {', '.join(SEVERITIES)}")
    comment = printable(verdict.comment).strip()
    if len(comment) > LONGEST_COMMENT:
        raise ReviewError(f"comment: {len(comment)} characters; at most {LONGEST_COMMENT}")
    kept = Verdict(tuple(taxonomy.order(verdict.labels)), verdict.severity, comment)
    if kept.empty:
        raise ReviewError("a verdict needs a label or a comment")
    return kept
