"""JOURNEY: the oracle gets every part right at every difficulty; one wrong part makes the whole wrong."""

from __future__ import annotations

import json
from random import Random
from statistics import mean

import pytest

from shopsim.rlve.action import ACTION_SCHEMA, AgentAction, Answer, SubgoalAnswer, parse_action
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.errors import RlveError
from shopsim.rlve.problem import Outcome, Problem
from shopsim.rlve.tasks import TASKS, task_of
from shopsim.rlve.tasks.journey import JourneyTask, part_answer
from shopsim.rlve.tasks.status import StatusTarget, references
from shopsim.rlve.world import ReturnRecord
from tests.factories.rlve_play import Case, everything, make_case
from tests.factories.rlve_walk import make_world

_SINGLE = {"PD", "SUB", "CART", "RETURN", "STATUS", "POLICY", "BUNDLE"}


def _with(env: str, d: int = 8, *others: str) -> Case:
    """The first journey at ``d`` that has the parts named."""
    for seed in range(200):
        case = make_case("JOURNEY", d, seed)
        if {env, *others} <= {part.env for part in case.problem.parts}:
            return case
    raise AssertionError("no such journey drawn")


def _part(case: Case, env: str) -> Problem:
    return next(part for part in case.problem.parts if part.env == env)


def _change(answer: Answer, env: str, **fields: object) -> Answer:
    parts = tuple(
        part.model_copy(update=fields) if part.env == env else part for part in answer.subgoal_answers
    )
    return answer.model_copy(update={"subgoal_answers": parts})


@pytest.mark.parametrize("d", range(13))
def test_the_oracle_is_correct_at_every_difficulty(d: int) -> None:
    for seed in range(5):
        verdict, turns = make_case("JOURNEY", d, seed).converse(seed)
        assert verdict.correct
        assert turns <= 4 + d // 2


