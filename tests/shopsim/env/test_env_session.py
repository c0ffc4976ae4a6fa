from __future__ import annotations

import dataclasses

import pytest

from shopsim.env.actions import Reason
from shopsim.env.errors import EpisodeEndedError, TerminationReasonError
from shopsim.env.messages import REFUSALS
from shopsim.env.schema import PageType
from shopsim.env.session import Session, missing_axes, offered_moves
from shopsim.env.transitions import TRANSITIONS, act, can_search, terminate
from tests.factories.shops import AWKWARD_ASIN, SmallShop

FRIDGE = "600000000001"
CHAIR = "600000000006"
SOAP = "600000000007"


def play(small: SmallShop, *responses: object, limit: int = 30) -> Session:
    session = Session(limit=limit)
    for response in responses:
        session = act(session, response, small.shop)
    return session


def labels(session: Session, small: SmallShop) -> list[str]:
    return [move.label for move in offered_moves(session, small.shop)]


def reason(session: Session) -> Reason:
    assert session.feedback is not None
    return session.feedback.reason


def opened(small: SmallShop, asin: str, *more: str) -> Session:
    title = small.corpus.by_asin[asin].title
    return play(small, f"search[{title}]", f"click[{asin}]", *more)


def test_home_offers_search_and_nothing_else(tiny: SmallShop) -> None:
    session = Session(limit=30)
    assert session.page is PageType.HOME
    assert labels(session, tiny) == []
    assert [page for page in PageType if can_search(page)] == [PageType.HOME]


def test_result_pages_offer_navigation_then_asins_in_rank_order(shelf: SmallShop) -> None:
    first = play(shelf, "search[台灯]")
    assert first.results is not None
    ranked = list(first.results.asins)
    assert len(ranked) == 45
    assert labels(first, shelf) == ["back to search", "next >", *ranked[:20]]
    second = act(first, "click[next >]", shelf.shop)
    assert labels(second, shelf) == ["back to search", "< prev", "next >", *ranked[20:40]]
    third = act(second, "click[next >]", shelf.shop)
    assert labels(third, shelf) == ["back to search", "< prev", *ranked[40:]]
    assert labels(act(third, "click[< prev]", shelf.shop), shelf) == labels(second, shelf)


def test_a_product_returns_to_the_page_it_was_opened_from_without_its_options(shelf: SmallShop) -> None:
    second = play(shelf, "search[台灯]", "click[next >]")
    asin = labels(second, shelf)[3]
    product = act(act(second, f"click[{asin}]", shelf.shop), "click[色温=暖光]", shelf.shop)
    assert product.selected == {"色温": "暖光"}
    back = act(product, "click[< prev]", shelf.shop)
    assert (back.page, back.results, back.asin, back.selected) == (
        PageType.RESULTS,
        second.results,
        None,
        {},
    )
    again = act(back, f"click[{asin}]", shelf.shop)
    assert again.selected == {}


def test_back_to_search_forgets_product_options_and_results(tiny: SmallShop) -> None:
    home = opened(tiny, FRIDGE, "click[颜色分类=月光白]", "click[back to search]")
    assert (home.page, home.results, home.asin, home.selected) == (PageType.HOME, None, None, {})
    assert home.steps == 4
    again = act(home, "search[绿茶]", tiny.shop)
    assert again.results is not None and again.results.query == "绿茶"


def test_a_product_offers_buying_only_when_every_axis_is_chosen(tiny: SmallShop) -> None:
    untouched = opened(tiny, FRIDGE)
    assert labels(untouched, tiny) == [
        "back to search",
        "< prev",
        "颜色分类=月光白",
        "颜色分类=复古绿 | 限定",
        "套餐类型=官方标配",
        "套餐类型=套餐一",
    ]
    complete = opened(tiny, FRIDGE, "click[套餐类型=套餐一]", "click[颜色分类=复古绿 | 限定]")
    assert labels(complete, tiny) == [
        "back to search",
        "< prev",
        "buy now",
        "颜色分类=月光白",
        "套餐类型=官方标配",
    ]
    assert missing_axes(complete, tiny.shop) == ()


