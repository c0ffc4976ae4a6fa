"""The rules of the contract, one function each. They find their way with what the environment offers."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from shopsim.env.actions import click, search
from shopsim.env.conformance.answers import public_state
from shopsim.env.conformance.probe import Probe, comparable

__all__ = ["RULES", "Rule"]

_UNKNOWN_TASK: Final = 10**12
_WALK_STEPS: Final = 25
_MAX_CLICKS: Final = 40
_REFUSED: Final = (
    ("click[buy now], click[buy now]", "multiple_actions_not_allowed"),
    ("Action: search[a]\nAction: search[b]", "multiple_actions_not_allowed"),
    ("", "invalid_format"),
    ("buy now", "invalid_format"),
    ("jump[up]", "invalid_format"),
    ("click[buy now] please", "invalid_format"),
    ("click[ ]", "empty_argument"),
    ("search[]", "empty_argument"),
    ("click[no such element]", "unavailable_action"),
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A named rule; ``test`` drives the probe through one task."""

    name: str
    description: str
    test: Callable[[Probe, int, Mapping[str, int]], None]


def _reset(probe: Probe, task_id: int, limits: Mapping[str, int]) -> None:
    for options in (
        {},
        {"persona": False},
        {"include_private_goal": True},
        {"interaction_mode": "multi_turn"},
    ):
        state = probe.reset(task_id, **options)["observation_state"]
        probe.expect(state.get("page_type") == "search_home", "an episode does not start on search_home")
    probe.expect_error("an unknown task", probe.environment.reset, _UNKNOWN_TASK)
    probe.expect_error("an unknown mode", probe.environment.reset, task_id, interaction_mode="endless")


def _deterministic(probe: Probe, task_id: int, limits: Mapping[str, int]) -> None:
    script = _way_to_purchase(probe, task_id)
    first, second = probe.play(task_id, script), probe.play(task_id, script)
    probe.expect(len(first) == len(second), "two equal plays differ in length")
    for number, (left, right) in enumerate(zip(first, second, strict=False)):
        same = comparable(left) == comparable(right)
        probe.expect(same, f"answer {number} differs between two equal plays")


def _offered_is_accepted(probe: Probe, task_id: int, limits: Mapping[str, int]) -> None:
    for path in _pages(probe, task_id):
        state = probe.play(task_id, path)[-1]["observation_state"]
        for action in state["actions"][:_MAX_CLICKS]:
            answer = probe.play(task_id, [*path, click(action)])[-1]
            done = answer["action_feedback"]["reason"] == "executed"
            probe.expect(done, f"{state['page_type']}: the offered {action!r} was refused")
        answer = probe.play(task_id, [*path, search("a")])[-1]
        wanted = "executed" if state["search_available"] else "search_unavailable"
        probe.expect(
            answer["action_feedback"]["reason"] == wanted, f"{state['page_type']}: search is not {wanted}"
        )


def _refusals(probe: Probe, task_id: int, limits: Mapping[str, int]) -> None:
    for path in _pages(probe, task_id):
        for response, reason in _REFUSED:
            before, after = probe.play(task_id, [*path, response])[-2:]
            found = after["action_feedback"]["reason"]
            where = f"{before['observation_state']['page_type']}: {response!r}"
            probe.expect(found == reason, f"{where} gives {found}, not {reason}")
            probe.expect(public_state(before) == public_state(after), f"{where} changed the page")


def _options(probe: Probe, task_id: int, limits: Mapping[str, int]) -> None:
    for path in _pages(probe, task_id):
        answer = probe.play(task_id, path)[-1]
        state = answer["observation_state"]
        if state["page_type"] != "product_detail":
            continue
        complete = not state["missing_option_axes"]
        probe.expect(
            state["options_complete"] is complete, "options_complete contradicts missing_option_axes"
        )
        probe.expect(
            ("buy now" in state["actions"]) is complete, "buy now is offered although axes are missing"
        )
        if not complete:
            feedback = probe.step(click("buy now"))["action_feedback"]
            probe.expect(
                feedback["reason"] == "incomplete_options", "an early buy now is not incomplete_options"
            )
            missing = feedback.get("missing_option_axes")
            probe.expect(missing == state["missing_option_axes"], "the feedback names other missing axes")
        chosen = [f"{axis}={value}" for axis, value in state["selected_options"].items()]
        for option in chosen:
            if option in state["actions"]:  # another axis makes the same click value
                continue
            feedback = probe.step(click(option))["action_feedback"]
            probe.expect(feedback["reason"] == "already_selected", "a chosen value is not already_selected")


