"""Behaviour from the lake against an independent walk over the records, and the published cases."""

from __future__ import annotations

import math
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboard.analysis.behaviour import MEASURES, PHASES, complete_measures, fold_query
from dashboard.lake import Lake
from tests.factories.behaviour_cases import BASE, ITER80, write_published_cases
from tests.factories.behaviour_walk import walk
from tests.factories.episodes import Episode
from tests.factories.pages import asin
from tests.factories.traces import OUTCOMES, episode_record, write_run

QUERIES = (
    "Straße",
    "STRASSE  ",
    "strasse",
    "İstanbul",
    "家用\u3000迷你",
    "家用 迷你",
    " 家用\t迷你",
    "a]b",
    "x" * 40,
    "",
)
NUMBERS = count()
COMPARED = [*MEASURES, *(f"{kind}_{phase}" for kind in ("turns", "tokens") for phase in PHASES)]


def behaviour(root: Path) -> pd.DataFrame:
    """The measures of all episodes below ``root``."""
    lake = Lake([root], root / ".cache")
    ids = [run.run_id for run in lake.runs]
    return complete_measures(lake.query("behaviour_episodes", run_ids=ids))


def assert_agrees(row: pd.Series, record: dict[str, Any]) -> None:
    expected = walk(record)
    assert row["path"] == expected.pop("path")
    for name in COMPARED:
        value = None if math.isnan(row[name]) else row[name]
        assert value == pytest.approx(expected[name]), (name, record["episode_id"])


@st.composite
def episodes(draw: st.DrawFn, task_id: int) -> dict[str, Any]:
    """An episode that does what its page offers, and now and then what it does not."""
    episode = Episode(task_id)
    for _ in range(draw(st.integers(0, 14))):
        move = draw(st.integers(0, 9))
        if move == 0:
            episode.invalid(draw(st.sampled_from(["click[buy now]", "search[x]", "click[颜色分类=红]"])))
        elif move == 1:
            episode.protocol_error()
        else:
            MOVES[episode.state["page_type"]](draw, episode, move)
    _end(draw, episode)
    for step in episode.steps:
        silent = draw(st.integers(0, 12))
        if silent == 0:
            step["model"]["usage"] = None
        elif silent == 1:
            step["model"]["reasoning"] = None
    return episode.record()


def _search(draw: st.DrawFn, episode: Episode, move: int) -> None:
    results = draw(st.sampled_from([None, [], [5, 6, episode.task_id]]))
    episode.search(draw(st.sampled_from(QUERIES)), results)


def _on_results(draw: st.DrawFn, episode: Episode, move: int) -> None:
    shown = [product["asin"] for product in episode.state["products"]]
    if "next >" in episode.state["actions"] and move < 4:
        episode.paginate(episode.state["page"] + 1)
    elif "< prev" in episode.state["actions"] and move < 5:
        episode.paginate(episode.state["page"] - 1)
    elif shown and move < 9:
        episode.open(int(draw(st.sampled_from(shown[:3] + shown[-2:]))) - int(asin(0)))
    else:
        episode.back()


def _on_product(draw: st.DrawFn, episode: Episode, move: int) -> None:
    if move < 4:
        episode.back(draw(st.sampled_from(["< prev", "back to search"])))
        return
    axis, values = draw(st.sampled_from([("颜色分类", ["月光白", "曜石黑"]), ("尺码", ["S", "M"])]))
    value = draw(st.sampled_from(values))
    if episode.selected.get(axis) == value.lower():
        episode.invalid(f"click[{axis}={value.lower()}]", "already_selected")
    else:
        episode.select(axis, value)


def _end(draw: st.DrawFn, episode: Episode) -> None:
    ending = draw(st.sampled_from(["buy", "action_limit", "generation_length", "fail"]))
    if ending == "buy" and episode.state["page_type"] == "product_detail":
        episode.buy(r_att=draw(st.sampled_from([0.5, 1.0])))
    elif ending == "fail" or not episode.steps:
        episode.fail()
    else:
        episode.end("generation_length" if ending == "buy" else ending)