def test_a_product_without_axes_can_be_bought_at_once(tiny: SmallShop) -> None:
    session = opened(tiny, SOAP)
    assert labels(session, tiny) == ["back to search", "< prev", "buy now"]
    bought = act(session, "click[buy now]", tiny.shop)
    assert (bought.page, bought.ended, bought.asin) == (PageType.TERMINAL, "purchase", SOAP)
    assert labels(bought, tiny) == []


def test_choosing_another_value_replaces_the_first(tiny: SmallShop) -> None:
    session = opened(tiny, CHAIR, "click[颜色=黑]", "click[颜色=灰]")
    assert session.selected == {"颜色": "灰"}


def test_two_axes_with_the_same_value_text_are_told_apart(tiny: SmallShop) -> None:
    session = opened(tiny, "600000000005", "click[箱子颜色=红色]")
    assert session.selected == {"箱子颜色": "红色"}
    assert missing_axes(session, tiny.shop) == ("积木颜色",)


@pytest.mark.parametrize(
    ("response", "wanted"),
    [
        ("click[颜色分类=月光白], click[buy now]", Reason.MULTIPLE_ACTIONS),
        ("买它", Reason.INVALID_FORMAT),
        (None, Reason.INVALID_FORMAT),
        ("search[ ]", Reason.EMPTY_ARGUMENT),
        ("search[冰箱]", Reason.SEARCH_UNAVAILABLE),
        ("click[颜色分类=月光白]", Reason.ALREADY_SELECTED),
        ("click[ 颜色分类=月光白 ]", Reason.ALREADY_SELECTED),
        ("click[buy now]", Reason.INCOMPLETE_OPTIONS),
        ("click[BUY NOW]", Reason.INCOMPLETE_OPTIONS),
        ("click[next >]", Reason.UNAVAILABLE_ACTION),
        ("click[颜色分类]", Reason.UNAVAILABLE_ACTION),
        ("click[颜色分类=没有的颜色]", Reason.UNAVAILABLE_ACTION),
        ("click[月光白]", Reason.UNAVAILABLE_ACTION),
        ("click[600000000002]", Reason.UNAVAILABLE_ACTION),
    ],
)
def test_refused_actions_change_nothing_but_the_count(
    tiny: SmallShop, response: object, wanted: Reason
) -> None:
    before = opened(tiny, FRIDGE, "click[颜色分类=月光白]")
    after = act(before, response, tiny.shop)
    assert reason(after) is wanted
    assert after == dataclasses.replace(before, steps=before.steps + 1, feedback=after.feedback)
    assert after.feedback is not None
    assert after.feedback.message == REFUSALS[wanted]
    missing = ("套餐类型",) if wanted is Reason.INCOMPLETE_OPTIONS else ()
    assert after.feedback.missing_option_axes == missing


@pytest.mark.parametrize("response", ["click[buy now]", "click[< prev]", "click[600000000001]"])
def test_home_refuses_every_click(tiny: SmallShop, response: str) -> None:
    assert reason(play(tiny, response)) is Reason.UNAVAILABLE_ACTION


def test_buying_is_unavailable_on_a_result_page(tiny: SmallShop) -> None:
    assert reason(play(tiny, "search[冰箱]", "click[buy now]")) is Reason.UNAVAILABLE_ACTION


def test_an_executed_action_is_reported_as_the_page_offers_it(tiny: SmallShop) -> None:
    session = opened(tiny, FRIDGE, "Action: click[ 颜色分类=月光白 ]")
    assert session.feedback is not None
    assert session.feedback.to_wire()["action"] == "click[颜色分类=月光白]"


