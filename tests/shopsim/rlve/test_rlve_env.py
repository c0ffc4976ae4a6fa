"""The environment: drawing, ends, what counts, what is remembered, what is hidden."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from shopsim.errors import UsageError
from shopsim.rlve.action import AgentAction
from shopsim.rlve.agents import action_text
from shopsim.rlve.collections import ENVIRONMENTS
from shopsim.rlve.curriculum import Curriculum
from shopsim.rlve.denied import DeniedCategories
from shopsim.rlve.env import RlveEnv, StepResult
from shopsim.rlve.episode import BUDGET_USED_UP
from shopsim.rlve.errors import EpisodeEndedError, RlveError
from shopsim.rlve.problem import Fact, Outcome, Problem, Verdict
from shopsim.rlve.shop import Shop
from shopsim.rlve.tasks import TASKS

LOOK = {"name": "cart.view", "args": {}}


@pytest.fixture
def env(rlve_shop: Shop) -> RlveEnv:
    return rlve_shop.new_env()


def action(message: str = "", calls: list[dict[str, Any]] | None = None, **answer: Any) -> str:
    return json.dumps({"assistant_message": message, "tool_calls": calls or [], "answer": answer or None})


def solve(env: RlveEnv) -> StepResult:
    """Play the oracle's solution to the end."""
    for step in env.solution():
        result = env.step(action_text(step))
        if result.done:
            return result
    raise AssertionError("the solution does not end")


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_oracle_is_right_at_every_difficulty_and_an_empty_answer_never(env: RlveEnv, name: str) -> None:
    for difficulty in range(13):
        env.reset(difficulty, name, difficulty)
        end = solve(env)
        assert end.info["correct"], (difficulty, end.info)
        assert end.info["reward"]["hallucination"] == 0
        assert end.reward > 0.5
        env.reset(difficulty, name, difficulty)
        wrong = env.step(action(done=True))
        assert not wrong.info["correct"], difficulty
        assert wrong.reward < 0.3  # declining a line that cannot go back is half of it


def test_the_same_seed_gives_the_same_episode_also_when_it_is_not_drawn(rlve_shop: Shop) -> None:
    first, second = rlve_shop.new_env(), rlve_shop.new_env()
    for seed in range(12):
        drawn = first.reset(seed)
        assert second.reset(seed) == drawn
        assert second.reset(seed, drawn["env"], drawn["difficulty"]) == drawn
        assert first.private() == second.private()


def test_seeds_draw_all_environments(env: RlveEnv) -> None:
    assert {env.reset(seed)["env"] for seed in range(60)} == set(ENVIRONMENTS)


def test_undisclosed_observations_name_neither_environment_nor_difficulty(rlve_shop: Shop) -> None:
    hidden = replace(rlve_shop, settings=rlve_shop.settings.model_copy(update={"disclose": False}))
    observation = hidden.new_env().reset(1, "PD", 3)
    assert not {"env", "difficulty"} & observation.keys()


def test_only_drawn_episodes_move_the_curriculum(rlve_shop: Shop) -> None:
    curriculum = Curriculum(("POLICY",))
    env = rlve_shop.new_env(curriculum=curriculum)
    env.reset(1, "POLICY", 0)
    solve(env)
    assert curriculum.episodes == 0
    for seed in range(32):
        env.reset(seed)
        solve(env)
    assert curriculum.window("POLICY").high == 1


def test_calls_beyond_the_budget_do_nothing_and_are_not_invalid(env: RlveEnv) -> None:
    env.reset(1, "CART", 0)
    bought = {"name": "cart.add", "args": {"product_id": env.catalogue.ids[0]}}
    result = env.step(action("one moment", [LOOK, bought, LOOK]))
    assert [call["ok"] for call in result.observation["tool_results"]] == [True, False, False]
    assert {call["error"] for call in result.observation["tool_results"][1:]} == {BUDGET_USED_UP}
    assert not len(env.episode.world.cart)
    assert env.step(action(done=True)).info["reward"]["violation"] is None


@pytest.mark.parametrize(
    "call", [{"name": "no.tool", "args": {}}, {"name": "cart.add", "args": {"product_id": 3}}]
)
def test_an_invalid_call_is_one_beyond_the_budget_too(env: RlveEnv, call: dict[str, Any]) -> None:
    env.reset(1, "CART", 0)
    result = env.step(action("one moment", [LOOK, call]))
    assert result.observation["tool_results"][1]["invalid"]
    assert env.step(action(done=True)).info["reward"]["violation"] == "invalid_tool_call"


