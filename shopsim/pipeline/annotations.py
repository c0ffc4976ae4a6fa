"""Step 3, the reading side: the JSONL file of recorded budget answers (spec 05).

A line is ``{task_id, source_field, kind, amount, evidence}``. Lines of an annotation cache also carry
``source_sha256``, ``endpoint``, ``model``, ``protocol_version`` and ``prompt_sha256``: they count only for
the archive they were asked about, and one build takes the answers of one provenance.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shopsim.jsonio import FileError
from shopsim.pipeline.answers import SOURCE_FIELDS, Answer, AnswerFault, Provenance, parse_answer
from shopsim.pipeline.errors import PipelineError
from shopsim.pipeline.identity import RawTask

__all__ = ["AnswerSet", "Expected", "read_answers"]


@dataclass(frozen=True, slots=True)
class Expected:
    """Which recorded answers count: of this archive and, when given, of this provenance."""

    source_sha256: str
    provenance: Provenance | None = None


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """The valid answers by ``(task_id, source_field)``.

    ``ignored`` counts lines that do not count: ``other_source``, ``other_provenance``, ``excluded_task``,
    ``repeated`` (same answer again) and ``torn`` (a last line that a crash cut off).
    """

    answers: Mapping[tuple[int, str], Answer] = field(default_factory=dict)
    provenance: Provenance = field(default_factory=Provenance)
    ignored: Mapping[str, int] = field(default_factory=dict)

    def get(self, task_id: int, source_field: str) -> Answer | None:
        """The answer about one text of one task, if there is one."""
        return self.answers.get((task_id, source_field))


def read_answers(
    path: Path, tasks: Mapping[int, RawTask], active: Container[int], expected: Expected
) -> AnswerSet:
    """Read and check the recorded answers about ``tasks`` (all raw tasks; ``active`` survived the filter).

    Raises :class:`PipelineError` with the line number for an answer that breaks a rule, is about an unknown
    or a standard task, contradicts an earlier line, or comes from another provenance than the lines before.
    """
    reader = _Reader(path, tasks, active, expected)
    for number, record in _lines(path, reader.ignored):
        try:
            reader.add(number, record)
        except AnswerFault as fault:
            raise PipelineError(f"{path}: line {number}: {fault}", hint=_MEND) from None
    provenance = expected.provenance or reader.provenance or Provenance()
    return AnswerSet(reader.answers, provenance, dict(sorted(reader.ignored.items())))


class _Reader:
    """Takes one record after the other and remembers on which line each answer stood."""

    def __init__(
        self, path: Path, tasks: Mapping[int, RawTask], active: Container[int], expected: Expected
    ) -> None:
        self.path = path
        self.tasks = tasks
        self.active = active
        self.expected = expected
        self.answers: dict[tuple[int, str], Answer] = {}
        self.lines: dict[tuple[int, str], int] = {}
        self.provenance: Provenance | None = None
        self.ignored: Counter[str] = Counter()

    def add(self, number: int, record: Mapping[str, Any]) -> None:
        if record.get("source_sha256") not in (None, self.expected.source_sha256):
            self.ignored["other_source"] += 1
            return
        if not self._wanted_provenance(Provenance.of(record)):
            self.ignored["other_provenance"] += 1
            return
        task = self._task(record)
        source_field = record.get("source_field")
        if source_field not in SOURCE_FIELDS:
            raise AnswerFault(f"source_field must be one of {', '.join(SOURCE_FIELDS)}, not {source_field!r}")
        if task.task_id not in self.active:
            self.ignored["excluded_task"] += 1
            return
        self._keep(number, parse_answer(record, task.text(source_field)))

    def _wanted_provenance(self, provenance: Provenance) -> bool:
        if self.expected.provenance is not None:
            return provenance == self.expected.provenance
        if self.provenance is None:
            self.provenance = provenance
        if provenance != self.provenance:
            raise AnswerFault(
                f"answered by {provenance.model or 'an unnamed model'} under another endpoint, model, "
                "protocol or prompt than the lines before"
            )
        return True

    def _task(self, record: Mapping[str, Any]) -> RawTask:
        task_id = record.get("task_id")
        if isinstance(task_id, bool) or not isinstance(task_id, int):
            raise AnswerFault(f"task_id must be a whole number, not {task_id!r}")
        task = self.tasks.get(task_id)
        if task is None:
            raise AnswerFault(f"task {task_id} is not in the archive")
        if not task.is_persona:
            raise AnswerFault(f"task {task_id} is a standard task, which is never annotated")
        return task

    def _keep(self, number: int, answer: Answer) -> None:
        key = (answer.task_id, answer.source_field)
        known = self.answers.get(key)
        if known is None:
            self.answers[key] = answer
            self.lines[key] = number
        elif known == answer:
            self.ignored["repeated"] += 1
        else:
            raise AnswerFault(
                f"another answer about {answer.source_field} of task {answer.task_id} stands in "
                f"line {self.lines[key]}"
            )


def _lines(path: Path, ignored: Counter[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield ``(line number, object)``; a last line without newline that does not parse was cut off."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise FileError(f"{path}: no such file", hint=_ANNOTATE) from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror})") from None
    lines = data.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            if number == len(lines):
                ignored["torn"] += 1
                return
            raise PipelineError(f"{path}: line {number}: not valid JSON", hint=_MEND) from None
        if not isinstance(record, Mapping):
            raise PipelineError(f"{path}: line {number}: must be a JSON object", hint=_MEND)
        yield number, record


_ANNOTATE = "It holds the recorded persona budgets: restore it, or make it with `shopsim annotate`."
_MEND = "Correct or remove that line."
