from __future__ import annotations

import re

import pytest

from shopsim.env.errors import ObservationStateError
from shopsim.env.pages import render_page_html
from shopsim.env.shop_env import ShopEnv
from shopsim.formats import OBSERVATION_VERSION
from tests.factories.shops import AWKWARD_ASIN, SmallShop


def data_actions(html: str) -> list[str]:
    import html as entities

    return [entities.unescape(value) for value in re.findall(r'data-action="([^"]*)"', html)]


def clicks(env: ShopEnv) -> list[str]:
    return [f"click[{action}]" for action in env.state["actions"]]


def test_every_page_carries_exactly_the_offered_actions(shelf: SmallShop) -> None:
    env = shelf.env()
    env.reset(0)
    script = ["search[台灯]", "click[next >]"]
    assert data_actions(render_page_html(env.state)) == []
    for response in script:
        env.step(response)
        assert sorted(data_actions(render_page_html(env.state))) == sorted(clicks(env))
    env.step(clicks(env)[3])
    assert sorted(data_actions(render_page_html(env.state))) == sorted(clicks(env))
    env.step("click[色温=暖光]")
    html = render_page_html(env.state)
    assert sorted(data_actions(html)) == sorted(clicks(env))
    assert re.search(r'class="chip chosen"\s*>暖光<', html)
    env.step("click[buy now]")
    assert data_actions(render_page_html(env.state)) == []


def test_values_from_the_data_are_shown_as_text(tiny: SmallShop) -> None:
    env = tiny.env()
    env.reset(90)
    env.step("search[怪怪杯子 <script>alert(1)</script>]")
    html = render_page_html(env.state, instruction="<img src=x onerror=alert(1)>")
    env.step(f"click[{AWKWARD_ASIN}]")
    html += render_page_html(env.state)
    assert "<script" not in html and "<img" not in html and "<b>测试</b>" not in html
    assert "&lt;b&gt;测试&lt;/b&gt;" in html


def test_a_page_needs_nothing_from_elsewhere(env: ShopEnv) -> None:
    env.reset(0)
    html = render_page_html(env.state, instruction="买茶", steps_left=30)
    assert "http://" not in html and "https://" not in html and "url(" not in html
    assert "买茶" in html and "剩余操作 <b>30</b>" in html


def test_an_information_page_and_a_bare_state_render() -> None:
    base = {"observation_version": OBSERVATION_VERSION, "search_available": False, "actions": []}
    product = {"asin": "1", "title": "茶", "price": None}
    html = render_page_html({**base, "page_type": "information_subpage", "product": product})
    assert "暂无报价" in html
    assert "本页没有商品信息" in render_page_html({**base, "page_type": "information_subpage"})
    assert "请先选择" in render_page_html({**base, "page_type": "product_detail", "product": product})


def test_a_state_that_must_not_be_shown_is_refused(env: ShopEnv) -> None:
    env.reset(0)
    with pytest.raises(ObservationStateError):
        render_page_html({**env.state, "goal": {}})
