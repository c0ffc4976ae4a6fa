"""One question about one text of one task, and the answer in it that a chat completion holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shopsim.chat import ChatAnswer
from shopsim.pipeline.annotate.prompt import ANSWER_FIELDS
from shopsim.pipeline.answers import SOURCE_FIELDS, Answer, AnswerFault, parse_answer
from shopsim.pipeline.identity import RawTask

__all__ = ["Ask", "next_ask", "read_completion"]


@dataclass(frozen=True, slots=True)
class Ask:
    """A request to be sent: which text of which task."""

    task: RawTask
    source_field: str

    @property
    def text(self) -> str:
        """The instruction that is sent."""
        return self.task.text(self.source_field)

    def __str__(self) -> str:
        return f"task {self.task.task_id} ({self.source_field})"


def next_ask(task: RawTask, answers: Mapping[tuple[int, str], Answer]) -> Ask | None:
    """What to ask about ``task`` after ``answers``; None once its budget is decided.

    The full instruction is asked about only when the simple one gave no limit.
    """
    for source_field in SOURCE_FIELDS:
        answer = answers.get((task.task_id, source_field))
        if answer is None:
            return Ask(task, source_field)
        if answer.price_upper is not None:
            return None
    return None


def read_completion(chat: ChatAnswer, ask: Ask) -> Answer:
    """The checked answer to ``ask``. Raises :class:`AnswerFault` when it breaks a rule of spec 05."""
    try:
        record = json.loads(chat.text)
    except (ValueError, RecursionError):
        cut = " (cut off: finish_reason length)" if chat.finish_reason == "length" else ""
        raise AnswerFault(f"the answer is no JSON{cut}") from None
    if not isinstance(record, dict):
        raise AnswerFault("the answer is no JSON object")
    missing = [name for name in ANSWER_FIELDS if name not in record]
    if missing:
        raise AnswerFault(f"the answer lacks {', '.join(missing)}")
    task_id: Any = record["task_id"]
    if isinstance(task_id, bool) or not isinstance(task_id, int) or task_id != ask.task.task_id:
        raise AnswerFault(f"task_id must be {ask.task.task_id}, not {task_id!r}")
    return parse_answer({**record, "source_field": ask.source_field}, ask.text)
