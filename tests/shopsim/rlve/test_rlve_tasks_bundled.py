"""The bundled catalogue: the oracle, in conversation with the user, is right at every difficulty."""

from __future__ import annotations

from functools import cache

import pytest

from shopsim.rlve.catalogue import CatalogueSearch
from shopsim.rlve.catalogue.sample import bundled_catalogue
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.tasks import TASKS
from shopsim.rlve.world import World
from tests.factories.rlve_play import make_case


@cache
def _search() -> CatalogueSearch:
    return CatalogueSearch(bundled_catalogue())


@pytest.mark.parametrize("env", sorted(TASKS))
@pytest.mark.parametrize("d", [*range(13), 20, 40, 100])
def test_the_oracle_is_correct_with_the_bundled_catalogue(env: str, d: int) -> None:
    for seed in range(2):
        world = World(_search().catalogue, _search(), difficulty=Difficulty.of(d), seed=seed)
        verdict, turns = make_case(env, d, seed, world).converse(seed)
        assert verdict.correct, verdict.parts
        assert turns <= 4 + d // 2


@pytest.mark.parametrize(("d", "seed"), [(0, 2), (1, 2), (6, 2), (9, 2), (12, 5)])
def test_the_user_never_says_the_title_of_the_product_that_is_looked_for(d: int, seed: int) -> None:
    """Some titles of the bundled catalogue are there twice: neither of the two may be the user's example."""
    for number in range(seed, seed + 40):
        world = World(_search().catalogue, _search(), difficulty=Difficulty.of(d), seed=number)
        problem = make_case("PD", d, number, world).problem
        title = f'"{world.product(problem.target.product_id).title}"'
        assert not [fact for fact in problem.facts if title in fact.text]
