"""The bundled agents on the bundled catalogue: bounds, course of the demo, and a mix of failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shopsim.engine import Engine, open_engine
from shopsim.pipeline.prepare import prepare
from shopsim.rollout.agents import SKILLS, agent_spec, build_agent
from shopsim.rollout.demo import DEMO_SEED
from shopsim.rollout.episode import EpisodeSettings, run_episode
from shopsim.rollout.jobs import make_jobs
from shopsim.rollout.summary import summarize
from shopsim.settings import CorpusSettings, Settings
from shopsim.tasks.solutions import solver_for

RAW = Path(__file__).resolve().parents[3] / "data" / "raw"


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    workspace = tmp_path_factory.mktemp("bundled")
    corpus = CorpusSettings(
        raw_archive=str(RAW / "products.raw.json.gz"), annotations=str(RAW / "price_annotations.jsonl")
    )
    settings = Settings(workspace=workspace, corpus=corpus)
    prepare(settings)
    with open_engine(settings) as engine:
        yield engine


def play(engine: Engine, name: str) -> list[dict[str, Any]]:
    jobs = make_jobs(engine.splits.ids("test"), split="test", seed=DEMO_SEED)
    settings = EpisodeSettings(True, "single_turn", 30, {})
    agent = build_agent(agent_spec(name), engine)
    return [run_episode(engine.new_env(), agent, job, settings) for job in jobs]


def test_the_demo_has_a_hundred_tasks(bundled: Engine) -> None:
    assert len(bundled.splits.ids("test")) >= 100


def test_the_oracle_succeeds_exactly_where_success_is_possible(bundled: Engine) -> None:
    solver = solver_for(bundled.corpus, bundled.terms)
    for record in play(bundled, "oracle"):
        goal = bundled.goals.get(record["job"]["task_id"])
        expected = 1.0 if solver.is_satisfiable(goal) else 0.0
        assert record["final"]["reward_detail"]["r_success"] == expected, goal.task_id
        assert record["steps"][0]["action"].startswith("search[")


def test_chance_stays_under_five_percent(bundled: Engine) -> None:
    assert summarize(play(bundled, "random"))["primary"]["success_rate"] < 0.05


def test_the_stages_take_a_plausible_course(bundled: Engine) -> None:
    records = {label: play(bundled, f"shopper-{label}") for label in SKILLS}
    summaries = [summarize(episodes) for episodes in records.values()]
    success = [summary["primary"]["success_rate"] for summary in summaries]
    assert success[0] < 0.4
    assert success[-1] > 0.5  # what a wish and a persona leave open bounds any shopper without the goal
    assert success[-1] - success[0] > 0.25
    assert success[0] < success[2] < success[4]
    for rate in ("invalid_action_rate", "protocol_error_rate"):
        values = [summary["behavior"][rate] for summary in summaries]
        assert values[0] > values[2] > values[4]
    endings: Counter[str] = Counter()
    for summary in summaries:
        endings.update(summary["behavior"]["termination_reasons"])
    assert set(endings) == {"purchase", "action_limit", "generation_length"}
    for label, episodes in records.items():
        assert any(searches(record) > 1 for record in episodes), label
    several = [sum(searches(record) > 1 for record in episodes) for episodes in records.values()]
    assert several[0] < several[2] < several[4]
    missed = [record["final"]["reward_detail"] for episodes in records.values() for record in episodes]
    for component in ("r_type", "r_att", "r_option", "r_price"):
        assert any(detail["r_loose"] > 0 and detail[component] < 1 for detail in missed), component
    right = ("r_type", "r_att", "r_option")
    assert any(all(d[part] == 1 for part in right) and d["r_price"] == 0 for d in missed), "over budget alone"


def searches(record: dict[str, Any]) -> int:
    return sum(str(step.get("action") or "").startswith("search[") for step in record["steps"])
