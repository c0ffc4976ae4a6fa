"""PD, SUB and BUNDLE on the bundled catalogue: whoever recommends without listening is wrong."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest

from shopsim.rlve.catalogue import CatalogueSearch
from shopsim.rlve.catalogue.sample import bundled_catalogue
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.problem import Problem, Task
from shopsim.rlve.tasks.bundle import BundleTask
from shopsim.rlve.tasks.discovery import DiscoveryTask
from shopsim.rlve.tasks.substitution import SubstitutionTask
from shopsim.rlve.world import World
from tests.factories.rlve_walk import answered

TASKS: tuple[Task, ...] = (DiscoveryTask(), SubstitutionTask(), BundleTask())


@cache
def search() -> CatalogueSearch:
    return CatalogueSearch(bundled_catalogue())


def problem_at(task: Task, d: int, seed: int) -> tuple[Problem, World]:
    catalogue = search().catalogue
    world = World(catalogue, search(), difficulty=Difficulty.of(d), seed=seed)
    return task.generate(world, world.difficulty, Random(seed)), world


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
@pytest.mark.parametrize("d", [0, 6, 12])
def test_first_products_of_the_category_are_rarely_correct(task: Task, d: int) -> None:
    """Whoever recommends without listening is wrong nearly always, though everything was told."""
    correct = 0
    for seed in range(10):
        problem, world = problem_at(task, d, seed)
        leaf = getattr(problem.target, "leaf", None) or problem.target.categories[0]
        shelf = world.catalogue.by_leaf(leaf)[: problem.difficulty.items]
        told = {fact.name for fact in problem.facts}
        correct += task.verify(problem, answered(world, shelf, told, task.id)).correct
    assert correct <= 1
