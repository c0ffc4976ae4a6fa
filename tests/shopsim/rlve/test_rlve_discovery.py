"""PD: solvable problems, the formula of the specification, nothing held against the agent untold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from random import Random

import pytest

from shopsim.rlve.catalogue import Catalogue, CatalogueSearch, Constraint, Product, similarity
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.errors import RlveError
from shopsim.rlve.problem import Problem
from shopsim.rlve.tasks.discovery import MAX_REWARD, DiscoveryTask
from shopsim.rlve.world import World
from tests.factories.rlve_play import everything, problem_of, solved_by_asking, spec_dcg
from tests.factories.rlve_walk import answered, small_search, walk

problem_at = partial(problem_of, "PD")
TASK = DiscoveryTask()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("d", range(13))
def test_oracle_is_correct_within_turns_and_tool_calls(d: int, seed: int) -> None:
    assert solved_by_asking("PD", d, seed).reward >= 0.95 * MAX_REWARD


@pytest.mark.parametrize("d", range(13))
def test_target_meets_m_constraints_with_the_slack_of_the_difficulty(d: int) -> None:
    for seed in range(6):
        problem, world = problem_at(d, seed)
        target = world.product(problem.target.product_id)
        constraints: tuple[Constraint, ...] = problem.target.constraints
        assert len(constraints) == 2 + d // 2
        assert len({constraint.field for constraint in constraints}) == len(constraints)
        assert (constraints[0].field, constraints[0].op) == ("price", "le")
        assert all(constraint.holds(target) for constraint in constraints)
        assert float(constraints[0].value) <= target.price * (1 + 0.5 * math.exp(-d / 5)) + 0.011
        assert world.is_in_stock(target.id)
        assert target.title not in problem.request
        assert all(target.title not in fact.text for fact in problem.facts)


def test_same_seed_same_problem() -> None:
    assert problem_at(7, 3)[0] == problem_at(7, 3)[0]
    assert problem_at(7, 3)[0] != problem_at(7, 4)[0]


@pytest.mark.parametrize("d", [0, 4, 9, 12])
def test_wrong_answers_are_not_correct(d: int) -> None:
    problem, world = problem_at(d)
    told = everything(problem)
    leaf = world.catalogue.by_leaf(problem.target.leaf)
    k = problem.difficulty.items
    other_leaf = [product.id for product in world.catalogue if product.leaf != problem.target.leaf]
    worst = sorted(leaf, key=lambda one: spec_utility(problem, told, world.product(one)))
    for wrong in ([], other_leaf[:k], worst[:k], ["no such product"] * k, [problem.target.product_id]):
        assert not TASK.verify(problem, answered(world, wrong, told, "PD")).correct
    nothing = TASK.verify(problem, answered(world, [], told, "PD"))
    assert nothing.reward == pytest.approx(-0.55 - 0.35)


def test_list_filled_with_one_good_product_is_not_correct() -> None:
    problem, world = problem_at(6)
    best = walk(TASK, problem, world).actions[-1].answer
    assert best is not None
    again = [best.recommended_product_ids[0]] * problem.difficulty.items
    assert not TASK.verify(problem, answered(world, again, everything(problem), "PD")).correct


def test_only_the_first_k_recommendations_count() -> None:
    problem, world = problem_at(5)
    leaf = list(world.catalogue.by_leaf(problem.target.leaf))
    told = everything(problem)
    some = leaf[: problem.difficulty.items]
    more = TASK.verify(problem, answered(world, leaf, told, "PD"))
    assert more == TASK.verify(problem, answered(world, some, told, "PD"))


@pytest.mark.parametrize("d", [0, 3, 8, 12])
def test_reward_is_the_formula_of_the_specification(d: int) -> None:
    for seed in range(5):
        problem, world = problem_at(d, seed)
        dice = Random(f"answers {d} {seed}")
        for _ in range(6):
            told = {fact.name for fact in problem.facts if fact.essential or dice.random() < 0.6}
            ids = list(world.catalogue.by_leaf(problem.target.leaf))
            given = dice.sample(ids, problem.difficulty.items - dice.randrange(2))
            if dice.random() < 0.3:
                given[-1] = dice.choice([one for one in world.catalogue.ids if one not in given])
            verdict = TASK.verify(problem, answered(world, given, told, "PD"))
            expected = spec_reward(problem, world, told, given)
            assert verdict.reward == pytest.approx(expected, abs=1e-9)
            assert verdict.correct == (expected >= 0.95 * 0.9 - 1e-12)


@pytest.mark.parametrize("d", [1, 5, 10])
def test_untold_facts_do_not_enter_the_verdict(d: int) -> None:
    """Whatever an untold constraint or taste says, the verdict is the same."""
    for seed in range(5):
        problem, world = problem_at(d, seed)
        told = {fact.name for fact in problem.facts if fact.essential}
        impossible = tuple(
            constraint if place == 0 else replace(constraint, op="eq", value="never")
            for place, constraint in enumerate(problem.target.constraints)
        )
        other = replace(
            problem,
            target=replace(problem.target, constraints=impossible),
            persona=replace(
                problem.persona, weights=(0.0, 0.0, 0.0, 0.5, 0.5), brand="Never", reference=None
            ),
        )
        given = list(world.catalogue.by_leaf(problem.target.leaf))[seed : seed + problem.difficulty.items]
        outcome = answered(world, given, told, "PD")
        assert TASK.verify(problem, outcome) == TASK.verify(other, outcome)


@pytest.mark.parametrize("d", [0, 6, 12])
def test_best_answer_by_what_was_told_is_correct_though_it_breaks_untold_wishes(d: int) -> None:
    broken = 0
    for seed in range(8):
        problem, world = problem_at(d, seed)
        told = {fact.name for fact in problem.facts if fact.essential}
        leaf = [one for one in world.catalogue.by_leaf(problem.target.leaf) if world.is_in_stock(one)]
        leaf.sort(key=lambda one: -spec_utility(problem, told, world.product(one)))
        best = leaf[: problem.difficulty.items]
        limit = problem.target.constraints[0]
        if not any(limit.holds(world.product(one)) for one in best):
            best[-1] = next(one for one in leaf if limit.holds(world.product(one)))
        assert TASK.verify(problem, answered(world, best, told, "PD")).correct
        in_full = TASK.verify(problem, answered(world, best, everything(problem), "PD"))
        broken += not in_full.correct
    assert broken > 0


def test_out_of_stock_recommendations_cost_their_share() -> None:
    problem, world = problem_at(0)
    told = everything(problem)
    answer = walk(TASK, problem, world).actions[-1].answer
    assert answer is not None
    best = answer.recommended_product_ids
    for product_id in best:
        world.out_of_stock.add(product_id)
    verdict = TASK.verify(problem, answered(world, best, told, "PD"))
    assert verdict.parts["out_of_stock_share"] == 1.0
    assert verdict.reward == pytest.approx(MAX_REWARD - 0.10)
    assert not verdict.correct


def test_nothing_to_correct_and_no_answer_is_worth_least() -> None:
    problem, world = problem_at(2)
    assert TASK.correction(problem, world, everything(problem)) is None


def test_catalogue_without_stock_names_the_reason() -> None:
    search = CatalogueSearch(Catalogue.from_products(_sold_out()))
    world = World(search.catalogue, search, difficulty=Difficulty.of(0), seed=1)
    with pytest.raises(RlveError, match=r"PD: .*\(no product in stock"):
        TASK.generate(world, world.difficulty, Random(1))


# -- the specification's formula, once more, from its text ---------------------------------------------


def spec_reward(problem: Problem, world: World, told: Iterable[str], given: Sequence[str]) -> float:
    told = set(told)
    d, k = problem.difficulty.d, 3 + problem.difficulty.d // 3
    wishes = [wish for wish in problem.target.constraints if f"wish:{wish.field}" in told]
    shelf = [product for product in world.catalogue if product.leaf == problem.target.leaf]
    ideal = sorted(
        (spec_utility(problem, told, product) for product in shelf if world.is_in_stock(product.id)),
        reverse=True,
    )
    products = [world.catalogue.get(one) for one in given]
    gains = [
        spec_utility(problem, told, product) if product is not None and product in shelf else 0.0
        for product in products
    ]
    quality = min(1.0, spec_dcg(gains) / spec_dcg(ideal[:k]))
    shares = [
        sum(wish.holds(product) for wish in wishes) / len(wishes)
        for product in products
        if product is not None and product in shelf
    ]
    missing = sum(not world.is_in_stock(one) for one in given) / len(given)
    best = max(shares, default=0.0) ** (4 + math.floor(d / 4))
    return max(-1.0, min(1.0, 0.55 * (2 * quality - 1) + 0.35 * (2 * best - 1) - 0.10 * missing))


def spec_utility(problem: Problem, told: Iterable[str], product: Product) -> float:
    """Weighted sum of the persona's five terms, with what was never told at its neutral value."""
    told = set(told)
    persona = problem.persona
    weights = list(persona.weights) if "taste:preference" in told else [2 / 7, 2 / 7, 1 / 7, 1 / 7, 1 / 7]
    boosts = [0, 0, 0, 0, 0]
    places = {"price": 0, "rating": 1, "shipping_days": 2, "brand": 3}
    for wish in problem.target.constraints:
        if f"wish:{wish.field}" in told:
            boosts[places.get(wish.field, 4)] += 3
    weights = [
        (7 * weight + boost) / (7 + sum(boosts)) for weight, boost in zip(weights, boosts, strict=True)
    ]
    brand = persona.brand if told & {"wish:brand", "taste:brand"} else None
    reference = persona.reference if "taste:reference" in told else None
    span = (product.price - persona.price_low) / (persona.price_high - persona.price_low)
    terms = [
        1 - max(0.0, min(1.0, span)),
        (product.rating - 1) / 4,
        1 - max(0.0, min(1.0, product.shipping_days / 14)),
        float(product.brand == brand),
        ((similarity(reference, product) if reference else 0.0) + 1) / 2,
    ]
    return sum(weight * term for weight, term in zip(weights, terms, strict=True))


def _sold_out() -> Iterable[Product]:
    return [replace(product, stock=0) for product in small_search().catalogue if product.leaf == "Tents"]
