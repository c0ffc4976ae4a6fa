"""Replay verification: true records come out identical, every tampering is named."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from shopsim.engine import Engine, open_engine
from shopsim.jsonl import LineWriter
from shopsim.rollout.recorder import PlayRecorder
from shopsim.rollout.verify import check_episode
from tests.factories.tiny_workspace import tiny_workspace

BUY = (
    "search[迷你小冰箱]",
    "click[nowhere]",
    "click[600000000001]",
    "click[颜色分类=月光白]",
    "click[套餐类型=官方标配]",
    "click[buy now]",
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with open_engine(tiny_workspace(tmp_path_factory.mktemp("verify") / "home")) as opened:
        yield opened


def recorded(engine: Engine, task: int, *actions: str, persona: bool = True) -> dict[str, Any]:
    """The saved record of a play of ``actions``."""
    play = PlayRecorder(engine, task, persona=persona)
    for action in actions:
        play.act(action)
    saved = play.save("verify")
    record: dict[str, Any] = next(
        entry for entry in _records(saved.folder) if entry["episode_id"] == saved.episode_id
    )
    return record


def _records(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "traces.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("persona", [True, False])
def test_a_true_record_is_identical(engine: Engine, persona: bool) -> None:
    check = check_episode(engine, recorded(engine, 0, *BUY, persona=persona))
    assert check.identical and check.differences == () and check.steps == len(BUY)


def test_free_text_and_an_action_limit_replay_too(engine: Engine) -> None:
    record = recorded(engine, 7, "我想想", *["click[nowhere]"] * 29)
    assert record["final"]["termination_reason"] == "action_limit"
    assert check_episode(engine, record).identical


def _set(*path: Any) -> Callable[[dict[str, Any]], None]:
    *keys, last, value = path

    def change(record: dict[str, Any]) -> None:
        target: Any = record
        for key in keys:
            target = target[key]
        target[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "step", "field"),
    [
        (_set("final", "reward", 0.5), None, "reward"),
        (_set("final", "reward_detail", "r_att", 0.5), None, "reward_detail.r_att"),
        (_set("final", "reward_detail", "target_asin_match", 1), None, "reward_detail.target_asin_match"),
        (_set("final", "purchase", "price", 1.0), None, "purchase.price"),
        (_set("final", "goal", "attributes", ["金色"]), None, "goal.attributes"),
        (_set("steps", 1, "observation", "别的页面\n"), 2, "observation"),
        (_set("steps", 1, "environment", "action_feedback", "valid", True), 2, "action_feedback.valid"),
        (
            _set("steps", 0, "environment", "observation_state", "total_results", 99),
            1,
            "observation_state.total_results",
        ),
        (_set("reset", "task_instruction", "别的"), 0, "task_instruction"),
    ],
)
def test_every_tampering_is_named(
    engine: Engine, change: Callable[[dict[str, Any]], None], step: int | None, field: str
) -> None:
    record = copy.deepcopy(recorded(engine, 0, *BUY))
    change(record)
    check = check_episode(engine, record)
    assert not check.identical
    assert (step, field) in [(entry.step, entry.field) for entry in check.differences]


def test_another_wording_is_told_apart(engine: Engine) -> None:
    record = copy.deepcopy(recorded(engine, 0, *BUY))
    said = record["steps"][1]["environment"]["action_feedback"]["message"]
    record["steps"][1]["environment"]["action_feedback"]["message"] = "换一种说法。"
    record["steps"][2]["observation"] = record["steps"][2]["observation"].replace(said, "换一种说法。")
    check = check_episode(engine, record)
    assert check.identical
    assert {entry.kind for entry in check.differences} == {"wording"} and len(check.differences) == 2


def test_the_recorded_budget_counts(engine: Engine) -> None:
    """A record scored under a limit that our parser would not read is still right by its own limit."""
    record = copy.deepcopy(recorded(engine, 0, *BUY))
    final = record["final"]
    final["goal"]["price_upper"] = final["reward_detail"]["price_upper"] = 100.0
    final["reward_detail"] |= {"r_price": 0.0, "r_strict": 0.0, "r_success": 0.0}
    final["reward_detail"]["r_loose"] = 4 / 5
    final["reward"] = record["steps"][-1]["environment"]["reward"] = 0.0
    assert check_episode(engine, record).identical


def test_what_cannot_be_replayed_says_why(engine: Engine) -> None:
    record = copy.deepcopy(recorded(engine, 0, *BUY))
    record["provenance"]["environment"]["product_data_sha256"] = "0" * 64
    assert "recorded on catalogue 000000000000" in str(check_episode(engine, record).skipped)
    del record["provenance"]["environment"]["product_data_sha256"]
    planned = {"product_data_sha256": "1" * 64}  # the manifest tells what the record does not
    assert "recorded on catalogue 111111111111" in str(check_episode(engine, record, planned).skipped)
    assert check_episode(engine, record).skipped is None
    record = copy.deepcopy(recorded(engine, 0, *BUY))
    record["job"]["task_id"] = 999
    assert "not in this corpus" in str(check_episode(engine, record).skipped)
    record["final"] = None
    assert check_episode(engine, record).skipped == "the episode has no final answer"


def test_a_record_longer_than_the_engine_goes(engine: Engine) -> None:
    record = copy.deepcopy(recorded(engine, 0, *BUY))
    record["steps"].append(copy.deepcopy(record["steps"][0]))
    check = check_episode(engine, record)
    assert not check.identical and check.differences[-1].field == "replay"


def test_it_is_the_writer_that_is_checked(engine: Engine, tmp_path: Path) -> None:
    """A record that went through the trace file is what is replayed: nothing is lost on the way."""
    record = recorded(engine, 0, *BUY)
    with LineWriter(tmp_path / "traces.jsonl") as writer:
        writer.append(record)
    assert check_episode(engine, _records(tmp_path)[0]).identical
