from __future__ import annotations

import json
from typing import Any

import pytest

from shopsim.env.errors import EpisodeEndedError, EpisodeError, TerminationReasonError
from shopsim.env.render import render_observation_state
from shopsim.env.shop_env import ShopEnv
from shopsim.errors import UsageError
from shopsim.formats import ENVIRONMENT_VERSION, REWARD_VERSION
from shopsim.tasks.goals import UnknownTaskError
from tests.factories.shops import SmallShop

FRIDGE = "600000000001"
BUY_FRIDGE = (
    "search[迷你冰箱 静音]",
    f"click[{FRIDGE}]",
    "click[颜色分类=月光白]",
    "click[套餐类型=官方标配]",
    "click[buy now]",
)
RESET_KEYS = {
    "task_instruction",
    "observation",
    "observation_state",
    "user_persona",
    "task_mode",
    "interaction_mode",
    "environment_version",
    "idx",
}
STEP_KEYS = {"done", "over", "reward", "observation", "observation_state", "action_feedback", "message"}
FINAL_KEYS = {"reward_detail", "purchase", "goal", "termination_reason"}


def play(env: ShopEnv, *responses: Any) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    for response in responses:
        answer = env.step(response)
    return answer


def test_reset_gives_the_public_part_of_a_persona_task(env: ShopEnv) -> None:
    answer = env.reset(0)
    assert set(answer) == RESET_KEYS
    assert answer["task_instruction"] == "想给宿舍买一台小冰箱，白色的，300元以内"
    assert (answer["task_mode"], answer["interaction_mode"]) == ("persona", "single_turn")
    assert (answer["environment_version"], answer["idx"]) == (ENVIRONMENT_VERSION, 0)
    assert answer["user_persona"]["用户ID"] == "tiny-user-01,"
    assert answer["observation"] == render_observation_state(answer["observation_state"])


def test_standard_mode_shows_the_full_instruction_and_no_persona(env: ShopEnv) -> None:
    for answer in (env.reset(0, persona=False), env.reset(1)):
        assert (answer["task_mode"], answer["user_persona"]) == ("standard", None)
    assert env.reset(0, persona=False)["task_instruction"].startswith("想买一台宿舍用的迷你小冰箱，要静音")


def test_the_private_reasoning_is_shown_nowhere(env: ShopEnv) -> None:
    for task_id in (0, 90):
        shown = [
            env.reset(task_id),
            env.reset(task_id, include_private_goal=True),
            env.terminate("action_limit"),
        ]
        text = json.dumps(shown, ensure_ascii=False)
        assert "__reasoning__" not in text and "secret" not in text and "private chain" not in text
    assert env.reset(90)["user_persona"] == {"偏好": [{"颜色": "白"}]}


def test_the_private_goal_comes_on_request_only(env: ShopEnv) -> None:
    answer = env.reset(0, include_private_goal=True)
    assert set(answer) - RESET_KEYS == {"private_task_instruction", "goal_options", "reason_key"}
    assert answer["goal_options"] == ["月光白", "官方标配"]
    assert "300元以内" in answer["private_task_instruction"]


def test_a_running_step_has_exactly_its_keys(env: ShopEnv) -> None:
    env.reset(0)
    answer = env.step("search[迷你冰箱]")
    assert set(answer) == STEP_KEYS
    assert (answer["done"], answer["over"], answer["reward"]) == (False, False, 0.0)
    assert answer["action_feedback"] == answer["observation_state"]["last_action"]
    assert answer["message"] == answer["action_feedback"]["message"]
    assert answer["observation"] == render_observation_state(answer["observation_state"])


def test_a_right_purchase_is_rewarded_and_explained(env: ShopEnv) -> None:
    env.reset(0)
    answer = play(env, *BUY_FRIDGE)
    assert set(answer) == STEP_KEYS | FINAL_KEYS
    assert (answer["done"], answer["over"], answer["reward"]) == (True, True, 1.0)
    assert answer["termination_reason"] == answer["reward_detail"]["termination_reason"] == "purchase"
    assert answer["purchase"] == {
        "asin": FRIDGE,
        "category": "大家电›冰箱›迷你冰箱",
        "name": "冰点家 迷你小冰箱 BX-50L 宿舍静音冷藏冷冻两用",
        "attributes": ["静音", "50L", "一级能效", "宿舍适用"],
        "price": 299.0,
        "options": {"颜色分类": "月光白", "套餐类型": "官方标配"},
    }
    wanted = ("asin", "name", "category", "attributes", "goal_options", "price_upper", "instruction_text")
    assert all(key in answer["goal"] for key in wanted)
    assert answer["observation_state"]["page_type"] == "terminal"
    json.dumps(answer)


def test_a_wrong_option_costs_the_success(env: ShopEnv) -> None:
    env.reset(0)
    answer = play(env, *BUY_FRIDGE[:3], "click[颜色分类=复古绿 | 限定]", *BUY_FRIDGE[3:])
    detail = answer["reward_detail"]
    assert (answer["reward"], detail["r_option"], detail["r_price"]) == (0.0, 0.5, 0.0)
    assert detail["target_asin_match"] is True
    assert answer["purchase"]["options"]["颜色分类"] == "复古绿 | 限定"


