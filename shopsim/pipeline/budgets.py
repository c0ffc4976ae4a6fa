"""Step 3, the decision: one budget a persona task, out of its recorded answers (spec 05).

The simple instruction decides when it states a limit. Otherwise the full one does, whatever it says: it
holds everything that the simple one holds. Nothing is ever guessed: an answer that is missing stops the
build, unless the task was given up by name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from shopsim.errors import UsageError
from shopsim.pipeline.annotations import AnswerSet
from shopsim.pipeline.answers import SOURCE_FIELDS, Answer
from shopsim.pipeline.errors import PipelineError
from shopsim.pipeline.identity import RawTask

__all__ = ["GIVE_UP_OPTION", "RUNTIME_FALLBACK", "Budget", "decide_budgets"]

RUNTIME_FALLBACK: Final = "runtime_regex_fallback"
GIVE_UP_OPTION: Final = "--runtime-regex-task-id"
_SHOWN_MISSING: Final = 5


@dataclass(frozen=True, slots=True)
class Budget:
    """The budget of one persona task and where it came from.

    ``answer`` is the deciding one. A task that was given up has none; then ``missing_stage`` names the text
    without an answer and the engine parses the instruction at run time.
    """

    task: RawTask
    answer: Answer | None
    missing_stage: str | None = None

    @property
    def kind(self) -> str:
        """The kind of the deciding answer, ``runtime_regex_fallback`` when there is none."""
        return self.answer.kind if self.answer else RUNTIME_FALLBACK

    @property
    def price_upper(self) -> float | None:
        """The limit in yuan with the tolerance applied, None without one."""
        return self.answer.price_upper if self.answer else None

    def to_wire(self) -> dict[str, Any]:
        """One entry of ``annotation_audit.json``."""
        entry: dict[str, Any] = {
            "task_id": self.task.task_id,
            "task_uid": self.task.task_uid,
            "kind": self.kind,
            "price_upper": self.price_upper,
            "source_field": self.answer.source_field if self.answer else None,
            "amount": self.answer.amount if self.answer else None,
            "evidence": self.answer.evidence if self.answer else None,
        }
        if self.missing_stage is not None:
            entry["missing_stage"] = self.missing_stage
            entry["reason"] = f"no usable recorded answer about {self.missing_stage}; given up by task id"
        return entry


def decide_budgets(
    tasks: Iterable[RawTask], answers: AnswerSet, *, give_up: Collection[int], source: str
) -> tuple[Budget, ...]:
    """Decide the budget of every persona task in ``tasks``; ``source`` names the annotation file in errors.

    ``give_up`` lists the tasks that may stay without an answer. Raises :class:`UsageError` when one of them
    is no active persona task or has its answer, :class:`PipelineError` for every other missing answer.
    """
    persona = {task.task_id: task for task in tasks if task.is_persona}
    for task_id in give_up:
        if task_id not in persona:
            raise UsageError(f"{GIVE_UP_OPTION} {task_id}: no persona task of the filtered catalogue")
    budgets = [_decide(task, answers) for task in persona.values()]
    _check_missing(budgets, frozenset(give_up), source)
    return tuple(budgets)


def _decide(task: RawTask, answers: AnswerSet) -> Budget:
    answer = None
    for source_field in SOURCE_FIELDS:
        answer = answers.get(task.task_id, source_field)
        if answer is None:
            return Budget(task, None, source_field)
        if answer.price_upper is not None:
            break
    return Budget(task, answer)


def _check_missing(budgets: Iterable[Budget], give_up: Collection[int], source: str) -> None:
    missing: Mapping[int, str] = {
        budget.task.task_id: budget.missing_stage for budget in budgets if budget.missing_stage is not None
    }
    for task_id in give_up:
        if task_id not in missing:
            raise UsageError(f"{GIVE_UP_OPTION} {task_id}: has its recorded answer", hint="Drop the option.")
    unexpected = [f"{task_id} ({stage})" for task_id, stage in missing.items() if task_id not in give_up]
    if unexpected:
        shown = ", ".join(unexpected[:_SHOWN_MISSING])
        more = f" and {len(unexpected) - _SHOWN_MISSING} more" if len(unexpected) > _SHOWN_MISSING else ""
        raise PipelineError(
            f"{source}: no usable answer for {len(unexpected)} persona task(s): {shown}{more}",
            hint=f"Record them (`shopsim annotate`), or give up on each with {GIVE_UP_OPTION} ID.",
        )
