"""One recorded episode, written step by step, in the format of spec 04 A.

The goal of task ``n`` is invented product ``n``; its shelf neighbours ``n+1, n+2 ...`` are what else a
search shows.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from shopsim import formats
from shopsim.jsonio import sha256_text
from tests.factories import pages

__all__ = ["Episode", "episode_id", "job", "provenance"]

_RATES = {"r_type": 1.0, "r_att": 1.0, "r_option": 1.0, "r_price": 1.0}


def episode_id(task_id: int, sample_id: int = 0) -> str:
    """Episode id of spec 04 A."""
    return f"task-{task_id:06d}__sample-{sample_id:03d}"


class Episode:
    """One episode written step by step; ``record()`` gives the line of ``traces.jsonl``."""

    def __init__(self, task_id: int = 0, sample_id: int = 0, *, budget: float | None = 100.0, seed: int = 7):
        self.task_id, self.sample_id, self.seed = task_id, sample_id, seed
        self.goal = _goal(task_id, budget)
        self.state = pages.home_state()
        self.reset_state = self.state
        self.steps: list[dict[str, Any]] = []
        self.results: list[int] = []
        self.query = ""
        self.selected: dict[str, str] = {}
        self.open_index: int | None = None
        self.final: dict[str, Any] | None = None
        self.error: dict[str, Any] | None = None
        self.random = random.Random(task_id * 1000 + sample_id)

    def search(self, query: str, results: Sequence[int] | None = None) -> Episode:
        """Type ``query``; the shop answers with product indices ``results`` (default: the goal third)."""
        near = [self.task_id + k for k in range(1, 25)]
        self.query, self.results = query, list(results) if results is not None else near
        if results is None:
            self.results.insert(2, self.task_id)
        return self._act(f"search[{query}]", self._results_page(1))

    def paginate(self, page: int) -> Episode:
        """Go to another page of the result list."""
        step = "next >" if page > self.state.get("page", 1) else "< prev"
        return self._act(f"click[{step}]", self._results_page(page))

    def open(self, index: int) -> Episode:
        """Open the product page of ``index``."""
        self.open_index, self.selected = index, {}
        return self._act(f"click[{pages.asin(index)}]", self._product_page())

    def select(self, axis: str, value: str) -> Episode:
        """Choose one option of the open product."""
        self.selected[axis] = value.lower()
        return self._act(f"click[{axis}={value.lower()}]", self._product_page())

    def back(self, target: str = "back to search") -> Episode:
        """Leave the page: ``back to search`` or, from a product, ``< prev``."""
        state = self._results_page(1) if target == "< prev" else pages.home_state
        self.open_index, self.selected = None, {}
        return self._act(f"click[{target}]", state)

    def invalid(self, action: str = "click[buy now]", reason: str = "unavailable_action") -> Episode:
        """An action that the page refuses."""
        feedback = {"action": action, "valid": False, "reason": reason, "message": "当前页面没有这个操作。"}
        self.state = {**self.state, "last_action": feedback}
        return self._step(action, self._answer(feedback))

    def protocol_error(self, code: str = "missing_tool_call") -> Episode:
        """A model answer that is no single tool call: costs an action, touches nothing."""
        step = self._step(None, None).steps[-1]
        error = {"code": code, "message": "expected one tool call"}
        step["protocol_error"] = step["model"]["protocol_error"] = error
        step["protocol_feedback"] = "请只调用一个工具。"
        return self

    def buy(self, *, options: dict[str, str] | None = None, **rates: float) -> Episode:
        """Buy the open product; ``rates`` override ``r_type``, ``r_att``, ``r_option``, ``r_price``."""
        index = self.task_id if self.open_index is None else self.open_index
        chosen = dict(self.selected) if options is None else options
        feedback = _executed("click[buy now]")
        self.state = pages.terminal_state(feedback)
        detail = _reward_detail(self.goal, {**_RATES, **rates}, "purchase", index == self.task_id)
        item = pages.product(index)
        purchase = {
            "asin": item["asin"],
            "category": item["category"],
            "name": item["title"],
            "attributes": item["attributes"],
            "price": 59.0,
            "options": chosen,
        }
        self._finish(feedback, detail, purchase)
        return self._step("click[buy now]", dict(self.final or {}))

    def end(self, termination_reason: str) -> Episode:
        """End without a purchase: ``action_limit`` or ``generation_length``."""
        detail = _reward_detail(self.goal, dict.fromkeys(_RATES, 0.0), termination_reason, False)
        self._finish(self.state.get("last_action"), detail, None)
        if termination_reason != "generation_length":
            self.steps[-1]["environment"] = dict(self.final or {})
            return self
        step = self._step(None, dict(self.final or {})).steps[-1]
        step["policy_failure"] = step["model"]["policy_failure"] = {"code": "generation_length"}
        step["model"]["finish_reason"] = "length"
        return self

    def fail(self, kind: str = "TimeoutError", stage: str = "environment_step") -> Episode:
        """A technical failure: no final answer."""
        message = f"{kind} while waiting"
        self.error = {"stage": stage, "type": kind, "message": message, "traceback": f"Traceback: {message}"}
        return self

    def record(self, **changes: Any) -> dict[str, Any]:
        """The finished record; ``changes`` replace top-level fields."""
        record = {
            "schema_version": formats.EPISODE_SCHEMA,
            "episode_id": episode_id(self.task_id, self.sample_id),
            "status": "failed" if self.error else "completed",
            "job": job(self.task_id, self.sample_id, self.seed),
            "provenance": provenance(),
            "started_at": "2026-09-07T13:43:51.812918+00:00",
            "ended_at": "2026-09-07T13:44:12.112918+00:00",
            "duration_ms": 20300.0 + self.task_id % 7 + 0.25 * len(self.steps),
            "reset": self._reset(),
            "selected_skills": [],
            "conversation": [{"role": "user", "content": self.goal["instruction_simple"]}],
            "steps": self.steps,
            "final": self.final,
            "error": self.error,
        }
        return record | changes

    def _reset(self) -> dict[str, Any]:
        return {
            "task_instruction": self.goal["instruction_simple"],
            "observation": _text(self.reset_state),
            "observation_state": self.reset_state,
            "user_persona": self.goal["user_persona"],
            "task_mode": "persona",
            "interaction_mode": "single_turn",
            "environment_version": formats.ENVIRONMENT_VERSION,
            "idx": self.task_id,
        }

    def _results_page(self, page: int) -> Any:
        return lambda feedback: pages.results_state(self.query, self.results, feedback, page=page)

    def _product_page(self) -> Any:
        return lambda feedback: pages.product_state(self.open_index or 0, self.selected, feedback)

    def _act(self, action: str, state: Any) -> Episode:
        feedback = _executed(action)
        self.state = state(feedback)
        return self._step(action, self._answer(feedback))

    def _answer(self, feedback: dict[str, Any]) -> dict[str, Any]:
        text = _text(self.state)
        answer = {"done": False, "over": False, "reward": 0.0, "observation": text, "message": ""}
        return answer | {"observation_state": self.state, "action_feedback": feedback}

    def _finish(self, feedback: Any, detail: dict[str, Any], purchase: dict[str, Any] | None) -> None:
        self.final = {
            "done": True,
            "reward": detail["r_strict"],
            "reward_detail": detail,
            "purchase": purchase,
            "goal": self.goal,
            "termination_reason": detail["termination_reason"],
            "observation_state": self.state,
            "action_feedback": feedback,
        }

    def _step(self, action: str | None, environment: dict[str, Any] | None) -> Episode:
        before = self.steps[-1]["environment"] if self.steps and self.steps[-1]["environment"] else None
        prompt = 1800 + 400 * len(self.steps) + self.random.randrange(50)
        completion = 120 + self.random.randrange(80)
        self.steps.append(
            {
                "step_index": len(self.steps) + 1,
                "observation": (before or {}).get("observation") or _text(self.reset_state),
                "tools": [],
                "model": _model(action, prompt, completion),
                "action": action,
                "environment": environment,
            }
        )
        return self


def _goal(task_id: int, budget: float | None) -> dict[str, Any]:
    item = pages.product(task_id)
    return {
        "task_id": task_id,
        "task_uid": f"{item['asin']}:0",
        "asin": item["asin"],
        "category": item["category"],
        "name": item["title"],
        "attributes": item["attributes"][:2],
        "goal_options": ["月光白", "XL"],
        "price_upper": budget,
        "instruction_text": f"想买{item['title']}，要{item['attributes'][0]}，月光白，XL码，一百元以内",
        "instruction_simple": f"想买一件{item['attributes'][0]}的东西，月光白，XL码",
        "user_persona": {"用户ID": f"example-{task_id}", "行为特征": {"消费习惯": "价格敏感"}},
        "domain": pages.DOMAINS[(task_id // 10) % len(pages.DOMAINS)],
    }


def _reward_detail(
    goal: dict[str, Any], rates: dict[str, float], reason: str, target: bool
) -> dict[str, Any]:
    attributes, options = len(goal["attributes"]), len(goal["goal_options"])
    bought = reason == "purchase"
    hits = rates["r_att"] * attributes + rates["r_option"] * options
    strict = rates["r_type"] * rates["r_att"] * rates["r_option"] * rates["r_price"]
    return {
        "reward_version": formats.REWARD_VERSION,
        "termination_reason": reason,
        **rates,
        "category_match": bought,
        "title_score": rates["r_type"],
        "num_attr_matches": int(rates["r_att"] * attributes),
        "num_option_matches": int(rates["r_option"] * options),
        "r_loose": rates["r_type"] * (hits + rates["r_price"]) / (attributes + options + 1),
        "r_strict": strict,
        "r_success": 1.0 if strict == 1.0 else 0.0,
        "target_asin_match": target,
        "price_verifiable": bought,
        "price_upper": goal["price_upper"],
        "price_resolution": {"status": "pass", "price": 59.0, "method": "constant_option_price"}
        if bought
        else None,
    }


def _executed(action: str) -> dict[str, Any]:
    return {"action": action, "valid": True, "reason": "executed", "message": "操作成功。"}


def job(task_id: int, sample_id: int, seed: int) -> dict[str, Any]:
    """A job of a manifest."""
    return {"task_id": task_id, "sample_id": sample_id, "seed": seed, "split": "test"}


def _model(action: str | None, prompt: int, completion: int) -> dict[str, Any]:
    calls = []
    if action is not None:
        verb, _, rest = action.partition("[")
        arguments = {"query" if verb == "search" else "value": rest[:-1]}
        raw = json.dumps(arguments, ensure_ascii=False)
        calls = [{"call_id": "call-1", "name": verb, "arguments": arguments, "raw_arguments": raw}]
    return {
        "content": "",
        "reasoning": "用户想要的商品要满足所有条件，先看结果再决定。" * 3,
        "tool_calls": calls,
        "finish_reason": "tool_calls" if calls else "stop",
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "completion_tokens_details": {"reasoning_tokens": completion // 2},
        },
        "response_id": "response-1",
        "metadata": {},
        "latency_ms": 850.5 + completion,
        "protocol_error": None,
        "policy_failure": None,
        "raw_response": None,
    }


def provenance() -> dict[str, Any]:
    """What an episode record says about where it came from."""
    return {
        "model": {
            "provider": "openai_compatible_http",
            "model": "example-4b",
            "base_url": "http://127.0.0.1:30000/v1",
        },
        "environment": {
            "adapter": "http",
            "persona": True,
            "interaction_mode": "single_turn",
            "environment_version": formats.ENVIRONMENT_VERSION,
            "observation_version": formats.OBSERVATION_VERSION,
        },
        "prompt": {"prompt_version": "example-prompt-v1", "system_prompt_sha256": sha256_text("prompt")},
        "skills": {"provider": "none"},
        "runtime": {"max_steps": 30, "action_protocol": formats.ACTION_PROTOCOL},
    }


def _text(state: dict[str, Any]) -> str:
    """A stand-in for the rendered page: readers of traces show it and never parse it."""
    lines = [
        f"页面：{state['page_type']}",
        *(f"{p['rank']}. {p['title']}" for p in state.get("products", [])),
    ]
    return "\n".join([*lines, *(f"- {action}" for action in state["actions"])]) + "\n"