def _purchase(probe: Probe, task_id: int, limits: Mapping[str, int]) -> None:
    answer = probe.play(task_id, _way_to_purchase(probe, task_id))[-1]
    probe.expect(answer.get("termination_reason") == "purchase", "buy now did not end with purchase")
    state = answer["observation_state"]
    probe.expect(state["page_type"] == "terminal", "a purchase does not lead to the terminal page")
    probe.expect(not state["actions"] and not state["search_available"], "the terminal page offers something")
    _expect_over(probe)


def _action_limit(probe: Probe, task_id: int, limits: Mapping[str, int]) -> None:
    for mode, limit in limits.items():
        answers = probe.play(task_id, ["nothing"] * (limit + 1), interaction_mode=mode)
        probe.expect(len(answers) - 1 == limit, f"{mode} ended after {len(answers) - 1} actions, not {limit}")
        last = answers[-1]
        if probe.expect(last["done"] is True, f"{mode} does not end"):
            probe.expect(
                last["termination_reason"] == "action_limit", f"{mode} did not end with action_limit"
            )
            probe.expect(public_state(last) == public_state(answers[0]), "the last page was not kept")
            _expect_over(probe)


def _terminate(probe: Probe, task_id: int, limits: Mapping[str, int]) -> None:
    for reason in ("generation_length", "action_limit"):
        before = probe.play(task_id, [search("a")])[-1]
        for refused in ("purchase", "finish", ""):
            probe.expect_error(f"terminate({refused!r})", probe.environment.terminate, refused)
        after = probe.terminate(reason)
        probe.expect(after["done"] is True, f"terminate({reason!r}) does not end the episode")
        probe.expect(
            after.get("termination_reason") == reason, f"terminate({reason!r}) reports another reason"
        )
        probe.expect(public_state(before) == public_state(after), f"terminate({reason!r}) left the page")
        _expect_over(probe)


def _random_walk(probe: Probe, task_id: int, limits: Mapping[str, int]) -> None:
    chooser = random.Random(task_id)
    instruction = probe.reset(task_id)["task_instruction"]
    actions: list[str] = []
    for _ in range(_WALK_STEPS):
        known = [response for response, _ in _REFUSED]
        response = (
            click(chooser.choice(actions)) if actions and chooser.random() < 0.8 else chooser.choice(known)
        )
        if not actions:
            response = search(instruction)
        answer = probe.step(response)
        if answer["done"]:
            return
        actions = answer["observation_state"]["actions"]


def _expect_over(probe: Probe) -> None:
    probe.expect_error("a step after the end", probe.environment.step, click("back to search"))
    probe.expect_error("a termination after the end", probe.environment.terminate, "action_limit")


def _pages(probe: Probe, task_id: int) -> list[list[str]]:
    """Paths to one page of each kind: home, results, a product untouched, and one with a chosen option."""
    script = _way_to_purchase(probe, task_id)
    return [script[:length] for length in range(min(len(script), 4))]


def _way_to_purchase(probe: Probe, task_id: int) -> list[str]:
    """Search for the instruction, open the first product, choose the first value of each axis, buy."""
    script = [search(probe.reset(task_id)["task_instruction"])]
    state = probe.step(script[0])["observation_state"]
    if not probe.expect(
        bool(state.get("products")), f"the search for the text of task {task_id} finds nothing"
    ):
        return script
    script.append(click(state["products"][0]["asin"].lower()))
    state = probe.step(script[1])["observation_state"]
    values = state.get("available_options", {})
    choices = [click(f"{axis}={values[axis][0]}") for axis in state.get("missing_option_axes", ())]
    return [*script, *choices, click("buy now")]


RULES: Final = (
    Rule("reset", "answers of reset are complete, public, and refuse unknown tasks and modes", _reset),
    Rule("deterministic", "equal actions give equal answers", _deterministic),
    Rule("offered_is_accepted", "everything a page offers is executed", _offered_is_accepted),
    Rule("refusals", "refused actions give the right reason and change no page", _refusals),
    Rule("options", "buying needs every axis; feedback says what is missing", _options),
    Rule("purchase", "buy now ends on the terminal page with the reward explained", _purchase),
    Rule("action_limit", "the budget counts refused actions and ends the episode", _action_limit),
    Rule("terminate", "a runner can end an episode for the two allowed reasons only", _terminate),
    Rule("random_walk", "every answer of a random walk is well formed", _random_walk),
)
