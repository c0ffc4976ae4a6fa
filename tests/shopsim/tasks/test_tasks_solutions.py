"""The solver against brute force: every selection of every product through the reward and the environment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product as cartesian
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shopsim.catalog import Corpus, parse_corpus
from shopsim.catalog.tiny import tiny_corpus, tiny_records
from shopsim.env.reward import score_purchase
from shopsim.env.terms import TermExtractor
from shopsim.tasks.goals import Goal, build_goals
from shopsim.tasks.solutions import GoalSolver, is_satisfiable, solve, solver_for
from tests.factories.shops import SmallShop

TERMS = TermExtractor()
Purchase = tuple[str, tuple[tuple[str, str], ...], float | None]


def all_purchases(corpus: Corpus) -> Iterator[tuple[Any, dict[str, str]]]:
    for product in corpus.products:
        names = [axis.name for axis in product.axes]
        for values in cartesian(*([value.shown for value in axis.values] for axis in product.axes)):
            yield product, dict(zip(names, values, strict=True))


def brute_force(goal: Goal, corpus: Corpus) -> list[Purchase]:
    found = []
    for product, selected in all_purchases(corpus):
        result = score_purchase(goal, product, selected, TERMS)
        if result.r_success == 1:
            assert result.price_resolution is not None
            found.append((product.asin, tuple(selected.items()), result.price_resolution.price))
    return found


def solved(solver: GoalSolver, goal: Goal) -> list[Purchase]:
    return [
        (solution.asin, tuple(purchase.selected.items()), purchase.price)
        for solution in solver.solve(goal)
        for purchase in solution.purchases()
    ]


def check_against_brute_force(corpus: Corpus) -> int:
    """Compare everything the solver says about every goal; returns how many purchases there are."""
    solver = GoalSolver(corpus, TERMS)
    total = 0
    for goal in build_goals(corpus):
        expected = brute_force(goal, corpus)
        total += len(expected)
        assert solved(solver, goal) == expected
        assert solver.satisfying(goal) == {asin for asin, _, _ in expected}
        assert solver.is_satisfiable(goal) is bool(expected)
        assert (solver.explain_unsatisfiable(goal) == "") is bool(expected)
        for solution in solver.solve(goal):
            mine = [dict(selected) for asin, selected, _ in expected if asin == solution.asin]
            assert solution.count == len(mine)
            assert dict(solution.selected) == mine[0]
            for axis, values in solution.options.items():
                assert set(values) == {selected[axis] for selected in mine}
            offered = [selected for item, selected in all_purchases(corpus) if item.asin == solution.asin]
            assert [selected for selected in offered if solution.admits(selected)] == mine
    return total


def test_tiny_catalogue_against_the_reward() -> None:
    assert check_against_brute_force(tiny_corpus()) == 8


def test_tiny_catalogue_through_the_environment(tmp_path: Path) -> None:
    """Buy every selection of every product in a real episode of every task."""
    shop = SmallShop(tiny_records(), tmp_path)
    solver = GoalSolver(shop.corpus, shop.terms)
    for goal in shop.goals:
        bought = []
        for product, selected in all_purchases(shop.corpus):
            env = shop.env()
            env.reset(goal.task_id)
            env.step(f"search[{product.title}]")
            env.step(f"click[{product.asin}]")
            for axis, value in selected.items():
                env.step(f"click[{axis}={value}]")
            answer = env.step("click[buy now]")
            assert answer["termination_reason"] == "purchase"
            if answer["reward_detail"]["r_success"] == 1:
                bought.append((product.asin, tuple(selected.items())))
        assert [(asin, selected) for asin, selected, _ in solved(solver, goal)] == bought


@pytest.mark.parametrize("task_id", [4, 6])
def test_tiny_tasks_without_a_verifiable_price(task_id: int) -> None:
    corpus = tiny_corpus()
    goal = build_goals(corpus).get(task_id)
    assert not is_satisfiable(goal, corpus, TERMS)
    assert solve(goal, corpus, TERMS) == []
    reason = "none of the 1 product with all attributes and options has a verifiable price"
    assert solver_for(corpus, TERMS).explain_unsatisfiable(goal) == reason


def lamp(asin: str, **changes: Any) -> dict[str, Any]:
    return {
        "asin": asin,
        "title": "护眼台灯",
        "category": "家居›灯具›台灯",
        "pricing": [50.0],
        "attribute": ["护眼", "无线"],
        "customization_options": {"颜色": [{"value": "白", "price": 50}, {"value": "黑", "price": 80}]},
        **changes,
    }


def wanting(record: dict[str, Any], **changes: Any) -> dict[str, Any]:
    task = {
        "task_id": 0,
        "instruction": "台灯",
        "attributes": ["护眼"],
        "instruction_options": ["黑"],
        **changes,
    }
    return {**record, "instructions": [task]}


UNPRICED = lamp("A1", customization_options={}, pricing=[1, 2])


@pytest.mark.parametrize(
    ("records", "reason"),
    [
        ([wanting(lamp("A1"), attributes=["夜光"])], "none of the 1 product .* the attribute '夜光'"),
        (
            [wanting(lamp("A1", attribute=["护眼"], title="台灯"), attributes=["护眼", "无线"]),
             lamp("A2", attribute=["无线"], title="台灯")],
            r"none of the 2 products .* all attributes together \(at most 1 of 2\)",
        ),
        ([wanting(lamp("A1"), instruction_options=["红"])], "offers the option '红'"),
        ([wanting(lamp("A1"), instruction_options=["黑", "白"])], "offers all wanted options together"),
        ([wanting(lamp("A1"), price_upper=60)], "costs 80, over the limit of 60"),
        (
            [wanting(UNPRICED, instruction_options=[], price_upper=9)],
            "none of the 1 product .* has a verifiable price",
        ),
        (
            [wanting(lamp("A1", title="!", category="")), lamp("A2")],
            r"no product is of the wanted type \(no category\)",
        ),
    ],
)  # fmt: skip
def test_the_first_unmet_requirement_is_named(records: list[dict[str, Any]], reason: str) -> None:
    corpus = parse_corpus(records, "0" * 64)
    solver = GoalSolver(corpus, TERMS)
    goal = build_goals(corpus).get(0)
    assert brute_force(goal, corpus) == []
    assert re.search(reason, solver.explain_unsatisfiable(goal))


def test_the_cheapest_price_is_of_a_fitting_selection() -> None:
    """白 is cheaper, but only 黑 is wanted."""
    corpus = parse_corpus([wanting(lamp("A1"), price_upper=10)], "0" * 64)
    goal = build_goals(corpus).get(0)
    assert "costs 80," in GoalSolver(corpus, TERMS).explain_unsatisfiable(goal)


def test_many_selections_are_counted_without_listing_them() -> None:
    axes = {f"轴{number}": [{"value": f"v{value}"} for value in range(100)] for number in range(6)}
    record = lamp("A1", customization_options={**axes, "颜色": [{"value": "黑"}, {"value": "白"}]})
    corpus = parse_corpus([wanting(record)], "0" * 64)
    (solution,) = GoalSolver(corpus, TERMS).solve(build_goals(corpus).get(0))
    assert solution.count == 100**6
    first = next(solution.purchases())
    assert first.selected == solution.selected
    assert solution.options["颜色"] == ("黑",)
    assert solution.admits({**first.selected, "轴3": "v77"})
    assert not solution.admits({**first.selected, "颜色": "白"})
    assert not solution.admits({"颜色": "黑"})


def test_values_that_compare_equal_keep_their_own_prices() -> None:
    twins = [{"value": "A/B", "price": 50}, {"value": "A / B", "price": 80}, {"value": "/C", "price": 55}]
    record = lamp("A1", customization_options={"版本": twins})
    for wanted, count in (("A/B", 1), ("/C", 1)):
        task = wanting(record, instruction_options=[wanted], price_upper=60)
        assert check_against_brute_force(parse_corpus([task], "0" * 64)) == count


@pytest.mark.parametrize(("title", "purchases"), [("a x", 0), ("a b", 1)])
def test_a_fifth_of_the_title_terms_is_not_enough(title: str, purchases: int) -> None:
    goal_record = wanting(lamp("A1", title="a b c d e", attribute=["夜光"]), instruction_options=[])
    other = lamp("A2", title=title, category="", customization_options={})
    assert check_against_brute_force(parse_corpus([goal_record, other], "0" * 64)) == purchases


def test_solvers_are_kept_by_corpus_and_extractor() -> None:
    corpus = tiny_corpus()
    assert solver_for(corpus, TERMS) is solver_for(corpus, TERMS)
    assert solver_for(corpus, TermExtractor()) is not solver_for(corpus, TERMS)


WORDS = ["静音", "节能", "abcdefg", "abcdefh", "防水 防尘", "防水", "", "!", "大容量静音款"]
VALUES = ["黑色", "白色", "黑色 L", "L", "A/B", "A / B", "abcdefg", "abcdefh", "ⅷ"]
TITLES = ["静音小冰箱", "小冰箱贴 防水", "abcdefg 电视", "!", "大容量静音款 耳机 bx-1"]
CATEGORIES = ["家电›冰箱", "家电/冰箱/迷你", "家电›电视", "", "数码"]
PRICES = [None, 5.0, 10.0, 20.0, "10.0", "x"]


def some(values: list[Any], most: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from(values), max_size=most)


@st.composite
def records(draw: st.DrawFn) -> list[dict[str, Any]]:
    made = []
    for number in range(draw(st.integers(1, 4))):
        options = {
            axis: [
                {"value": value, "price": draw(st.sampled_from(PRICES))} for value in draw(some(VALUES, 4))
            ]
            for axis in draw(some(["颜色", "尺码", "版本"], 3))
        }
        tasks = [
            {
                "instruction": "买一个",
                "attributes": draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)),
                "instruction_options": draw(some(VALUES, 3)),
                "price_upper": draw(st.sampled_from([None, 5.0, 10.0, 15.0])),
            }
            for _ in range(draw(st.integers(0, 2)))
        ]
        made.append(
            {
                "asin": f"A{number}",
                "title": draw(st.sampled_from(TITLES)),
                "category": draw(st.sampled_from(CATEGORIES)),
                "pricing": draw(some([5.0, 10.0], 2)),
                "attribute": draw(some(WORDS, 3)),
                "customization_options": options,
                "instructions": tasks,
            }
        )
    return made


@settings(max_examples=150, deadline=None)
@given(records())
def test_random_catalogues_against_the_reward(raw: list[dict[str, Any]]) -> None:
    check_against_brute_force(parse_corpus(raw, "0" * 64))


ENTRIES = st.text(alphabet="静音节能防水ab1 /", max_size=12)


@settings(max_examples=80, deadline=None)
@given(st.lists(ENTRIES, min_size=1, max_size=12), st.lists(ENTRIES, min_size=1, max_size=4))
def test_the_attribute_index_misses_nothing(offered: list[str], wanted: list[str]) -> None:
    """Near misses around the threshold: the index may only skip what cannot match."""
    raw = [
        {"asin": f"A{i}", "title": "灯", "category": "a›b", "attribute": [text]}
        for i, text in enumerate(offered)
    ]
    raw[0]["instructions"] = [{"instruction": "", "attributes": [entry]} for entry in wanted]
    check_against_brute_force(parse_corpus(raw, "0" * 64))
