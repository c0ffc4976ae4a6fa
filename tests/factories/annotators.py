"""Models that annotate budgets: endpoints that answer from recorded answers; a clock that only counts."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from shopsim.pipeline.annotate.ask import Ask
from shopsim.pipeline.identity import RawTask
from tests.factories.chat_endpoint import completion

__all__ = ["CountingClock", "answering", "ask_about", "asked_about", "reply"]


class CountingClock:
    """Waiting takes no time; ``waits`` holds what was waited for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now = 0.0
        self.waits: list[float] = []

    def now(self) -> float:
        with self._lock:
            return self._now

    def wait(self, seconds: float) -> None:
        with self._lock:
            self._now += seconds
            if seconds:
                self.waits.append(seconds)


def ask_about(text: str, task_id: int = 7, source_field: str = "instruction_simple") -> Ask:
    """A question about ``text``."""
    return Ask(RawTask(task_id, "uid", 0, 0, "612345678901", text, text, {}), source_field)


def asked_about(request: Mapping[str, Any]) -> tuple[int, str]:
    """Task id and instruction in a request."""
    found = re.fullmatch(r"任务编号：(\d+)\n购物指令：\n(.*)", request["messages"][-1]["content"], re.DOTALL)
    assert found, request
    return int(found[1]), found[2]


def reply(**fields: Any) -> tuple[int, Any]:
    """A chat completion whose text is the JSON object ``fields``."""
    text = json.dumps(fields, ensure_ascii=False)
    return 200, completion(text, prompt_tokens=100, completion_tokens=10)


def answering(
    records: Iterable[Mapping[str, Any]], texts: Mapping[tuple[int, str], str]
) -> Callable[[Mapping[str, Any]], tuple[int, Any]]:
    """An endpoint that gives the recorded answers; ``texts`` holds the instruction of each task and text."""
    answers = {
        (record["task_id"], texts[record["task_id"], record["source_field"]]): record for record in records
    }

    def answer(request: Mapping[str, Any]) -> tuple[int, Any]:
        record = answers[asked_about(request)]
        return reply(**{name: record[name] for name in ("task_id", "kind", "amount", "evidence")})

    return answer
