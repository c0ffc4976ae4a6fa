"""Catalogues that hardly are one: each environment is solved, or refused in one line and at once."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from shopsim.rlve.agents import action_text
from shopsim.rlve.catalogue import Catalogue, CatalogueSearch, Product, variants_of
from shopsim.rlve.collections import ENVIRONMENTS
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.env import RlveEnv
from shopsim.rlve.errors import RlveError
from shopsim.rlve.problem import Problem
from shopsim.rlve.tasks import TASKS
from shopsim.rlve.world import World


def product(number: int, **changes: Any) -> Product:
    made = Product(
        id=f"x{number:03d}",
        title=f"Thing {number} deluxe",
        description="",
        category=(f"Department {number % 3}", f"Leaf {number % 15}"),
        brand=f"Brand {number % 3}",
        attributes={"connector": ("USB-C", "HDMI")[number % 2], "length_m": number % 5 + 1},
        price=5 + number * 1.5,
        rating=3 + number % 20 / 10,
        rating_count=3,
        shipping_days=number % 6,
        stock=5,
    )
    return replace(made, **changes)


ODD: dict[str, Callable[[int], Product]] = {
    "one category": lambda n: product(n, category=("Electronics", "Cables")),
    "nothing in stock": lambda n: product(n, stock=0),
    "all alike": lambda n: replace(product(0), id=f"x{n:03d}"),
    "no brands": lambda n: product(n, brand=""),
    "no attributes": lambda n: product(n, attributes={}),
    "nothing goes back": lambda n: product(n, category=("Groceries", f"Leaf {n % 15}")),
    "one price": lambda n: product(n, price=1.0, rating=5.0, shipping_days=0),
    "endless prices": lambda n: product(n, price=1e300, attributes={"connector": "a", "n": 10**30}),
    "markup": lambda n: product(n, title=f"<b>Buy</b> {{x}} **now** %s {n}", brand="<script>{0}</script>"),
    "control characters": lambda n: product(n, title=f"A\x1b[31m\x00 b\nc {n}", brand="x\ty"),
}


def catalogue_of(count: int, make: Callable[[int], Product]) -> CatalogueSearch:
    return CatalogueSearch(Catalogue.from_products([make(number) for number in range(count)]))


@pytest.mark.parametrize("name", ENVIRONMENTS)
@pytest.mark.parametrize("count", [1, 2, 10])
def test_a_handful_of_products_is_enough_or_refused_at_once(count: int, name: str) -> None:
    _solve_or_refuse(catalogue_of(count, product), name)


@pytest.mark.parametrize("name", ENVIRONMENTS)
@pytest.mark.parametrize("odd", ODD)
def test_an_odd_catalogue_is_solved_or_refused_in_one_line(odd: str, name: str) -> None:
    _solve_or_refuse(catalogue_of(150, ODD[odd]), name)


def _solve_or_refuse(search: CatalogueSearch, name: str) -> None:
    env = RlveEnv(search.catalogue, search=search)
    for difficulty in (0, 12):
        try:
            env.reset(1, name, difficulty)
        except RlveError as error:
            assert str(error).startswith(f"{name}: ") and "\n" not in str(error)
            continue
        for action in env.solution():
            result = env.step(action_text(action))
            if result.done:
                break
        assert result.info["correct"], (difficulty, result.info)


def problems(make: Callable[[int], Product], *names: str) -> list[Problem]:
    search = catalogue_of(150, make)
    found = []
    for name in names:
        for seed in range(12):
            level = Difficulty.of(seed % 6)
            world = World(search.catalogue, search, difficulty=level, seed=seed)
            found.append(TASKS[name].generate(world, level, Random(seed)))
    return found


def test_the_user_names_nothing_that_has_no_name_or_breaks_its_quotation_marks() -> None:
    def odd(number: int) -> Product:
        if number % 2:
            return product(number, brand="", attributes={"color": "", "length_m": 3, "connector": "HDMI"})
        return product(
            number,
            title=f'Screen 12" {number}',
            category=("Screens", f'12" and up {number % 7}'),
            brand='The "Best"',
            attributes={"connector": '2.5" jack', "length_m": 3},
        )

    for problem in problems(odd, "PD", "SUB", "CART", "RETURN", "STATUS", "BUNDLE"):
        for text in (problem.request, *(fact.text for fact in problem.facts)):
            assert '""' not in text
            assert re.fullmatch(r'[^"]*("[^"]+"[^"]*)*', text), text
            assert not re.search('"(2.5|12|The )"', text), text


def test_a_title_that_another_category_has_too_is_no_name() -> None:
    def twins(number: int) -> Product:
        return product(number, title=f"Thing {number // 2 if number < 100 else number}")

    alone = {f"Thing {number}" for number in range(100, 150)}
    for problem in problems(twins, "CART", "RETURN", "SUB"):
        said = " ".join((problem.request, *(fact.text for fact in problem.facts)))
        titles = set(re.findall(r'"(Thing \d+)"', said))
        assert titles and titles <= alone


def test_variants_differ_by_more_than_case_and_can_be_named() -> None:
    for stated in ("usb-c", "", 'a "b"', "a" * 201):
        gadget = product(1, category=("Electronics", "Chargers"), attributes={"connector": stated})
        values = [variant.value for variant in variants_of(gadget)]
        assert len({value.casefold() for value in values}) == 3
        assert all(value and '"' not in value for value in values)
