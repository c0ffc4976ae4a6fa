"""The texts of one recorded episode that people search: instruction, queries, reasoning, answers, errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from dashboard.analysis.recorded import as_mapping, as_text
from dashboard.analysis.replay_steps import StepView, read_steps
from dashboard.ui.text import printable

__all__ = ["KINDS", "Text", "episode_texts"]

KINDS: Final[Mapping[str, str]] = {
    "instruction": "Instruction",
    "full": "Full instruction",
    "query": "Query",
    "reasoning": "Reasoning",
    "answer": "Said",
    "error": "Error",
}
"""Kinds of text. ``full`` is the goal's instruction where the agent was given another one; ``error`` holds
technical errors, refused actions and broken tool calls."""


class Text(NamedTuple):
    """One text; ``position`` is the step it belongs to (from 1), 0 for the episode as a whole."""

    kind: str
    position: int
    text: str


def episode_texts(record: Mapping[str, Any]) -> Iterator[Text]:
    """Yield what is searched of a record (spec 04 A), tolerant of anything missing."""
    given = as_text(as_mapping(record.get("reset")).get("task_instruction"))
    full = as_text(as_mapping(as_mapping(record.get("final")).get("goal")).get("instruction_text"))
    yield from _text("instruction", 0, given)
    if full != given:
        yield from _text("full", 0, full)
    for step in read_steps(record):
        action = step.action or ""
        if action.startswith("search[") and action.endswith("]"):
            yield from _text("query", step.position, action[len("search[") : -1])
        yield from _text("reasoning", step.position, step.reasoning)
        yield from _text("answer", step.position, step.content)
        yield from _text("error", step.position, _trouble(step))
    error = as_mapping(record.get("error"))
    parts = [as_text(error.get(name)) for name in ("stage", "type", "message", "traceback")]
    yield from _text("error", 0, "\n".join(part for part in parts if part))


def _trouble(step: StepView) -> str:
    """Why a step failed: a broken call, a refused action, a generation that was cut off."""
    problem = step.protocol_error
    parts = [as_text(problem.get("code")), as_text(problem.get("message")), step.policy_failure]
    if step.feedback and step.feedback.get("valid") is not True:
        parts += [as_text(step.feedback.get("reason")), as_text(step.feedback.get("message"))]
    return "\n".join(part for part in parts if part)


def _text(kind: str, position: int, text: str) -> Iterator[Text]:
    clean = printable(text)
    if clean.strip():
        yield Text(kind, position, clean)
