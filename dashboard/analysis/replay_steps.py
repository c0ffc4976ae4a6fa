"""The steps of a recorded episode (spec 04 A) as they are looked at: tolerant of anything missing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

import pandas as pd

from dashboard.analysis.columns import Column
from dashboard.analysis.recorded import as_list, as_mapping, as_text, printable
from shopsim.rollout.summary import finite_number

__all__ = [
    "STEP_COLUMNS",
    "Call",
    "StepView",
    "actions_before",
    "read_steps",
    "state_before",
    "timeline",
]

STEP_COLUMNS: Final[Mapping[str, Column]] = {
    "position": Column("Step", "count", width=50),
    "kind": Column("Kind", width=105),
    "page": Column("On page", width=105),
    "did": Column("Did", width=330),
    "result": Column("Result", width=170),
    "latency": Column("Latency, ms", "number", 0, width=85),
    "prompt_tokens": Column("Tokens in", "count", width=85, help="Prompt tokens"),
    "completion_tokens": Column("Tokens out", "count", width=85, help="Completion tokens"),
}

_SAFE_ADDRESS_CHARACTERS: Final = 6000
_ENDED: Final = "ended the episode"


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call: ``arguments`` is the text as the model wrote it."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class StepView:
    """One step. Texts are empty and figures None where nothing was recorded.

    ``index`` is the recorded step index, ``position`` counts from 1; ``feedback`` is what the environment
    said of the action, ``protocol_feedback`` what the runner said of a broken call; ``came_back`` is the
    page after the step as the agent read it.
    """

    position: int
    index: int | None
    observation: str
    reasoning: str
    content: str
    calls: tuple[Call, ...]
    action: str | None
    feedback: Mapping[str, Any]
    came_back: str
    protocol_error: Mapping[str, Any]
    protocol_feedback: str
    policy_failure: str
    finish_reason: str
    latency_ms: float | None
    usage: Mapping[str, int | None]
    human: bool


def read_steps(record: Mapping[str, Any]) -> list[StepView]:
    """The steps of a record in order; what is no object counts as a step without content."""
    return [
        _step(position, as_mapping(step)) for position, step in enumerate(as_list(record.get("steps")), 1)
    ]


def state_before(record: Mapping[str, Any], position: int) -> Mapping[str, Any]:
    """The structured page (``observation_state``) that the agent stood on before step ``position``.

    A step records only the text of its page; the structure is that of the last answer before it, else of
    the reset. Empty when neither was recorded.
    """
    for step in reversed(as_list(record.get("steps"))[: position - 1]):
        state = as_mapping(as_mapping(as_mapping(step).get("environment")).get("observation_state"))
        if state:
            return state
    return as_mapping(as_mapping(record.get("reset")).get("observation_state"))


def actions_before(record: Mapping[str, Any], position: int) -> list[str] | None:
    """What reached the environment before step ``position``, to take the same way again.

    None when a lone surrogate or the sheer length keeps it from fitting into an address. A person's
    refused text counts too: it cost an action.
    """
    actions = []
    for step in read_steps(record)[: position - 1]:
        if step.protocol_error or not step.feedback:
            continue
        actions.append(step.action if step.action is not None else step.content)
    try:
        size = sum(len(quote(action)) for action in actions)
    except UnicodeEncodeError:
        return None
    return actions if size <= _SAFE_ADDRESS_CHARACTERS else None


def timeline(rows: pd.DataFrame, steps: Sequence[StepView]) -> pd.DataFrame:
    """Rows of ``replay_steps.sql`` as :data:`STEP_COLUMNS`, one row a step of the record."""
    recorded = {row["position"]: row for row in rows.to_dict("records")}
    table = [_timeline_row(step, recorded.get(step.position, {})) for step in steps]
    frame = pd.DataFrame(table, columns=list(STEP_COLUMNS))
    return frame.astype({"prompt_tokens": "Int64", "completion_tokens": "Int64", "latency": "Float64"})


def _timeline_row(step: StepView, row: Mapping[Any, Any]) -> tuple[Any, ...]:
    did = step.action or "; ".join(f"{call.name}({call.arguments})" for call in step.calls) or step.content
    return (
        step.position,
        _plain(row.get("action_type")),
        _plain(row.get("page_type")),
        _short(did),
        _short(_result(step)),
        step.latency_ms,
        step.usage["prompt_tokens"],
        step.usage["completion_tokens"],
    )


def _result(step: StepView) -> str:
    if step.policy_failure:
        return f"{step.policy_failure}, {_ENDED}"
    if step.protocol_error:
        return f"protocol error: {as_text(step.protocol_error.get('code')) or 'unknown'}"
    if not step.feedback:
        return "no answer"
    reason = as_text(step.feedback.get("reason")) or "unknown reason"
    return "executed" if step.feedback.get("valid") is True else f"refused: {reason}"


def _step(position: int, step: Mapping[str, Any]) -> StepView:
    model, answer = as_mapping(step.get("model")), as_mapping(step.get("environment"))
    action = step.get("action")
    failure = step.get("policy_failure") or model.get("policy_failure")
    return StepView(
        position=position,
        index=_whole(step.get("step_index")),
        observation=as_text(step.get("observation")),
        reasoning=as_text(model.get("reasoning")),
        content=_content(model.get("content")),
        calls=tuple(_call(as_mapping(call)) for call in as_list(model.get("tool_calls"))),
        action=action if isinstance(action, str) else None,
        feedback=as_mapping(answer.get("action_feedback")),
        came_back=as_text(answer.get("observation")),
        protocol_error=_coded(step.get("protocol_error") or model.get("protocol_error")),
        protocol_feedback=as_text(step.get("protocol_feedback")),
        policy_failure=as_text(_coded(failure).get("code")),
        finish_reason=as_text(model.get("finish_reason")),
        latency_ms=finite_number(model.get("latency_ms")),
        usage=_usage(as_mapping(model.get("usage"))),
        human=as_mapping(model.get("metadata")).get("human") is True,
    )


def _coded(value: object) -> Mapping[str, Any]:
    """An error object; anything else that is not empty is one of unknown code."""
    if isinstance(value, Mapping):
        return value if not value or isinstance(value.get("code"), str) else {**value, "code": "unknown"}
    return {"code": "unknown"} if value else {}


def _call(call: Mapping[str, Any]) -> Call:
    raw = call.get("raw_arguments")
    if not isinstance(raw, str):
        raw = json.dumps(call.get("arguments"), ensure_ascii=False)
    return Call(as_text(call.get("name")) or "(no name)", raw)


def _content(value: object) -> str:
    """Message content: a text, or the texts of a list of parts."""
    if isinstance(value, list):
        return "\n".join(as_text(as_mapping(part).get("text")) for part in value).strip()
    return as_text(value)


def _usage(usage: Mapping[str, Any]) -> dict[str, int | None]:
    counts = {
        name: _whole(usage.get(name)) for name in ("prompt_tokens", "completion_tokens", "total_tokens")
    }
    details = as_mapping(usage.get("completion_tokens_details"))
    return {**counts, "reasoning_tokens": _whole(details.get("reasoning_tokens"))}


def _whole(value: object) -> int | None:
    number = finite_number(value)
    return None if number is None else int(number)


def _short(text: str, limit: int = 300) -> str:
    line = printable(" ".join(text[: 4 * limit].split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _plain(value: Any) -> str | None:
    return None if value is None or pd.isna(value) else str(value).replace("_", " ")