def test_an_agent_that_writes_into_its_observation_changes_no_record(env: RlveEnv) -> None:
    env.reset(1, "STATUS", 6)
    observation = env.step(action("one moment", [{"name": "order.list", "args": {}}])).observation
    before = json.dumps([env.episode.turns, [entry["content"] for entry in env.episode.conversation[:2]]])
    for entry in observation["conversation"]:
        entry["content"] = "changed"
    observation["tool_results"][0]["content"]["orders"].clear()
    observation["tool_results"][0]["ok"] = False
    observation["tool_results"].clear()
    after = json.dumps([env.episode.turns, [entry["content"] for entry in env.episode.conversation[:2]]])
    assert after == before


def test_an_invalid_call_is_remembered_though_the_rest_is_right(env: RlveEnv) -> None:
    env.reset(1, "STATUS", 6)
    env.step(action("one moment", [{"name": "order.list", "args": {"all": True}}]))
    end = solve(env)
    assert end.info["verdict"]["correct"]
    assert (end.reward, end.info["correct"]) == (-1.0, False)
    assert end.info["reward"]["violation"] == "invalid_tool_call"


def test_what_is_no_action_ends_the_episode_and_outweighs_an_invalid_call(env: RlveEnv) -> None:
    env.reset(1, "STATUS", 6)
    env.step(action("one moment", [{"name": "no.tool", "args": {}}]))
    end = env.step("I will look.")
    assert (end.done, end.reward, end.info["termination"]) == (True, -1.0, "unparsable")
    assert end.observation["tool_results"] == []
    assert end.info["reward"]["violation"] == "unparsable_action"
    assert end.info["parse_error"]


def test_the_last_answer_counts_when_the_turns_are_over(env: RlveEnv) -> None:
    observation = env.reset(1, "POLICY", 0)
    right = [step for step in env.solution() if step.answer][-1].answer
    assert right is not None
    result = env.step(action("", [], **{**json.loads(right.model_dump_json()), "done": False}))
    for _ in range(observation["max_turns"] - 1):
        result = env.step(action("one moment", [LOOK]))
    assert result.info["termination"] == "turn_limit"
    assert result.info["verdict"]["correct"]
    assert result.info["user_act"] is None  # nobody speaks after the last turn


def test_three_silent_turns_and_the_user_leaves(env: RlveEnv) -> None:
    env.reset(1, "PD", 6)
    acts = [env.step("{}").info["user_act"] for _ in range(2)]
    end = env.step("{}")
    assert acts == ["dissatisfied", "dissatisfied"]
    assert (end.done, end.info["termination"], end.info["user_act"]) == (True, "user_quit", "ragequit")


def test_turns_that_the_user_spends_clarifying_are_free(env: RlveEnv) -> None:
    for seed in range(40):
        env.reset(seed, "CART", 8)
        asked = env.step(action("Which quantity and which variant do you want?"))
        if asked.info["user_act"] == "clarify":
            break
    end = env.step(action(done=True))
    assert end.info["reward"]["turns"] == 2
    assert end.info["reward"]["effective_turns"] == 1


def test_a_step_needs_a_running_episode(env: RlveEnv) -> None:
    with pytest.raises(RlveError, match="Reset"):
        env.step("{}")
    env.reset(1, "PD", 0)
    env.step(action(done=True))
    with pytest.raises(EpisodeEndedError, match="answer"):
        env.step("{}")