def test_parts_are_distinct_ones_of_the_other_seven_and_grow_with_the_difficulty() -> None:
    seen: set[str] = set()
    for d in (0, 3, 4, 8, 12):
        for seed in range(12):
            problem = make_case("JOURNEY", d, seed).problem
            envs = [part.env for part in problem.parts]
            assert len(envs) == len(set(envs)) == min(5, 2 + d // 4)
            assert set(envs) <= _SINGLE
            assert all(part.difficulty == problem.difficulty == Difficulty.of(d) for part in problem.parts)
            seen |= set(envs)
    assert seen == _SINGLE


def test_all_eight_tasks_are_there_under_their_own_ids() -> None:
    assert set(TASKS) == _SINGLE | {"JOURNEY"}
    assert all(task.id == env for env, task in TASKS.items())
    assert task_of(make_case("JOURNEY", 0, 0).problem) is TASKS["JOURNEY"]


def test_the_answers_of_the_parts_are_in_the_schema_of_the_action() -> None:
    case = make_case("JOURNEY", 6, 1)
    answer = case.carry_out()
    written = json.dumps(
        {"assistant_message": "", "tool_calls": [], "answer": answer.model_dump(mode="json")}
    )
    action = parse_action(written)
    assert isinstance(action, AgentAction)
    assert action.answer == answer
    assert case.verdict(action.answer).correct
    assert "subgoal_answers" in json.dumps(ACTION_SCHEMA)


def test_r_task_is_the_mean_of_the_parts_and_correct_means_every_part() -> None:
    for seed in range(15):
        case = make_case("JOURNEY", 8, seed)
        answer = case.carry_out()
        for left_out in [None, *(part.env for part in case.problem.parts)]:
            given = answer.model_copy(
                update={
                    "subgoal_answers": tuple(one for one in answer.subgoal_answers if one.env != left_out)
                }
            )
            own = {one.env: one for one in given.subgoal_answers}
            verdicts = []
            for part in case.problem.parts:
                fields = own[part.env].model_dump() if part.env in own else {}
                outcome = Outcome(
                    Answer(**{**fields, "done": True}),
                    case.world,
                    frozenset(fact.name for fact in part.facts),
                )
                verdicts.append(TASKS[part.env].verify(part, outcome))
            verdict = case.verdict(given)
            assert verdict.reward == pytest.approx(mean(one.reward for one in verdicts))
            assert verdict.correct == all(one.correct for one in verdicts)
            assert all(
                verdict.parts[part.env] == one.reward
                for part, one in zip(case.problem.parts, verdicts, strict=True)
            )


@pytest.mark.parametrize("env", sorted(_SINGLE - {"CART"}))
def test_a_part_without_its_answer_is_wrong(env: str) -> None:
    case = _with(env)
    answer = case.carry_out()
    assert case.verdict(answer).correct
    rest = tuple(part for part in answer.subgoal_answers if part.env != env)
    verdict = case.verdict(answer.model_copy(update={"subgoal_answers": rest}))
    assert not verdict.correct
    assert verdict.parts[env] < case.verdict(answer).parts[env]


@pytest.mark.parametrize(
    ("env", "fields"),
    [
        ("STATUS", {"order_status": "LOST"}),
        ("STATUS", {"selected_order_id": "ORD-0"}),
        ("RETURN", {"selected_line_id": "ORD-0-1"}),
        ("POLICY", {"policy_answer": "I do not know"}),
        ("PD", {"recommended_product_ids": ("nothing",)}),
        ("SUB", {"recommended_product_ids": ("nothing",)}),
        ("BUNDLE", {"recommended_product_ids": ("nothing",)}),
    ],
)
def test_one_wrong_part_makes_the_whole_wrong(env: str, fields: dict[str, object]) -> None:
    case = _with(env)
    answer = case.carry_out()
    right = case.verdict(answer)
    wrong = case.verdict(_change(answer, env, **fields))
    assert right.correct and not wrong.correct
    assert wrong.parts[env] < right.parts[env]
    assert all(
        wrong.parts[part.env] == right.parts[part.env] for part in case.problem.parts if part.env != env
    )


def test_a_wrong_cart_makes_the_whole_wrong() -> None:
    case = _with("CART")
    answer = case.carry_out()
    assert case.verdict(answer).correct
    case.call("cart.remove", line_id=next(iter(case.world.cart)).line_id)
    assert not case.verdict(answer).correct


def test_a_wrong_return_makes_the_whole_wrong() -> None:
    case = _with("RETURN", 12)
    answer = case.carry_out()
    order = next(iter(case.world.orders.values()))
    key = (order.order_id, "another line")
    case.world.returns[key] = ReturnRecord("RET-9", *key, turn=1, refund=1.0)
    verdict = case.verdict(answer)
    assert not verdict.correct
    assert verdict.parts["RETURN.return"] == -1


def test_the_parts_answers_are_matched_by_environment_whatever_their_order() -> None:
    case = make_case("JOURNEY", 8, 3)
    answer = case.carry_out()
    turned = answer.model_copy(update={"subgoal_answers": tuple(reversed(answer.subgoal_answers))})
    assert case.verdict(turned) == case.verdict(answer)


def test_of_two_answers_to_one_part_the_last_one_counts() -> None:
    wrong = SubgoalAnswer(env="STATUS", order_status="LOST")
    right = SubgoalAnswer(env="STATUS", order_status="SHIPPED")
    for answers in ((wrong, right), (right, wrong)):
        own = part_answer(Answer(subgoal_answers=answers, done=True), "STATUS")
        assert own is not None and own.done
        assert own.order_status == answers[1].order_status
    missing = part_answer(Answer(done=True), "STATUS")
    assert missing is not None and missing.order_status is None
    assert part_answer(None, "STATUS") is None


def test_an_answer_outside_of_the_parts_does_not_count() -> None:
    case = _with("STATUS")
    target = _part(case, "STATUS").target
    assert isinstance(target, StatusTarget)
    answer = Answer(env="JOURNEY", selected_order_id=target.order_id, order_status=target.status, done=True)
    assert case.verdict(answer).parts["STATUS"] == -1.0


def test_what_was_never_told_of_a_part_is_not_held_against_the_agent() -> None:
    tried = 0
    for seed in range(40):
        case = make_case("JOURNEY", 8, seed)
        parts = {part.env: part for part in case.problem.parts}
        if "CART" not in parts or not any(fact.name == "variant_0" for fact in parts["CART"].facts):
            continue
        answer = case.carry_out()
        line = next(iter(case.world.cart))
        case.call("cart.remove", line_id=line.line_id)
        case.call("cart.add", product_id=line.product_id, quantity=line.quantity)
        told = everything(case.problem)
        assert not case.verdict(answer, told).correct
        assert case.verdict(answer, told - {"CART/variant_0"}).correct
        assert case.verdict(answer, (told - {"CART/variant_0"}) | {"variant_0"}).correct, "no part's fact"
        tried += 1
    assert tried


def test_a_part_that_was_never_brought_up_counts_all_the_same() -> None:
    case = _with("POLICY", 8, "STATUS")
    status = _part(case, "STATUS")
    target = status.target
    answer = Answer(
        env="JOURNEY",
        subgoal_answers=(
            SubgoalAnswer(env="STATUS", selected_order_id=target.order_id, order_status=target.status),
        ),
        done=True,
    )
    verdict = case.verdict(answer, frozenset({"STATUS", "STATUS/order"}))
    assert verdict.parts["STATUS"] == 1.0
    assert verdict.parts["POLICY"] == -1.0
    assert not verdict.correct


def test_the_user_corrects_only_parts_that_were_brought_up() -> None:
    case = _with("CART")
    target = _part(case, "CART").target
    wanted = {item.product_id for item in target.items}
    stranger = next(p for p in case.world.catalogue.ids if p not in wanted)
    case.world.cart.add(stranger)
    told = everything(case.problem)
    said = case.task.correction(case.problem, case.world, told)
    assert said is not None and case.world.product(stranger).title in said
    silent = frozenset(name for name in told if not name.startswith("CART"))
    assert case.task.correction(case.problem, case.world, silent) is None


def test_return_and_status_share_one_history() -> None:
    """The return dates one order anew; what the customer says of the status part is true after that."""
    both = 0
    for seed in range(150):
        case = make_case("JOURNEY", 12, seed)
        if not {"RETURN", "STATUS"} <= {part.env for part in case.problem.parts}:
            continue
        both += 1
        assert len(case.world.orders) == 7
        target = _part(case, "STATUS").target
        order = case.world.orders[target.order_id]
        orders = sorted(
            case.world.orders.values(), key=lambda one: (one.placed_on, one.order_id), reverse=True
        )
        assert order.status == target.status
        text = _part(case, "STATUS").facts[0].text
        assert text in references(case.world, order, orders) or not target.indirect
    assert both > 20


def test_the_same_seed_makes_the_same_journey() -> None:
    first, again = make_case("JOURNEY", 12, 4), make_case("JOURNEY", 12, 4)
    assert first.world.to_wire() == again.world.to_wire()
    assert [part.target for part in first.problem.parts] == [part.target for part in again.problem.parts]


def test_drawing_a_journey_shows_nothing_and_leaves_no_trace_of_its_trial() -> None:
    for seed in range(10):
        world = make_case("JOURNEY", 12, seed).world
        assert not world.shown
        assert not len(world.cart)
        assert not world.returns


def test_parts_that_do_not_fit_into_the_turns_are_drawn_again_and_in_the_end_refused() -> None:
    class Slow:
        """A status task that dawdles."""

        id = "STATUS"

        def __getattr__(self, name: str) -> object:
            return getattr(TASKS["STATUS"], name)

        def solve(self, problem: Problem, world: object) -> object:
            yield from [AgentAction(assistant_message="Hm.")] * 20
            yield from TASKS["STATUS"].solve(problem, world)  # type: ignore[arg-type]

    task = JourneyTask({"STATUS": Slow(), "POLICY": TASKS["POLICY"]})  # type: ignore[dict-item]
    world = make_world(0, 1)
    before = world.to_wire()
    with pytest.raises(RlveError, match="turns are needed"):
        task.generate(world, Difficulty.of(0), Random(1))
    assert world.to_wire() == before
