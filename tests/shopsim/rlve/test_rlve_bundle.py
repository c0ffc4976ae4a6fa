"""BUNDLE: the oracle is right, wrong answers are not, the formula of the spec, untold categories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from random import Random

import pytest

from shopsim.rlve.catalogue import Catalogue, CatalogueSearch
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.errors import RlveError
from shopsim.rlve.problem import Problem
from shopsim.rlve.tasks.bundle import BUDGET, BundleTask, categories_needed, category_fact_name
from shopsim.rlve.world import World
from tests.factories.rlve_play import everything, problem_of, solved_by_asking
from tests.factories.rlve_walk import answered, small_search

problem_at = partial(problem_of, "BUNDLE")
TASK = BundleTask()


def with_budget(d: int) -> tuple[Problem, World]:
    return next((p, w) for p, w in (problem_at(d, seed) for seed in range(40)) if p.target.budget is not None)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("d", range(13))
def test_oracle_is_correct_within_turns_and_tool_calls(d: int, seed: int) -> None:
    assert solved_by_asking("BUNDLE", d, seed).reward == 1.0


@pytest.mark.parametrize("d", range(13))
def test_problem_has_the_categories_of_the_difficulty_and_sometimes_a_budget(d: int) -> None:
    budgets = 0
    for seed in range(12):
        problem, world = problem_at(d, seed)
        target = problem.target
        products = [world.product(one) for one in target.product_ids]
        assert len(set(target.categories)) == min(12, 3 + d // 2)
        assert tuple(product.leaf for product in products) == target.categories
        assert all(world.is_in_stock(product.id) for product in products)
        assert sum(fact.essential for fact in problem.facts) == 1
        if target.budget is not None:
            budgets += 1
            assert sum(product.price for product in products) <= target.budget + 1e-9
            assert f"${target.budget:,.2f}" in problem.facts[-1].text
    assert 0 < budgets < 12


def test_categories_needed_has_an_upper_bound() -> None:
    assert [categories_needed(d) for d in (0, 1, 2, 18, 60)] == [3, 3, 4, 12, 12]


@pytest.mark.parametrize("d", [0, 5, 12])
def test_wrong_answers_are_not_correct(d: int) -> None:
    problem, world = problem_at(d)
    right = list(problem.target.product_ids)
    second = next(one for one in world.catalogue.by_leaf(problem.target.categories[0]) if one != right[0])
    other = next(p.id for p in world.catalogue if p.leaf not in problem.target.categories)
    told = everything(problem) - {BUDGET}
    for wrong in ([], right[1:], [*right, second], [*right, other], [other, *right[1:]], [*right, "unknown"]):
        verdict = TASK.verify(problem, answered(world, wrong, told, "BUNDLE"))
        assert not verdict.correct
        assert verdict.reward < 1.0
    assert TASK.verify(problem, answered(world, [], told, "BUNDLE")).reward == -1.0
    assert TASK.verify(problem, answered(world, [*right, right[0]], told, "BUNDLE")).correct


def test_product_out_of_stock_covers_nothing() -> None:
    problem, world = problem_at(0)
    right = problem.target.product_ids
    world.out_of_stock.add(right[0])
    verdict = TASK.verify(problem, answered(world, right, everything(problem), "BUNDLE"))
    assert verdict.parts["f1"] == pytest.approx(2 * 2 / (3 + 3))
    assert not verdict.correct


def test_overspending_costs_its_share_and_is_never_correct() -> None:
    problem, world = with_budget(2)
    right, told = problem.target.product_ids, everything(problem)
    spent = sum(world.product(one).price for one in right)
    tight = replace(problem, target=replace(problem.target, budget=round(spent / 1.25, 2)))
    verdict = TASK.verify(tight, answered(world, right, told, "BUNDLE"))
    assert verdict.reward == pytest.approx(1.0 - 0.25, abs=0.001)
    assert not verdict.correct
    assert TASK.verify(tight, answered(world, right, told - {BUDGET}, "BUNDLE")).correct
    exact = replace(problem, target=replace(problem.target, budget=round(spent, 2)))
    assert TASK.verify(exact, answered(world, right, told, "BUNDLE")).correct
    ruinous = replace(problem, target=replace(problem.target, budget=1.0))
    assert TASK.verify(ruinous, answered(world, right, told, "BUNDLE")).reward == -1.0


@pytest.mark.parametrize("d", [0, 6, 12])
def test_untold_categories_count_neither_for_nor_against(d: int) -> None:
    for seed in range(5):
        problem, world = problem_at(d, seed)
        first = problem.target.product_ids[:1]
        told = {category_fact_name(problem.target.categories[0])}
        assert TASK.verify(problem, answered(world, first, told, "BUNDLE")).correct
        assert TASK.verify(problem, answered(world, problem.target.product_ids, told, "BUNDLE")).correct
        assert not TASK.verify(problem, answered(world, first, everything(problem), "BUNDLE")).correct


@pytest.mark.parametrize("d", [0, 4, 12])
def test_reward_is_the_formula_of_the_specification(d: int) -> None:
    for seed in range(6):
        problem, world = problem_at(d, seed)
        dice = Random(f"answers {d} {seed}")
        for _ in range(6):
            told = {fact.name for fact in problem.facts if fact.essential or dice.random() < 0.6}
            given = [one for one in problem.target.product_ids if dice.random() < 0.7]
            given += dice.sample(list(world.catalogue.ids), dice.randrange(4))
            verdict = TASK.verify(problem, answered(world, given, told, "BUNDLE"))
            assert verdict.reward == pytest.approx(spec_reward(problem, world, told, given), abs=1e-9)


def test_budget_is_told_when_asked_for() -> None:
    problem, world = with_budget(0)
    assert any("budget" in fact.keywords and fact.name == BUDGET for fact in problem.facts)
    assert TASK.correction(problem, world, everything(problem)) is None


def test_catalogue_with_too_few_categories_names_the_reason() -> None:
    few = [product for product in small_search().catalogue if product.leaf in ("Tents", "Lamps", "Rugs")]
    search = CatalogueSearch(Catalogue.from_products(few))
    world = World(search.catalogue, search, difficulty=Difficulty.of(0), seed=1)
    problem = TASK.generate(world, world.difficulty, Random(1))
    assert set(problem.target.categories) == {"Tents", "Lamps", "Rugs"}
    world = World(search.catalogue, search, difficulty=Difficulty.of(2), seed=1)
    with pytest.raises(RlveError, match="a project needs 4 categories, the catalogue has 3"):
        TASK.generate(world, world.difficulty, Random(1))


# -- the specification's formula, once more, from its text ---------------------------------------------


def spec_reward(problem: Problem, world: World, told: Iterable[str], given: Sequence[str]) -> float:
    told, unique = set(told), set(given)
    needed = {leaf for leaf in problem.target.categories if f"category:{leaf}" in told}
    untold = set(problem.target.categories) - needed
    products = [world.product(one) for one in unique]
    counted = [product for product in products if product.leaf not in untold]
    hits = {product.leaf for product in counted if product.leaf in needed and world.is_in_stock(product.id)}
    precision = len(hits) / len(counted) if counted else 0.0
    recall = len(hits) / len(needed)
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    overspend = 0.0
    if problem.target.budget is not None and BUDGET in told:
        spent = sum(product.price for product in products)
        overspend = max(0.0, round(spent - problem.target.budget, 2)) / problem.target.budget
    return max(-1.0, min(1.0, 2 * f1 - 1 - overspend))