@pytest.mark.parametrize(
    ("request_", "complaint"),
    [
        ((1, "SHOP", 0), "SHOP"),
        ((1, "PD", -1), "difficulty"),
        ((1, "PD", 101), "difficulty"),
        ((True,), "seed"),
    ],
)
def test_unknown_requests_are_refused(env: RlveEnv, request_: tuple[Any, ...], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        env.reset(*request_)


def test_observations_hold_nothing_of_the_problem(env: RlveEnv) -> None:
    for name in ENVIRONMENTS:
        first = env.reset(3, name, 9)
        later = [env.step(action("I see.", [LOOK])).observation for _ in range(2)]
        texts = [json.dumps(observation) for observation in (first, *later)]
        private = env.private()
        told = set(env.episode.user.told)
        for problem in (private, *private["parts"]):
            prefix = f"{problem['env']}/" if private["parts"] else ""
            untold = [fact for fact in problem["facts"] if prefix + fact["name"] not in told]
            assert not [fact for fact in untold if json.dumps(fact["text"])[1:-1] in "".join(texts)]
        assert not {"private", "target", "facts", "persona"} & first.keys()
        assert str(env.episode.world.seed) not in "".join(texts)


# -- denied categories -------------------------------------------------------------------------------


def denying(shop: Shop, *names: str) -> RlveEnv:
    settings = shop.settings.model_copy(update={"denied_categories": names})
    return replace(shop, settings=settings).new_env()


def test_recommending_a_denied_product_is_worth_minus_one(rlve_shop: Shop) -> None:
    env = denying(rlve_shop, "books")
    book = next(product.id for product in env.catalogue if product.department == "Books")
    observation = env.reset(1, "PD", 4)
    assert observation["denied_categories"] == ["books"]
    env.step(action("these?", [], recommended_product_ids=[book]))  # taken back later, but it was said
    end = env.step(action(done=True))
    assert (end.reward, end.info["reward"]["violation"]) == (-1.0, "denied_category")
    env.reset(1, "JOURNEY", 4)
    part = {"env": "PD", "recommended_product_ids": [book]}
    assert env.step(action(done=True, subgoal_answers=[part])).reward == -1.0


def test_problems_never_need_what_is_denied(rlve_shop: Shop) -> None:
    env = denying(rlve_shop, "Books", "Electronics", "Clothing", "Toys")
    for name in ("PD", "SUB", "BUNDLE"):
        for seed in range(4):
            env.reset(seed, name, 3)
            assert solve(env).info["correct"], (name, seed)


def test_denying_everything_is_an_error(rlve_shop: Shop) -> None:
    env = denying(rlve_shop, *rlve_shop.catalogue.departments)
    with pytest.raises(RlveError, match="denied category"):
        env.reset(1, "PD", 0)


def test_denied_names_and_paths(rlve_shop: Shop) -> None:
    product = next(product for product in rlve_shop.catalogue if len(product.category) > 1)
    top, leaf = product.category[0], product.category[-1]
    assert DeniedCategories([leaf.upper()]).holds(product)
    assert DeniedCategories([f"{top} > {product.category[1]}"]).holds(product)
    assert not DeniedCategories([f"{product.category[1]} > {top}"]).holds(product)
    assert not DeniedCategories(["no such"]).holds(product)
    assert not DeniedCategories([leaf]).any_of(rlve_shop.catalogue, ["no-such-id"])
    with pytest.raises(UsageError, match="denied category"):
        DeniedCategories(["Books > "])


# -- environments of one's own -----------------------------------------------------------------------


class _Greeting:
    """A task of one's own: the customer wants to be greeted by name."""

    id = "HELLO"

    def generate(self, world: Any, difficulty: Any, dice: Any) -> Problem:
        persona = TASKS["STATUS"].generate(world, difficulty, dice).persona
        fact = Fact("name", 'My name is "Ada".', ("name",), essential=True)
        return Problem("HELLO", difficulty, persona, "Please greet me.", (fact,), {"name": "Ada"})

    def verify(self, problem: Problem, outcome: Outcome) -> Verdict:
        right = outcome.answer is not None and outcome.answer.policy_answer == problem.target["name"]
        return Verdict(1.0 if right else -1.0, right, {"name": float(right)})

    def correction(self, problem: Problem, world: Any, told: Any) -> None:
        return None

    def solve(self, problem: Problem, world: Any) -> Any:
        yield AgentAction.model_validate({"answer": {"policy_answer": "Ada", "done": True}})


def test_a_task_of_ones_own_is_played_like_the_others(rlve_shop: Shop) -> None:
    env = RlveEnv(
        rlve_shop.catalogue,
        search=rlve_shop.search,
        curriculum=Curriculum(("HELLO",)),
        tasks={"HELLO": _Greeting()},
    )
    assert "Ada" in env.reset(5)["conversation"][0]["content"]
    assert solve(env).info["correct"]
    with pytest.raises(UsageError, match="no task"):
        RlveEnv(rlve_shop.catalogue, search=rlve_shop.search, tasks={"HELLO": _Greeting()})
