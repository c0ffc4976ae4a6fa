"""The explanation of a reward against episodes played in the real environment over the tiny catalogue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dashboard.analysis.explanation import explain_reward
from shopsim.catalog.tiny import tiny_records
from tests.factories.shops import SmallShop


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> SmallShop:
    folder: Path = tmp_path_factory.mktemp("shop")
    return SmallShop(tiny_records(), folder)


def play(shop: SmallShop, task: int, *actions: str) -> dict[str, Any]:
    env = shop.env()
    answer = env.reset(task)
    for action in actions:
        answer = env.step(action)
    return answer


FRIDGE = ("search[迷你小冰箱]", "click[600000000001]")


def test_a_success_meets_everything(shop: SmallShop) -> None:
    final = play(shop, 0, *FRIDGE, "click[颜色分类=月光白]", "click[套餐类型=官方标配]", "click[buy now]")
    told = explain_reward(final, shop.corpus.get("600000000001"))
    assert told.purchased and final["reward"] == 1.0
    assert [component.value for component in told.components] == [1.0, 1.0, 1.0, 1.0]
    assert told.missing_attributes == () and told.missing_options == ()
    assert [item.by for item in told.options] == ["颜色分类 = 月光白", "套餐类型 = 官方标配"]
    assert told.disagreement is None


def test_a_wrong_option_over_budget(shop: SmallShop) -> None:
    final = play(
        shop, 0, *FRIDGE, "click[颜色分类=复古绿 | 限定]", "click[套餐类型=官方标配]", "click[buy now]"
    )
    told = explain_reward(final, shop.corpus.get("600000000001"))
    assert told.missing_options == ("月光白",)
    reasons = {component.name: component.reason for component in told.components}
    assert reasons["r_option"] == "1 of 2 wanted options met"
    assert reasons["r_price"] == "price 459 (selected_price_axis), budget 300: over"


def test_without_the_catalogue_the_record_stands_in(shop: SmallShop) -> None:
    final = play(
        shop, 0, "search[迷你小冰箱]", "click[600000000002]", "click[颜色分类=月光白]",
        "click[套餐类型=官方标配]", "click[buy now]",
    )  # fmt: skip
    assert explain_reward(final) == explain_reward(final, shop.corpus.get("600000000002"))


def test_nothing_bought(shop: SmallShop) -> None:
    env = shop.env()
    env.reset(0)
    told = explain_reward(env.terminate("generation_length"))
    assert not told.purchased
    assert {item.met for item in (*told.attributes, *told.options)} == {None}
    assert {component.reason for component in told.components} == {"nothing was bought"}


def test_a_record_that_disagrees_with_itself(shop: SmallShop) -> None:
    final = play(shop, 0, *FRIDGE, "click[颜色分类=月光白]", "click[套餐类型=官方标配]", "click[buy now]")
    final["reward_detail"]["num_attr_matches"] = 1
    assert explain_reward(final).disagreement == "attributes: the record says 1 met, recomputed 2"


@pytest.mark.parametrize(
    "final", [{}, {"goal": None, "purchase": [], "reward_detail": "x"}, {"purchase": {"options": 3}}]
)
def test_damaged_records_do_not_raise(final: dict[str, Any]) -> None:
    assert explain_reward(final).attributes == ()