MOVES = {"search_home": _search, "search_results": _on_results, "product_detail": _on_product}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    root = tmp_path_factory.mktemp("walked")
    return Lake([root], root / ".cache")


@given(st.data())
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_lake_agrees_with_a_walk_over_the_records(lake: Lake, data: st.DataObject) -> None:
    records = [data.draw(episodes(task_id)) for task_id in range(100, 108)]
    name = f"run-{next(NUMBERS)}"
    write_run(lake.roots[0] / name, records)
    lake.refresh()
    rows = complete_measures(lake.query("behaviour_episodes", run_ids=[name])).set_index("episode_id")
    assert len(rows) == len(records)
    for record in records:
        assert_agrees(rows.loc[record["episode_id"]], record)


def test_every_way_to_end_agrees_with_the_walk(tmp_path: Path) -> None:
    records = [episode_record(10 * k, outcome=outcome) for k, outcome in enumerate(OUTCOMES)]
    silent = Episode(900).search("无用量").end("action_limit")
    for step in silent.steps:
        step["model"]["usage"] = step["model"]["reasoning"] = None
    records.append(silent.record())
    records.append(Episode(910).fail().record())
    write_run(tmp_path / "run", records)
    rows = behaviour(tmp_path).set_index("episode_id")
    for record in records:
        assert_agrees(rows.loc[record["episode_id"]], record)
    outcomes = rows["outcome"].value_counts()
    assert outcomes["success"] == 1 and outcomes["failed"] == 2 and outcomes["failure"] == len(records) - 3
    assert math.isnan(rows.loc[silent.record()["episode_id"], "tokens_search_home"])


def test_an_unscored_success_is_no_failure(tmp_path: Path) -> None:
    unscored, silent, short = episode_record(7), episode_record(8), episode_record(9)
    unscored["final"]["reward"] = math.nan
    silent["final"]["reward_detail"]["r_success"] = math.nan  # the strict reward of 1 tells it
    short["final"] |= {"reward": 0.5, "reward_detail": {}}
    write_run(tmp_path / "run", [unscored, silent, short])
    assert behaviour(tmp_path)["outcome"].tolist() == ["unscored", "success", "failure"]


def test_an_axis_changes_within_one_visit_only(tmp_path: Path) -> None:
    episode = Episode(20).search("x").open(20).select("尺码", "S").select("颜色分类", "月光白")
    episode.select("尺码", "M").select("尺码", "S").back("< prev").open(20).select("尺码", "M").buy()
    write_run(tmp_path / "run", [episode.record()])
    row = behaviour(tmp_path).iloc[0]
    assert row["option_selections"] == 5 and row["option_changes"] == 2
    assert row["product_opens"] == 2 and row["revisits"] == 1 and row["backtracks"] == 1
    assert row["first_opened_rank"] == 3


def test_queries_are_folded_as_python_folds() -> None:
    assert fold_query(" Straße\u3000 X ") == fold_query("STRASSE x") == "strasse x"


def test_the_published_cases_come_out(tmp_path: Path) -> None:
    write_published_cases(tmp_path)
    rows = behaviour(tmp_path).set_index(["run_id", "task_id"])
    turns = rows["turns"].astype(int)
    assert (turns[BASE, 1828], turns[ITER80, 1828]) == (25, 4)
    assert (turns[BASE, 3538], turns[ITER80, 3538]) == (30, 4)
    assert (turns[BASE, 4359], turns[ITER80, 4359]) == (4, 30)
    assert rows.loc[(BASE, 3538), "invalid_actions"] == 21
    assert rows.loc[(ITER80, 4359), "repairs"] == rows.loc[(ITER80, 4359), "turns_protocol_repair"] == 12
    wandering = rows.loc[(BASE, 1828)]
    assert (wandering["searches"], wandering["unique_queries"]) == (3, 2)
    assert (wandering["product_opens"], wandering["unique_products"], wandering["revisits"]) == (7, 3, 4)
