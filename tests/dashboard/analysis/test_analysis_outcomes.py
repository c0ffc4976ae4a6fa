"""Classes of wanted options and attributes, and the tables made of them."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from dashboard.analysis.outcome_tables import outcome_counts, presented_confusions, presented_groups
from dashboard.analysis.outcomes import (
    ATTRIBUTE_OUTCOMES,
    OPTION_OUTCOMES,
    UNKNOWN_AXIS,
    classify_attributes,
    classify_options,
    confusion_table,
    group_table,
    locate_wanted,
    right_by_run,
    select_outcomes,
)
from shopsim.catalog import OptionAxis
from shopsim.catalog.axes import parse_axes

AXES: dict[str, tuple[OptionAxis, ...]] = {
    "1": parse_axes({"颜色分类": [{"value": "月光白"}, {"value": "A/B款"}], "尺码": [{"value": "XL"}]}),
    "2": parse_axes({"尺码": [{"value": "XXL 加大"}], "空": None}),
    "3": (),
}


def outcome(**changes: Any) -> dict[str, Any]:
    row = {
        "run_id": "r1",
        "episode_id": "e1",
        "task_id": 1,
        "axis": "尺码",
        "wanted_value": "XL",
        "chosen_value": "XL",
        "matched": True,
        "purchased": True,
        "goal_asin": "1",
        "known_catalogue": True,
    }
    return row | changes


def test_a_wanted_value_is_found_as_it_is_else_by_the_rewards_ratio() -> None:
    pairs = [
        ("1", "xl"),
        ("1", "A | B 款"),
        ("2", "加大"),
        ("1", "红"),
        ("3", "红"),
        ("9", "红"),
        ("1", "xl"),
    ]
    found = locate_wanted(pairs, AXES.get)
    assert found["found_axis"].tolist()[:3] == ["尺码", "颜色分类", "尺码"]
    assert found["found_axis"].isna().tolist() == [False, False, False, True, True, True]
    assert found["offered"].tolist()[:5] == [True, True, True, False, False]
    assert found["offered"].isna().tolist()[5]
    assert len(found) == 6


@pytest.mark.parametrize(
    ("changes", "group", "expected"),
    [
        ({}, "尺码", "right"),
        ({"matched": False, "chosen_value": "S"}, "尺码", "wrong value"),
        ({"matched": False, "chosen_value": None}, "尺码", "never chosen"),
        ({"matched": False, "chosen_value": None, "purchased": False}, "尺码", "no purchase"),
        ({"matched": None, "chosen_value": None, "purchased": False}, "尺码", "no purchase"),
        ({"matched": False, "chosen_value": "S", "wanted_value": "红"}, "尺码", "not in catalogue"),
        (
            {"matched": False, "chosen_value": "S", "wanted_value": "红", "known_catalogue": False},
            "尺码",
            "wrong value",
        ),
        ({"axis": None, "matched": False, "chosen_value": None}, "尺码", "never chosen"),
        (
            {"axis": None, "matched": False, "chosen_value": None, "goal_asin": "9"},
            UNKNOWN_AXIS,
            "not seen",
        ),
        (
            {"axis": None, "matched": False, "chosen_value": None, "known_catalogue": False},
            UNKNOWN_AXIS,
            "not seen",
        ),
        # met on another product although its own does not offer it: that is right
        ({"wanted_value": "红", "chosen_value": "红"}, "尺码", "right"),
    ],
)
def test_classes_of_options(changes: dict[str, Any], group: str, expected: str) -> None:
    rows = pd.DataFrame([outcome(**changes)])
    located = locate_wanted(zip(rows["goal_asin"], rows["wanted_value"], strict=True), AXES.get)
    classified = classify_options(rows, located)
    assert classified[["group", "outcome"]].to_numpy().tolist() == [[group, expected]]


def test_without_a_catalogue_the_trace_alone_decides() -> None:
    rows = pd.DataFrame([outcome(), outcome(axis=None, matched=False, chosen_value=None, wanted_value="红")])
    classified = classify_options(rows)
    assert classified["group"].tolist() == ["尺码", UNKNOWN_AXIS]
    assert classified["outcome"].tolist() == ["right", "not seen"]


def test_an_empty_frame_stays_one() -> None:
    empty = pd.DataFrame([outcome()]).iloc[:0]
    assert classify_options(empty, locate_wanted([], AXES.get)).empty
    assert classify_options(empty).empty


@pytest.mark.parametrize(
    ("matched", "purchased", "expected"),
    [(True, True, "right"), (False, True, "missing"), (None, True, "unknown"), (False, False, "no purchase")],
)
def test_classes_of_attributes(matched: bool | None, purchased: bool, expected: str) -> None:
    row = {"run_id": "r", "episode_id": "e", "task_id": 1, "wanted_attribute": "防水"}
    rows = pd.DataFrame([row | {"matched": matched, "purchased": purchased}])
    classified = classify_attributes(rows)
    assert classified[["group", "outcome"]].to_numpy().tolist() == [["防水", expected]]
    assert expected in ATTRIBUTE_OUTCOMES


@pytest.fixture
def classified() -> pd.DataFrame:
    rows = [
        ("r1", "e1", 1, "尺码", "XL", "XL", "right"),
        ("r1", "e2", 2, "尺码", "XL", "S", "wrong value"),
        ("r2", "e1", 1, "尺码", "XL", "S", "wrong value"),
        ("r2", "e2", 2, "尺码", "XL", None, "never chosen"),
        ("r1", "e1", 1, "颜色", "红", None, "no purchase"),
    ]
    columns = ["run_id", "episode_id", "task_id", "group", "wanted", "chosen", "outcome"]
    return pd.DataFrame(rows, columns=columns)


def test_group_table_counts(classified: pd.DataFrame) -> None:
    table = group_table(classified, OPTION_OUTCOMES).set_index("group")
    assert table.index.tolist() == ["尺码", "颜色"]
    assert table.loc["尺码", ["n", "tasks", *OPTION_OUTCOMES]].tolist() == [4, 2, 1, 2, 1, 0, 0, 0]
    assert table.loc["尺码", "right_share"] == 0.25
    low, high = proportion_confint(1, 4, method="wilson")
    assert (table.loc["尺码", "right_low"], table.loc["尺码", "right_high"]) == pytest.approx((low, high))
    shown = presented_groups(table.reset_index(), OPTION_OUTCOMES)
    assert (
        shown.loc[0, "right_share"] == 25
        and shown.loc[0, "right_ci"] == f"{100 * low:.1f} – {100 * high:.1f}"
    )
    counts = outcome_counts(table.reset_index(), OPTION_OUTCOMES)
    assert counts["n"].sum() == len(classified)


def test_right_by_run(classified: pd.DataFrame) -> None:
    table = right_by_run(classified, ["尺码"]).set_index("run_id")
    assert table["mean"].to_dict() == {"r1": 0.5, "r2": 0.0}
    assert table["n"].to_dict() == {"r1": 2, "r2": 2}


def test_confusions_and_selection(classified: pd.DataFrame) -> None:
    pairs = presented_confusions(confusion_table(classified))
    first = pairs.iloc[0]
    assert first.tolist() == ["尺码", "XL", "S", "wrong value", 2, 2]
    for row in pairs.itertuples():
        behind = select_outcomes(
            classified, group=row.group, outcome=row.outcome, wanted=row.wanted, chosen=row.chosen
        )
        assert len(behind) == row.n and behind["task_id"].nunique() == row.tasks
    assert len(select_outcomes(classified)) == len(classified)


def test_what_was_taken_on_an_axis_that_only_the_catalogue_knows() -> None:
    unknown = {"axis": None, "matched": False, "chosen_value": None}
    rows = pd.DataFrame(
        [
            outcome(**unknown),
            outcome(**unknown, episode_id="e2"),
            outcome(**unknown, episode_id="e3", known_catalogue=False),
            outcome(episode_id="e4"),
        ]
    )
    located = locate_wanted(zip(rows["goal_asin"], rows["wanted_value"], strict=True), AXES.get)
    choices = pd.DataFrame(
        {
            "run_id": "r1",
            "episode_id": ["e1", "e1", "e1", "e2", "e3"],
            "argument": ["尺码=s", "颜色分类=红", "尺码=m=2", "颜色分类=红", "尺码=s"],
        }
    )
    classified = classify_options(rows, located, choices)
    assert classified["outcome"].tolist() == ["wrong value", "never chosen", "not seen", "right"]
    assert classified["chosen"].tolist()[0] == "m=2"
    assert classified["chosen"].isna().tolist() == [False, True, True, False]
