"""Successful episodes as training conversations: OpenAI messages, one JSON object a line.

Only what the agent was told and what it answered goes in: known fields of the recorded messages and, if
asked for, its reasoning. The goal, the reward and everything else that the environment kept to itself until
the end stays out, and each line is checked for it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pandas as pd

from dashboard.analysis.recorded import as_list, as_mapping, as_text, as_texts
from dashboard.lake import Lake
from dashboard.review.export.episodes import recorded_lines

__all__ = ["HELD_BACK", "UNUSABLE", "conversation_texts", "leaks", "sft_example", "sft_lines"]

_ROLES: Final = frozenset({"system", "user", "assistant", "tool"})
_PRIVATE_TEXTS: Final = ("instruction_text", "name", "asin", "task_uid")
_PRIVATE_LISTS: Final = ("attributes", "goal_options")

UNUSABLE: Final = "no usable conversation recorded"
HELD_BACK: Final = "its reasoning holds what only the goal tells"


def sft_lines(
    lake: Lake,
    episodes: pd.DataFrame,
    *,
    reasoning: bool = False,
    clean: bool = False,
    skipped: Counter[str] | None = None,
) -> Iterator[bytes]:
    """Yield one conversation a line for the successful episodes among ``episodes``.

    ``reasoning`` adds each answer's recorded reasoning as ``reasoning_content``. ``clean`` leaves out
    episodes with a protocol error or a refused action. ``skipped`` counts, by reason, what was left out.
    """
    left_out = Counter[str]() if skipped is None else skipped
    success = episodes["success"].astype(bool)
    left_out["not successful"] += int((~success).sum())
    chosen = episodes[success]
    if clean:
        slips = (chosen["protocol_errors"] > 0) | (chosen["invalid_actions"] > 0)
        left_out["with a protocol error or a refused action"] += int(slips.sum())
        chosen = chosen[~slips]
    for _, record in recorded_lines(lake, chosen):
        example = sft_example(record, reasoning=reasoning)
        if example is None:
            left_out[UNUSABLE] += 1
        elif leaks(record, example):
            left_out[HELD_BACK] += 1
        else:
            yield _encode(example)


def sft_example(record: Mapping[str, Any], *, reasoning: bool = False) -> dict[str, Any] | None:
    """``{"messages": [...], "tools": [...]}`` of a record, None when its conversation cannot be used.

    It ends with the agent's last answer. Tools are those that were offered, without the values that a page
    allowed at one moment only.
    """
    messages = [_message(as_mapping(message)) for message in as_list(record.get("conversation"))]
    while messages and (messages[-1] is None or messages[-1]["role"] != "assistant"):
        messages.pop()
    if not messages or any(message is None for message in messages):
        return None
    kept = [message for message in messages if message is not None]
    steps = [as_mapping(step) for step in as_list(record.get("steps"))]
    answers = [message for message in kept if message["role"] == "assistant"]
    if reasoning:
        if len(answers) != len(steps):
            return None
        for message, step in zip(answers, steps, strict=True):
            if thought := as_text(as_mapping(step.get("model")).get("reasoning")):
                message["reasoning_content"] = thought
    example: dict[str, Any] = {"messages": kept}
    if tools := _tools(steps):
        example["tools"] = tools
    return example


def leaks(record: Mapping[str, Any], example: Mapping[str, Any]) -> list[str]:
    """Private texts of the goal that the example holds and the recorded conversation does not.

    Without reasoning there can be none. A number says too little on its own to be looked for.
    """
    goal = as_mapping(as_mapping(record.get("final")).get("goal"))
    private = [as_text(goal.get(name)) for name in _PRIVATE_TEXTS]
    private += [text for name in _PRIVATE_LISTS for text in as_texts(goal.get(name))]
    told = "\n".join(conversation_texts(as_list(record.get("conversation"))))
    held = "\n".join(conversation_texts([example]))
    return [text for text in dict.fromkeys(private) if text.strip() and text in held and text not in told]


def conversation_texts(value: Any) -> Iterator[str]:
    """Every text below ``value``; a text that is itself JSON (tool arguments) also by what it says."""
    if isinstance(value, str):
        yield value
        if value[:1] in "{[":
            try:
                yield from conversation_texts(json.loads(value))
            except ValueError:
                return
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from conversation_texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from conversation_texts(part)


def _message(message: Mapping[str, Any]) -> dict[str, Any] | None:
    """The known fields of a message; None when it is no message."""
    role, content = message.get("role"), message.get("content")
    if role not in _ROLES:
        return None
    kept: dict[str, Any] = {"role": role, "content": content if isinstance(content, str) else None}
    if isinstance(content, list):
        kept["content"] = "\n".join(as_text(as_mapping(part).get("text")) for part in content)
    calls = [_call(as_mapping(call)) for call in as_list(message.get("tool_calls"))]
    if any(call is None for call in calls):
        return None
    if role == "assistant" and calls:
        kept["tool_calls"] = calls
    if role == "tool":
        if not isinstance(message.get("tool_call_id"), str):
            return None
        kept["tool_call_id"] = message["tool_call_id"]
    return kept if kept["content"] is not None or calls else None


def _call(call: Mapping[str, Any]) -> dict[str, Any] | None:
    function = as_mapping(call.get("function"))
    values = (call.get("id"), function.get("name"), function.get("arguments"))
    if not all(isinstance(value, str) for value in values):
        return None
    return {"id": values[0], "type": "function", "function": {"name": values[1], "arguments": values[2]}}


def _tools(steps: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The functions offered in any step, by name, without enumerated values."""
    offered: dict[str, dict[str, Any]] = {}
    for step in steps:
        for tool in as_list(step.get("tools")):
            function = as_mapping(as_mapping(tool).get("function"))
            name = function.get("name")
            if isinstance(name, str) and name not in offered:
                known = {key: function[key] for key in ("description", "parameters") if key in function}
                offered[name] = {"type": "function", "function": {"name": name, **_without_enum(known)}}
    return list(offered.values())


def _without_enum(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_enum(part) for key, part in value.items() if key != "enum"}
    return value


def _encode(example: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(example, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:  # a lone surrogate: a model cut off inside an emoji
        return json.dumps(example).encode("ascii") + b"\n"