def test_the_price_of_a_purchase_may_be_unknown(env: ShopEnv) -> None:
    env.reset(6)
    answer = play(env, "search[人体工学椅]", "click[600000000006]", "click[颜色=灰]", "click[扶手=升降]")
    answer = env.step("click[buy now]")
    assert answer["purchase"]["price"] is None
    assert answer["reward_detail"]["price_verifiable"] is False


@pytest.mark.parametrize(("mode", "limit"), [("single_turn", 30), ("multi_turn", 40)])
def test_the_budget_ends_the_episode_with_its_last_action(env: ShopEnv, mode: str, limit: int) -> None:
    env.reset(0, interaction_mode=mode)
    assert env.action_limit == limit
    for _ in range(limit - 1):
        assert env.step("???")["done"] is False
    answer = env.step("search[迷你冰箱]")
    assert set(answer) == STEP_KEYS | FINAL_KEYS
    assert (answer["done"], answer["reward"], answer["purchase"]) == (True, 0.0, None)
    assert answer["termination_reason"] == "action_limit"
    assert answer["observation_state"]["page_type"] == "search_results", "the last action still executed"
    assert answer["action_feedback"]["reason"] == "executed"
    assert env.steps_taken == limit and env.done


@pytest.mark.parametrize("reason", ["action_limit", "generation_length"])
def test_a_reported_ending_has_reward_zero_in_every_component(env: ShopEnv, reason: str) -> None:
    env.reset(0)
    page = env.step("search[迷你冰箱]")["observation_state"]
    answer = env.terminate(reason)
    assert set(answer) == STEP_KEYS | FINAL_KEYS
    detail = answer["reward_detail"]
    assert detail["reward_version"] == REWARD_VERSION
    assert {value for key, value in detail.items() if key.startswith("r_")} == {0.0}
    assert detail["target_asin_match"] is False and detail["price_verifiable"] is False
    assert answer["observation_state"] == page
    assert (answer["done"], answer["termination_reason"]) == (True, reason)


def test_an_episode_may_end_before_its_first_step(env: ShopEnv) -> None:
    env.reset(0)
    answer = env.terminate("generation_length")
    assert answer["action_feedback"] is None and "last_action" not in answer["observation_state"]


def test_after_the_end_every_step_is_an_error(env: ShopEnv) -> None:
    env.reset(0)
    play(env, *BUY_FRIDGE)
    with pytest.raises(EpisodeEndedError, match="purchase"):
        env.step("click[back to search]")
    with pytest.raises(EpisodeEndedError):
        env.terminate("action_limit")
    assert env.reset(0)["observation_state"]["page_type"] == "search_home"


def test_other_endings_are_refused_and_the_episode_goes_on(env: ShopEnv) -> None:
    env.reset(0)
    with pytest.raises(TerminationReasonError):
        env.terminate("purchase")
    assert env.step("search[茶]")["done"] is False


def test_before_the_first_reset_nothing_works(env: ShopEnv) -> None:
    for use in (lambda: env.step("search[茶]"), lambda: env.terminate("action_limit"), lambda: env.state):
        with pytest.raises(EpisodeError, match="no episode is running"):
            use()


def test_unknown_tasks_are_named_and_leave_the_running_episode_alone(env: ShopEnv) -> None:
    env.reset(0)
    env.step("search[茶]")
    with pytest.raises(UnknownTaskError, match="task 4711"):
        env.reset(4711)
    assert env.state["page_type"] == "search_results"


@pytest.mark.parametrize("task_id", ["0", 0.0, True, None, [0]])
def test_a_task_id_is_a_whole_number(env: ShopEnv, task_id: Any) -> None:
    with pytest.raises(UsageError, match="task id"):
        env.reset(task_id)


@pytest.mark.parametrize("mode", ["", "endless", None, ["single_turn"]])
def test_unknown_modes_are_refused(env: ShopEnv, mode: Any) -> None:
    with pytest.raises(UsageError, match="interaction_mode"):
        env.reset(0, interaction_mode=mode)


def test_a_caller_cannot_change_the_episode_through_its_answers(env: ShopEnv) -> None:
    env.reset(0)["user_persona"].clear()
    answer = play(env, *BUY_FRIDGE[:2])
    answer["observation_state"]["actions"].clear()
    answer["observation_state"]["product"]["asin"] = "x"
    assert env.step("click[颜色分类=月光白]")["action_feedback"]["valid"] is True
    assert env.reset(0)["user_persona"]


def test_environments_over_one_shop_do_not_disturb_each_other(tiny: SmallShop) -> None:
    one, other = tiny.env(), tiny.env()
    one.reset(0)
    other.reset(1)
    play(one, *BUY_FRIDGE[:3])
    assert other.state["page_type"] == "search_home"
    assert play(one, *BUY_FRIDGE[3:])["reward"] == 1.0


def test_settings_decide_budget_and_page_size(tmp_path_factory: pytest.TempPathFactory) -> None:
    from tests.factories.shops import shelf_records

    small = SmallShop(
        shelf_records(9),
        tmp_path_factory.mktemp("small-pages"),
        search={"page_size": 4, "max_results": 6},
        episode={"single_turn_actions": 2},
    )
    env = small.env()
    env.reset(0)
    state = env.step("search[台灯]")["observation_state"]
    assert (len(state["products"]), state["total_results"], state["total_pages"]) == (4, 6, 2)
    assert env.step("click[next >]")["termination_reason"] == "action_limit"
