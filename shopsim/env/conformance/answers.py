"""What must be true of every single answer, whatever was done before (spec 01 §2, §4, §5, §7)."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from shopsim.env.actions import Reason
from shopsim.env.errors import ObservationStateError
from shopsim.env.render import render_observation_state
from shopsim.env.schema import PageType
from shopsim.formats import ENVIRONMENT_VERSION, REWARD_VERSION

__all__ = ["final_problems", "is_usable_page", "public_state", "reset_problems", "step_problems"]

_COMMON_KEYS: Final = ("observation_version", "page_type", "search_available", "actions")
_PAGE_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    PageType.RESULTS: (
        "search_text",
        "normalized_search_text",
        "page",
        "total_pages",
        "total_results",
        "rank_start",
        "rank_end",
        "products",
    ),
    PageType.PRODUCT: (
        "product",
        "selected_options",
        "available_options",
        "missing_option_axes",
        "options_complete",
    ),
}

_RESET_KEYS: Final = (
    "task_instruction",
    "observation",
    "observation_state",
    "user_persona",
    "task_mode",
    "interaction_mode",
    "environment_version",
    "idx",
)
_STEP_KEYS: Final = (
    "done",
    "over",
    "reward",
    "observation",
    "observation_state",
    "action_feedback",
    "message",
)
_FINAL_KEYS: Final = ("reward_detail", "purchase", "goal", "termination_reason")
_REQUESTED_KEYS: Final = ("private_task_instruction", "goal_options", "reason_key")
_ZERO_KEYS: Final = ("r_type", "r_att", "r_option", "r_price", "r_loose", "r_strict", "r_success")
_REASONS: Final = frozenset(Reason)


def reset_problems(answer: Mapping[str, Any], *, private_goal: bool) -> Iterator[str]:
    """Problems of the answer of ``reset``."""
    yield from _missing(answer, _RESET_KEYS)
    yield from _page_problems(answer)
    if answer.get("environment_version") != ENVIRONMENT_VERSION:
        yield f"environment_version is not {ENVIRONMENT_VERSION}"
    if answer.get("task_mode") not in ("persona", "standard"):
        yield "task_mode is neither persona nor standard"
    if "__reasoning__" in json.dumps(answer, ensure_ascii=False, default=str):
        yield "the private __reasoning__ is shown"
    for key in (*_FINAL_KEYS, "reward", "target_asin", "answer"):
        if key in answer:
            yield f"reset shows {key}"
    for key in _REQUESTED_KEYS:
        if (key in answer) != private_goal:
            yield f"{key} must appear exactly when the private goal was asked for"
    state = answer.get("observation_state")
    if isinstance(state, Mapping) and "last_action" in state:
        yield "last_action is present after reset"


def step_problems(answer: Mapping[str, Any]) -> Iterator[str]:
    """Problems of the answer of ``step`` or ``terminate``."""
    yield from _missing(answer, _STEP_KEYS)
    yield from _page_problems(answer)
    done = answer.get("done")
    if not isinstance(done, bool) or answer.get("over") is not done:
        yield "done and over must be the same boolean"
    reward = answer.get("reward")
    if isinstance(reward, bool) or not isinstance(reward, int | float):
        yield "reward is not a number"
    feedback = answer.get("action_feedback")
    if feedback is not None:
        yield from _feedback_problems(feedback)
        state = answer.get("observation_state")
        if isinstance(state, Mapping) and state.get("last_action") != feedback:
            yield "last_action differs from action_feedback"
    if done is True:
        yield from final_problems(answer)
    else:
        if reward != 0:
            yield "a step before the end has a reward"
        yield from (f"a step before the end shows {key}" for key in _FINAL_KEYS if key in answer)


def final_problems(answer: Mapping[str, Any]) -> Iterator[str]:
    """Problems of an answer that ends the episode."""
    yield from _missing(answer, _FINAL_KEYS)
    detail = answer.get("reward_detail")
    if not isinstance(detail, Mapping):
        yield "reward_detail is no object"
        return
    reason = answer.get("termination_reason")
    if detail.get("termination_reason") != reason:
        yield "reward_detail.termination_reason differs from termination_reason"
    if detail.get("reward_version") != REWARD_VERSION:
        yield f"reward_detail.reward_version is not {REWARD_VERSION}"
    if detail.get("r_strict") != answer.get("reward"):
        yield "reward differs from reward_detail.r_strict"
    if reason == "purchase":
        if not isinstance(answer.get("purchase"), Mapping):
            yield "a purchase ended the episode but purchase is no object"
        return
    if reason not in ("action_limit", "generation_length"):
        yield f"termination_reason {reason!r} is unknown"
    if answer.get("purchase") is not None:
        yield "purchase is given although nothing was bought"
    yield from (f"{key} is not 0 although nothing was bought" for key in _ZERO_KEYS if detail.get(key) != 0)


def is_usable_page(state: object) -> bool:
    """Whether a state has every key that a rule may read."""
    return isinstance(state, Mapping) and not any(_state_gaps(state))


def _state_gaps(state: Mapping[str, Any]) -> Iterator[str]:
    page_type = state.get("page_type")
    own = _PAGE_KEYS.get(page_type, ()) if isinstance(page_type, str) else ()
    return _missing(state, (*_COMMON_KEYS, *own))


def public_state(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The page of an answer: its state without the last action, which every step replaces."""
    return {key: value for key, value in answer["observation_state"].items() if key != "last_action"}


def _page_problems(answer: Mapping[str, Any]) -> Iterator[str]:
    state = answer.get("observation_state")
    if not isinstance(state, Mapping):
        yield "observation_state is no object"
        return
    yield from _state_gaps(state)
    before = copy.deepcopy(state)
    try:
        text = render_observation_state(state)
    except ObservationStateError as error:
        yield f"the state cannot be rendered ({error})"
        return
    if answer.get("observation") != text:
        yield "observation is not the rendering of observation_state"
    if not text.endswith("\n") or text.endswith("\n\n"):
        yield "observation does not end with exactly one newline"
    if state != before or render_observation_state(json.loads(json.dumps(state))) != text:
        yield "the rendering is no pure function of the state as JSON data"


def _feedback_problems(feedback: Any) -> Iterator[str]:
    if not isinstance(feedback, Mapping):
        yield "action_feedback is no object"
        return
    yield from _missing(feedback, ("action", "valid", "reason", "message"))
    reason = feedback.get("reason")
    if reason not in _REASONS:
        yield f"feedback reason {reason!r} is unknown"
    if feedback.get("valid") is not (reason == Reason.EXECUTED):
        yield "feedback is valid exactly when the reason is executed"
    if ("missing_option_axes" in feedback) != (reason == Reason.INCOMPLETE_OPTIONS):
        yield "missing_option_axes belongs to incomplete_options alone"
    if not str(feedback.get("message") or "").strip():
        yield "feedback has no message"


def _missing(mapping: Mapping[str, Any], keys: tuple[str, ...]) -> Iterator[str]:
    return (f"{key} is missing" for key in keys if key not in mapping)
