"""Windows, pass rates, rewards and shortfalls against computations by hand."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dashboard.analysis.conversations import (
    NEEDED,
    decision_table,
    level_rates,
    replay_windows,
    reward_means,
    reward_table,
    short_episodes,
    shortfalls,
    top_table,
)
from dashboard.analysis.conversations.episode import answer_lines, facts, read_turns, reward_sum, shown_titles
from dashboard.lake.conversations import Conversations
from shopsim.rlve.curriculum import AdaptiveWindow, Curriculum
from tests.factories.rlve_review import conversation, sample_conversations, write_conversations

RECORDS = sample_conversations(330, fails=11)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Conversations:
    folder = tmp_path_factory.mktemp("figures")
    write_conversations(folder / "runs" / "talk", RECORDS)
    return Conversations([folder / "runs"], folder / "lake")


def wilson(hits: int, n: int) -> tuple[float, float]:
    z, share = 1.959963984540054, hits / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return centre - half, centre + half


def test_windows_are_those_of_the_curriculum(lake: Conversations) -> None:
    curriculum = Curriculum(["PD", "CART", "STATUS"])
    moves = 0
    for record in RECORDS:
        assert record["window"]["high"] == curriculum.window(record["env"]).high
        before = curriculum.window(record["env"])
        curriculum.record(record["env"], record["difficulty"], record["end"]["correct"])
        moves += curriculum.window(record["env"]).attempts < before.attempts
    draws = lake.query("conversation_draws", run_ids=["talk"])
    windows = replay_windows(draws, lake.query("conversation_windows", run_ids=["talk"]))
    assert windows.notes == {} and len(windows.decisions) == moves > 3
    assert list(windows.states["env"]) == ["PD", "CART", "STATUS"]
    for row in windows.states.to_dict("records"):
        wanted = curriculum.window(row["env"])
        assert (row["bottom"], row["top"]) == (wanted.low, wanted.high)
        assert (row["attempts"], row["passes"]) == (wanted.attempts, wanted.passes)
        if 0 < wanted.passes < wanted.attempts:
            assert (row["low"], row["high"]) == pytest.approx(wilson(wanted.passes, wanted.attempts))
    assert all(
        moved == (passes >= NEEDED)
        for moved, passes in zip(windows.decisions["moved"], windows.decisions["passes"], strict=True)
    )
    table = decision_table(windows.decisions, {"talk": "Talk"})
    assert table["episode"].is_monotonic_decreasing and set(table["n"]) == {32}


def test_what_is_left_until_a_decision() -> None:
    states = pd.DataFrame(
        [("r", "PD", 0, 2, *counts) for counts in ((0, 0), (20, 20), (30, 29), (10, 6))],
        columns=["run_id", "env", "bottom", "top", "attempts", "passes"],
    ).assign(share=0.5, low=0.4, high=0.6)
    assert NEEDED == 29
    assert top_table(states, {"r": "R"})["outlook"].to_list() == [
        "moves up if 29 of the next 32 pass",
        "moves up if 9 of the next 12 pass",
        "moves up after 2 more, however they end",
        "stays: 4 failed, at most 3 may",
    ]


def test_missing_episodes_leave_the_saved_state_and_say_so(tmp_path: Path) -> None:
    saved = {"PD": AdaptiveWindow(0, 3, 4, 4)}
    records = sample_conversations(40, envs=["PD"])
    write_conversations(tmp_path / "gap", records[:10] + records[12:], windows=saved)
    write_conversations(tmp_path / "other", records, windows=saved)
    lake = Conversations([tmp_path], tmp_path / "lake")
    ids = ["gap", "other"]
    windows = replay_windows(
        lake.query("conversation_draws", run_ids=ids), lake.query("conversation_windows", run_ids=ids)
    )
    states = windows.states.set_index("run_id")
    assert states.at["gap", "top"] == 3 and "2 earlier episodes not readable" in windows.notes["gap"]
    assert states.at["other", "top"] < 3 and "something else" in windows.notes["other"]
    assert set(windows.decisions["run_id"]) == {"other"}


def test_pass_rates_and_rewards(lake: Conversations) -> None:
    groups: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for record in RECORDS:
        groups[record["env"], record["difficulty"]].append(record["end"])
    rates = level_rates(lake.query("conversation_levels", run_ids=["talk"]))
    assert len(rates) == len(groups)
    for row in rates.to_dict("records"):
        ends = groups[row["env"], row["difficulty"]]
        passes = sum(end["correct"] for end in ends)
        assert (row["passes"], row["n"]) == (passes, len(ends))
        if passes < len(ends):
            assert (row["low"], row["high"]) == pytest.approx(wilson(passes, len(ends)))
    rows = lake.query("conversation_rewards", run_id="talk", grouping="env")
    means = reward_means(rows)
    values = [r["end"]["reward"]["total"] for r in RECORDS if r["env"] == "CART"]
    found = means[(means["group"].str.startswith("CART")) & (means["part"] == "reward")].iloc[0]
    half = statistics.stdev(values) / math.sqrt(len(values)) * 1.9818  # t with 109 degrees of freedom
    assert found["n"] == len(values) == 110
    assert found["mean"] == pytest.approx(statistics.mean(values))
    assert found["low"] == pytest.approx(statistics.mean(values) - half, abs=1e-4)
    table = reward_table(rows)
    assert table["tool_errors"].to_list() == [50, 50, 50] and set(table["turns"]) == {2}
    assert len(reward_table(lake.query("conversation_rewards", run_id="talk", grouping="difficulty"))) == len(
        {difficulty for _, difficulty in groups}
    )


def test_shortfalls_by_hand(tmp_path: Path) -> None:
    journey = conversation(3, "PD", correct=False)
    journey["env"] = "JOURNEY"
    journey["end"]["verdict"]["parts"] = {"PD": 0.86, "PD.ndcg": 0.9, "CART": 0.5, "CART.overspend": 0.0}
    barred = conversation(4, "CART", violation="invalid_tool_call")
    records = [
        conversation(0, "CART", correct=False),
        conversation(1, "CART"),
        conversation(2, "PD", correct=False),
    ]
    write_conversations(tmp_path / "talk", [*records, journey, barred])
    parts = Conversations([tmp_path], tmp_path / "lake").query("conversation_wrong_parts", run_id="talk")
    table = shortfalls(parts).set_index(["env_id", "part_id"])
    told = {key: (row["short"], row["n"]) for key, row in table.to_dict("index").items()}
    assert told == {
        ("PD", "ndcg"): (1, 1),
        ("PD", "best_share"): (1, 1),
        ("PD", "out_of_stock_share"): (1, 1),
        ("CART", "f1"): (1, 2),  # the barred episode's verdict is right
        ("CART", "missing_units"): (1, 2),
        ("CART", "extra_units"): (1, 2),
        ("JOURNEY", "PD.ndcg"): (1, 1),  # 0.86 is no less than 95% of the 0.9 that product discovery gives
        ("JOURNEY", "CART"): (1, 1),
    }
    assert short_episodes(parts, "missing_units") == {"episode-000000"}


def test_a_record_as_a_reader_sees_it() -> None:
    record = conversation(0)
    turns = read_turns(record)
    assert [call.outcome for turn in turns for call in turn.calls] == [
        "1 result",
        "refused: I look for a kettle.",
    ]
    assert turns[0].user is not None and turns[0].user.act == "clarify" and turns[1].latency_ms == 4.0
    assert answer_lines(turns[1].answer, shown_titles(record)) == [
        "recommends P1: I look for a kettle., $9.50",
        "recommends P9: never shown by a tool",
    ]
    assert [(fact.name, fact.told) for fact in facts(record)] == [
        ("wish:price", "at once"),
        ("wish:color", "after turn 1"),
        ("wish:secret", ""),
    ]
    assert reward_sum(record).endswith("= 0.725")
    barred = conversation(0, violation="denied_category")
    assert reward_sum(barred).startswith("−1 for the violation (denied category)")


@pytest.mark.parametrize("odd", [None, 5, "x", [], [None, 5], {"a": 1}])
def test_any_part_of_a_record_may_be_something_else(odd: Any) -> None:
    for name in conversation(0):
        record = conversation(0) | {name: odd}
        read_turns(record)
        facts(record)
        shown_titles(record)
        assert isinstance(reward_sum(record), str)
