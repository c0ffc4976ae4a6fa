"""Counterfactuals against brute force: every single change is tried in the real environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dashboard.analysis.counterfactual import find_counterfactuals
from shopsim.catalog.tiny import tiny_records
from shopsim.tasks.solutions import GoalSolver
from tests.factories.shops import SmallShop


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> SmallShop:
    folder: Path = tmp_path_factory.mktemp("shop")
    return SmallShop(tiny_records(), folder)


def buy(shop: SmallShop, task: int, asin: str, options: dict[str, str]) -> float:
    env = shop.env()
    env.reset(task)
    env.step(f"search[{shop.corpus.by_asin[asin].title}]")
    env.step(f"click[{asin}]")
    for axis, value in options.items():
        env.step(f"click[{axis}={value}]")
    answer = env.step("click[buy now]")
    success: float = answer["reward_detail"]["r_success"]
    return success


def exposure(asin: str, step: int = 1, rank: int = 1, opened: bool = False) -> dict[str, Any]:
    return {"asin": asin, "step_index": step, "rank": rank, "opened": opened}


@pytest.mark.parametrize(
    "chosen",
    [
        {"颜色分类": "复古绿 | 限定", "套餐类型": "官方标配"},
        {"颜色分类": "月光白", "套餐类型": "套餐一"},
        {"颜色分类": "复古绿 | 限定", "套餐类型": "套餐一"},
        {"颜色分类": "月光白", "套餐类型": "官方标配"},
    ],
)
def test_option_changes_are_exactly_those_that_succeed(shop: SmallShop, chosen: dict[str, str]) -> None:
    asin = "600000000001"
    assert buy(shop, 0, asin, chosen) == float(chosen == {"颜色分类": "月光白", "套餐类型": "官方标配"})
    told = find_counterfactuals(
        GoalSolver(shop.corpus, shop.terms), shop.goals.get(0), bought_asin=asin, chosen=chosen, exposures=[]
    )
    tried = {
        (axis.name, value.shown)
        for axis in shop.corpus.by_asin[asin].axes
        for value in axis.values
        if value.shown != chosen[axis.name]
        and buy(shop, 0, asin, {**chosen, axis.name: value.shown}) == 1.0
        and buy(shop, 0, asin, chosen) != 1.0
    }
    assert {(change.axis, change.instead) for change in told.options} == tried


def test_shown_products_that_would_have_done(shop: SmallShop) -> None:
    told = find_counterfactuals(
        GoalSolver(shop.corpus, shop.terms),
        shop.goals.get(0),
        bought_asin="600000000007",
        chosen={},
        exposures=[
            exposure("600000000007"),
            exposure("600000000001", step=2, rank=3),
            exposure("600000000001", step=4, rank=1, opened=True),
        ],
    )
    assert told.options == ()
    first = told.products[0]
    assert (first.asin, first.first_step, first.rank, first.opened) == ("600000000001", 2, 3, True)
    assert buy(shop, 0, first.asin, dict(first.selected)) == 1.0


def test_an_impossible_task_says_why(shop: SmallShop) -> None:
    told = find_counterfactuals(
        GoalSolver(shop.corpus, shop.terms), shop.goals.get(4), bought_asin=None, chosen={}, exposures=[]
    )
    assert told.satisfying_products == 0 and told.products == () and told.why_none