def test_a_refused_text_is_echoed_but_not_without_end(tiny: SmallShop) -> None:
    session = play(tiny, "啊" * 10_000)
    assert session.feedback is not None and session.feedback.action is not None
    assert 0 < len(session.feedback.action) <= 500


def test_a_search_that_finds_nothing_has_one_empty_page(tiny: SmallShop) -> None:
    session = play(tiny, "search[！！！]")
    assert session.page is PageType.RESULTS
    assert labels(session, tiny) == ["back to search"]


def test_values_and_axes_with_equals_signs_and_brackets_can_all_be_chosen(tiny: SmallShop) -> None:
    session = opened(tiny, AWKWARD_ASIN, "click[尺码 [cm]=straße]", "click[a=d] e]")
    assert session.selected == {"尺码 [cm]": "straße", "a": "d] e"}
    session = act(session, "click[A=B=C]", tiny.shop)  # both (a=b, c) and (a, b=c): the first one offered
    assert session.selected["a=b"] == "c"
    session = act(session, "click[a=b=c]", tiny.shop)  # the first is chosen now, so the other is meant
    assert session.selected["a"] == "b=c"
    assert reason(act(session, "click[a=b=c]", tiny.shop)) is Reason.ALREADY_SELECTED


def test_every_value_of_a_long_axis_is_offered(tiny: SmallShop) -> None:
    offered = labels(opened(tiny, AWKWARD_ASIN), tiny)
    assert sum(label.startswith("goal=") for label in offered) == 130


def test_the_last_action_of_the_budget_still_executes(tiny: SmallShop) -> None:
    session = play(tiny, "search[皂角]", f"click[{SOAP}]", limit=2)
    assert (session.ended, session.page) == ("action_limit", PageType.PRODUCT)
    bought = play(tiny, "search[皂角]", f"click[{SOAP}]", "click[buy now]", limit=3)
    assert bought.ended == "purchase"


def test_refused_actions_use_up_the_budget(tiny: SmallShop) -> None:
    session = play(tiny, *["???"] * 3, limit=3)
    assert (session.ended, session.steps, session.page) == ("action_limit", 3, PageType.HOME)


@pytest.mark.parametrize("ending", ["action_limit", "generation_length"])
def test_termination_keeps_the_page_and_ends_everything(tiny: SmallShop, ending: str) -> None:
    before = opened(tiny, FRIDGE)
    after = terminate(before, ending)
    assert after == dataclasses.replace(before, ended=ending)
    with pytest.raises(EpisodeEndedError):
        act(after, "click[< prev]", tiny.shop)
    with pytest.raises(EpisodeEndedError):
        terminate(after, ending)


@pytest.mark.parametrize("ending", ["purchase", "finish", "", None, 3, ["action_limit"]])
def test_other_termination_reasons_are_refused(ending: object) -> None:
    with pytest.raises(TerminationReasonError, match="is refused"):
        terminate(Session(limit=30), ending)


def test_ids_that_differ_in_case_alone_are_offered_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    records = [
        {"asin": asin, "title": f"蓝色水壶 {asin}", "pricing": [1.0], "full_description": ""}
        for asin in ("ab1", "AB1", "bad id", "ab2")
    ]
    small = SmallShop(records, tmp_path_factory.mktemp("case-shop"))
    session = play(small, "search[蓝色水壶]")
    assert sorted(label for label in labels(session, small) if label != "back to search") == ["ab1", "ab2"]


def test_every_row_of_the_table_belongs_to_a_page_that_offers_it(shelf: SmallShop) -> None:
    middle = play(shelf, "search[台灯]", "click[next >]")
    asin = labels(middle, shelf)[3]
    complete = act(act(middle, f"click[{asin}]", shelf.shop), "click[色温=暖光]", shelf.shop)
    offered = {
        (session.page, move.kind)
        for session in (middle, complete)
        for move in offered_moves(session, shelf.shop)
    }
    assert {key for key in TRANSITIONS if key[0] is not PageType.HOME} == offered
