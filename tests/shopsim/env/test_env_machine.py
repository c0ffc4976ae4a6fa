"""Random and hostile action sequences against the invariants of the contract."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shopsim.env.actions import Action, Reason, click, parse_response, search
from shopsim.env.conformance.answers import public_state, step_problems
from shopsim.env.pages import render_page_html
from shopsim.env.shop_env import ShopEnv
from tests.factories.shops import AWKWARD_ASIN, SmallShop

HOSTILE = [
    "click[buy now], click[buy now]",
    "Action: search[a]\nAction: search[b]",
    "",
    "click[",
    "]",
    "search[]",
    "click[ ]",
    "click[__proto__]",
    "click[{{ 7 * 7 }}]",
    "click[<script>alert(1)</script>]",
    'search["; DROP TABLE products; --]',
    "search[NEAR(a b) OR * AND NOT title:x]",
    "search[\ud83d]",
    "search[\x00茶\u202e]",
    "click[600000000001\x00]",
    "click[a=b=c]",
    "click[尺码 [cm]=ＸＬ]",
    "search[click[buy now]]",
    f"click[{AWKWARD_ASIN}]",
]
SEARCHES = ["冰箱", "台灯 灯", "怪怪杯子", "积木 茶 椅 皂", "没有"]

# A step is a number: which offered action to take, or which search or hostile text when none fits.
STEPS = st.lists(
    st.tuples(st.sampled_from(["offered", "search", "hostile"]), st.integers(0, 999)), min_size=8, max_size=45
)


def _response(kind: str, number: int, actions: list[str]) -> str:
    if kind == "offered" and actions:
        return click(actions[number % len(actions)])
    if kind == "hostile":
        return HOSTILE[number % len(HOSTILE)]
    return search(SEARCHES[number % len(SEARCHES)])


def _expected_refusal(response: str, state: dict[str, Any]) -> Reason | None:
    """The reason by spec 01 §2 worked out from the public state alone; None: the action must execute."""
    action = parse_response(response)
    if not isinstance(action, Action):
        return action
    if action.verb == "search":
        return None if state["search_available"] else Reason.SEARCH_UNAVAILABLE
    value = " ".join(action.argument.casefold().split())
    if any(" ".join(offered.casefold().split()) == value for offered in state["actions"]):
        return None
    selected = state.get("selected_options", {})
    if any(" ".join(f"{axis}={text}".casefold().split()) == value for axis, text in selected.items()):
        return Reason.ALREADY_SELECTED
    if value == "buy now" and state["page_type"] == "product_detail" and state["missing_option_axes"]:
        return Reason.INCOMPLETE_OPTIONS
    return Reason.UNAVAILABLE_ACTION


def _check_step(before: dict[str, Any], response: str, answer: dict[str, Any]) -> None:
    assert list(step_problems(answer)) == []
    feedback = answer["action_feedback"]
    expected = _expected_refusal(response, before)
    assert feedback["reason"] == (expected or Reason.EXECUTED)
    if expected is not None:
        unchanged = {key: value for key, value in before.items() if key != "last_action"}
        assert public_state(answer) == unchanged
    if expected is Reason.INCOMPLETE_OPTIONS:
        assert feedback["missing_option_axes"] == before["missing_option_axes"]
    text = answer["observation"]
    assert text.endswith("\n") and not text.endswith("\n\n")
    typed = " ".join(str(answer["observation_state"].get("search_text", "")).split())
    written = text.replace(typed, "") if typed else text
    assert "search[" not in written and "click[" not in written
    assert render_page_html(answer["observation_state"]).startswith("<!doctype html>")


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS, st.sampled_from([0, 1, 5, 6, 90]))
def test_any_sequence_keeps_the_contract(tiny: SmallShop, steps: list[tuple[str, int]], task_id: int) -> None:
    env = tiny.env()
    state = env.reset(task_id)["observation_state"]
    for count, (kind, number) in enumerate(steps, 1):
        response = _response(kind, number, state["actions"])
        answer = env.step(response)
        _check_step(state, response, answer)
        state = answer["observation_state"]
        assert env.steps_taken == count
        assert env.state == state
        bought = state["page_type"] == "terminal"
        assert answer["done"] is (bought or count == 30)
        if answer["done"]:
            assert answer["termination_reason"] == ("purchase" if bought else "action_limit")
            return


def test_a_shopper_who_only_takes_what_is_offered_always_gets_somewhere(shelf: SmallShop) -> None:
    env: ShopEnv = shelf.env()
    endings = set()
    for seed in range(40):
        chooser = random.Random(seed)
        answer = env.reset(0)
        while not answer.get("done"):
            actions = answer["observation_state"]["actions"]
            answer = env.step(click(chooser.choice(actions)) if actions else search("台灯 茶 皂"))
            assert answer["action_feedback"]["valid"] is True
        endings.add(answer["termination_reason"])
    assert endings == {"purchase", "action_limit"}
