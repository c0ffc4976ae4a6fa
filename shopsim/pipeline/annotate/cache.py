"""The answers that were paid for: one JSON line each, and which of them count (spec 05 step 3).

A record counts only for the archive, endpoint, model, protocol and prompt that it was asked with. Others stay
where they are and are counted; so are torn lines, whose answer is asked for again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from shopsim.jsonio import FileError
from shopsim.pipeline.answers import SOURCE_FIELDS, Answer, AnswerFault, Provenance, parse_answer
from shopsim.pipeline.identity import RawTask

__all__ = ["LEFT_ASIDE", "Cached", "Origin", "read_cache"]

LEFT_ASIDE: Final = {
    "other_source": "of another archive",
    "other_endpoint": "of another endpoint",
    "other_model": "of another model",
    "other_protocol_version": "of another protocol",
    "other_prompt_sha256": "of another prompt or sampling",
    "other_task": "of a task that is not annotated",
    "invalid": "that break a rule",
    "repeated": "given twice",
    "torn": "torn",
}
"""Why a line does not count, for people; of several reasons the first."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What answers were asked about and who was asked: equal, or the answer does not count."""

    source_sha256: str
    provenance: Provenance

    def record(self, answer: Answer) -> dict[str, Any]:
        """The cache record of ``answer``, which the build reads as a recorded answer."""
        return {
            "task_id": answer.task_id,
            "source_field": answer.source_field,
            "kind": answer.kind,
            "amount": answer.amount,
            "evidence": answer.evidence,
            "source_sha256": self.source_sha256,
            **self.provenance.to_wire(),
        }

    def difference(self, record: Mapping[str, Any]) -> str | None:
        """The key of :data:`LEFT_ASIDE` that says why ``record`` is of another origin; None if it is not."""
        if record.get("source_sha256") != self.source_sha256:
            return "other_source"
        for name, value in self.provenance.to_wire().items():
            if record.get(name) != value:
                return f"other_{name}"
        return None


@dataclass(frozen=True, slots=True)
class Cached:
    """The answers that count, by ``(task_id, source_field)``, and how many lines do not, by reason."""

    answers: dict[tuple[int, str], Answer]
    left_aside: Mapping[str, int]


def read_cache(path: Path, origin: Origin, tasks: Mapping[int, RawTask]) -> Cached:
    """Read the cache; a missing file holds nothing. ``tasks`` are the persona tasks that are annotated.

    Raises :class:`FileError` when it is there and cannot be read.
    """
    answers: dict[tuple[int, str], Answer] = {}
    left_aside: Counter[str] = Counter()
    for record in _records(path):
        found = "torn" if record is None else origin.difference(record) or _read(record, tasks)
        if isinstance(found, str):
            left_aside[found] += 1
        elif answers.setdefault((found.task_id, found.source_field), found) is not found:
            left_aside["repeated"] += 1
    return Cached(answers, {name: left_aside[name] for name in LEFT_ASIDE if name in left_aside})


def _read(record: Mapping[str, Any], tasks: Mapping[int, RawTask]) -> Answer | str:
    """The answer of a record, or why it does not count."""
    task_id, source_field = record.get("task_id"), record.get("source_field")
    if isinstance(task_id, bool) or not isinstance(task_id, int) or source_field not in SOURCE_FIELDS:
        return "invalid"
    if task_id not in tasks:
        return "other_task"
    try:
        return parse_answer(record, tasks[task_id].text(str(source_field)))
    except AnswerFault:
        return "invalid"


def _records(path: Path) -> Iterator[Mapping[str, Any] | None]:
    """The JSON objects of the file's lines; None for a line that is none."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror})") from None
    for line in lines:
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            yield None
            continue
        yield record if isinstance(record, dict) else None
