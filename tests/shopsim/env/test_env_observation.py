from __future__ import annotations

import json

from shopsim.env.observation import build_observation
from shopsim.env.session import Session
from shopsim.env.transitions import act
from shopsim.formats import OBSERVATION_VERSION
from tests.factories.shops import AWKWARD_ASIN, SmallShop

FRIDGE = "600000000001"


def play(small: SmallShop, *responses: str) -> Session:
    session = Session(limit=30)
    for response in responses:
        session = act(session, response, small.shop)
    return session


def test_home_has_the_common_keys_only(tiny: SmallShop) -> None:
    assert build_observation(Session(limit=30), tiny.shop) == {
        "observation_version": OBSERVATION_VERSION,
        "page_type": "search_home",
        "search_available": True,
        "actions": [],
    }


def test_a_result_page_says_what_was_typed_and_where_it_stands(shelf: SmallShop) -> None:
    session = play(shelf, "search[护眼，台灯]", "click[next >]", "click[next >]")
    state = build_observation(session, shelf.shop)
    facts = {key: state[key] for key in ("search_text", "normalized_search_text", "page", "total_pages")}
    assert facts == {
        "search_text": "护眼，台灯",
        "normalized_search_text": "护眼 台灯",
        "page": 3,
        "total_pages": 3,
    }
    assert (state["total_results"], state["rank_start"], state["rank_end"]) == (45, 41, 45)
    assert [product["rank"] for product in state["products"]] == [41, 42, 43, 44, 45]
    assert [product["asin"] for product in state["products"]] == state["actions"][2:]
    assert set(state["products"][0]) == {
        "asin",
        "title",
        "brand",
        "category",
        "price",
        "key_attributes",
        "rank",
    }
    assert state["products"][0]["brand"] == "亮亮灯具"


def test_an_empty_result_page_has_rank_zero(tiny: SmallShop) -> None:
    state = build_observation(play(tiny, "search[!!]"), tiny.shop)
    numbers = [state[key] for key in ("page", "total_pages", "total_results", "rank_start", "rank_end")]
    assert numbers == [1, 1, 0, 0, 0]
    assert state["products"] == []


def test_a_product_page_shows_choices_and_the_price_once_it_is_known(tiny: SmallShop) -> None:
    title = tiny.corpus.by_asin[FRIDGE].title
    session = play(tiny, f"search[{title}]", f"click[{FRIDGE}]", "click[套餐类型=套餐一]")
    state = build_observation(session, tiny.shop)
    assert state["product"] == {
        "asin": FRIDGE,
        "title": title,
        "brand": "冰点家旗舰店",
        "category": "大家电›冰箱›迷你冰箱",
        "price": "299.0 to 459.0",
        "key_attributes": ["静音", "50L", "一级能效", "宿舍适用"],
    }
    assert state["selected_options"] == {"套餐类型": "套餐一"}
    assert state["available_options"] == {
        "颜色分类": ["月光白", "复古绿 | 限定"],
        "套餐类型": ["官方标配", "套餐一"],
    }
    assert (state["missing_option_axes"], state["options_complete"]) == (["颜色分类"], False)
    assert "selected_price" not in state and "invalid_selected_options" not in state
    state = build_observation(act(session, "click[颜色分类=复古绿 | 限定]", tiny.shop), tiny.shop)
    assert list(state["selected_options"]) == ["颜色分类", "套餐类型"], "catalogue order, not click order"
    assert (state["missing_option_axes"], state["options_complete"]) == ([], True)
    assert state["selected_price"] == 459.0


def test_the_price_of_an_ambiguous_product_is_never_shown(tiny: SmallShop) -> None:
    session = play(tiny, "search[人体工学椅]", "click[600000000006]", "click[颜色=黑]", "click[扶手=固定]")
    state = build_observation(session, tiny.shop)
    assert state["options_complete"] is True and "selected_price" not in state


def test_lists_are_cut_as_the_format_says(tiny: SmallShop) -> None:
    state = build_observation(play(tiny, "search[怪怪杯子]", f"click[{AWKWARD_ASIN}]"), tiny.shop)
    assert len(state["product"]["key_attributes"]) == 10
    assert len(state["available_options"]["goal"]) == 100
    assert sum(action.startswith("goal=") for action in state["actions"]) == 130


def test_a_click_value_of_two_axes_is_listed_once(tiny: SmallShop) -> None:
    state = build_observation(play(tiny, "search[怪怪杯子]", f"click[{AWKWARD_ASIN}]"), tiny.shop)
    assert state["actions"].count("a=b=c") == 1
    assert len(set(state["actions"])) == len(state["actions"])


def test_an_option_that_the_product_does_not_have_is_called_invalid(tiny: SmallShop) -> None:
    session = play(tiny, "search[绿茶]", "click[600000000004]")
    session = Session(limit=30, page=session.page, asin=session.asin, selected={"净含量": "1吨"})
    state = build_observation(session, tiny.shop)
    assert state["invalid_selected_options"] == {"净含量": "1吨"}
    assert state["options_complete"] is False


def test_the_state_is_json_data_and_shares_nothing_with_the_engine(tiny: SmallShop) -> None:
    session = play(tiny, "search[绿茶]", "click[600000000004]")
    state = build_observation(session, tiny.shop)
    text = json.dumps(state, ensure_ascii=False)
    state["product"]["key_attributes"].clear()
    state["available_options"]["净含量"].append("x")
    state["actions"].clear()
    assert json.dumps(build_observation(session, tiny.shop), ensure_ascii=False) == text


def test_after_the_budget_the_state_is_that_of_the_last_page(tiny: SmallShop) -> None:
    session = Session(limit=2)
    for response in ("search[绿茶]", "click[600000000004]"):
        session = act(session, response, tiny.shop)
    assert session.ended == "action_limit"
    state = build_observation(session, tiny.shop)
    assert state["page_type"] == "product_detail" and state["actions"]
