"""SUB: the oracle is right, wrong answers are not, the formula of the specification, untold wishes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from random import Random

import pytest

from shopsim.rlve.catalogue import similarity
from shopsim.rlve.problem import Problem
from shopsim.rlve.tasks.substitution import MAX_REWARD, SubstitutionTask, likeness_weight
from shopsim.rlve.world import World
from tests.factories.rlve_play import everything, problem_of, solved_by_asking, spec_dcg
from tests.factories.rlve_walk import answered, make_world, walk

problem_at = partial(problem_of, "SUB")
TASK = SubstitutionTask()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("d", range(13))
def test_oracle_is_correct_within_turns_and_tool_calls(d: int, seed: int) -> None:
    assert solved_by_asking("SUB", d, seed).reward == pytest.approx(MAX_REWARD)


@pytest.mark.parametrize("d", range(13))
def test_product_is_out_of_stock_and_named_and_one_wish_is_compatibility(d: int) -> None:
    for seed in range(5):
        problem, world = problem_at(d, seed)
        product = world.product(problem.target.product_id)
        assert not world.is_in_stock(product.id)
        assert f'"{product.title}"' in problem.request
        constraints = problem.target.constraints
        assert len(constraints) == 2 + d // 2
        assert len({constraint.field for constraint in constraints}) == len(constraints)
        assert all(constraint.holds(product) for constraint in constraints)
        assert isinstance(constraints[0].value, str)
        assert constraints[0].field in product.attributes
        assert "have" in problem.facts[0].text
        assert str(constraints[0].value) in problem.facts[0].text


@pytest.mark.parametrize(("d", "expected"), [(0, 0.4), (4, 0.6), (8, 0.8), (12, 0.8)])
def test_likeness_weight(d: int, expected: float) -> None:
    assert likeness_weight(d) == pytest.approx(expected)


@pytest.mark.parametrize("d", [0, 5, 12])
def test_wrong_answers_are_not_correct(d: int) -> None:
    problem, world = problem_at(d)
    k = problem.difficulty.items
    target = world.product(problem.target.product_id)
    others = [product.id for product in world.catalogue if product.leaf != target.leaf]
    leaf = world.catalogue.by_leaf(target.leaf)
    worst = sorted(leaf, key=lambda one: spec_relevance(problem, everything(problem), world, one))
    for wrong in ([], others[:k], worst[:k], [target.id] * k, ["nothing"], [target.id]):
        assert not TASK.verify(problem, answered(world, wrong, everything(problem), "SUB")).correct
    assert TASK.verify(problem, answered(world, [], everything(problem), "SUB")).reward == pytest.approx(-0.8)


def test_product_to_be_replaced_is_no_substitute() -> None:
    """It would be most like itself and meet every wish."""
    problem, world = problem_at(3)
    answer = walk(TASK, problem, world).actions[-1].answer
    assert answer is not None
    best = answer.recommended_product_ids
    with_itself = (problem.target.product_id, *best[: problem.difficulty.items - 1])
    verdict = TASK.verify(problem, answered(world, with_itself, everything(problem), "SUB"))
    assert not verdict.correct
    assert verdict.parts["ndcg"] < 0.9


@pytest.mark.parametrize("d", [0, 4, 12])
def test_reward_is_the_formula_of_the_specification(d: int) -> None:
    for seed in range(5):
        problem, world = problem_at(d, seed)
        dice = Random(f"answers {d} {seed}")
        for _ in range(6):
            told = {fact.name for fact in problem.facts if dice.random() < 0.6}
            ids = list(
                world.catalogue.ids if dice.random() < 0.3 else world.catalogue.by_leaf(problem.target.leaf)
            )
            given = dice.sample(ids, problem.difficulty.items - dice.randrange(2))
            verdict = TASK.verify(problem, answered(world, given, told, "SUB"))
            assert verdict.reward == pytest.approx(spec_reward(problem, world, told, given), abs=1e-9)


@pytest.mark.parametrize("d", [1, 6, 11])
def test_untold_wishes_do_not_enter_the_verdict(d: int) -> None:
    for seed in range(5):
        problem, world = problem_at(d, seed)
        told = {problem.facts[-1].name}
        impossible = tuple(
            constraint if f"wish:{constraint.field}" in told else replace(constraint, op="eq", value="never")
            for constraint in problem.target.constraints
        )
        other = replace(problem, target=replace(problem.target, constraints=impossible))
        given = world.catalogue.by_leaf(problem.target.leaf)[seed : seed + problem.difficulty.items]
        outcome = answered(world, given, told, "SUB")
        assert TASK.verify(problem, outcome) == TASK.verify(other, outcome)
        in_full = answered(world, given, everything(problem), "SUB")
        assert TASK.verify(problem, in_full) != TASK.verify(other, in_full)


def test_same_seed_same_problem() -> None:
    assert problem_at(7, 3)[0] == problem_at(7, 3)[0]
    assert TASK.correction(problem_at(7, 3)[0], make_world(7), frozenset()) is None


# -- the specification's formula, once more, from its text ---------------------------------------------


def spec_relevance(problem: Problem, told: Iterable[str], world: World, product_id: str) -> float:
    original, product = world.product(problem.target.product_id), world.product(product_id)
    if product.id == original.id:
        return 0.0
    lam = max(0.4, min(0.8, 0.4 + 0.05 * problem.difficulty.d))
    wishes = [wish for wish in problem.target.constraints if f"wish:{wish.field}" in set(told)]
    share = sum(wish.holds(product) for wish in wishes) / len(wishes) if wishes else 1.0
    return max(0.0, lam * similarity(original, product) + (1 - lam) * share)


def spec_reward(problem: Problem, world: World, told: Iterable[str], given: Sequence[str]) -> float:
    told = set(told)
    k = 3 + problem.difficulty.d // 3
    shelf = world.catalogue.by_leaf(problem.target.leaf)
    ideal = sorted(
        (spec_relevance(problem, told, world, one) for one in shelf if world.is_in_stock(one)), reverse=True
    )
    gains = [spec_relevance(problem, told, world, one) for one in given]
    quality = min(1.0, spec_dcg(gains) / spec_dcg(ideal[:k]))
    missing = sum(not world.is_in_stock(one) for one in given) / len(given)
    return max(-1.0, min(1.0, 0.80 * (2 * quality - 1) - 0.20 * missing))
