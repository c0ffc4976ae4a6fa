"""Builder of episode records, manifests and run folders as spec 04 A describes them.

``episode_record(task_id, outcome="wrong_option")`` is one believable episode; :class:`Episode` lets a test
write its own path step by step. ``write_run(folder, records)`` writes manifest and traces. The goal of
task ``n`` is invented product ``n``; its shelf neighbours ``n+1, n+2 ...`` are what else a search shows.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from shopsim import formats
from shopsim.jsonio import canonical_json, sha256_text
from tests.factories.episodes import Episode, episode_id, job, provenance

__all__ = ["OUTCOMES", "Episode", "episode_id", "episode_record", "run_manifest", "sample_run", "write_run"]

OUTCOMES = (
    "success",
    "wrong_option",
    "wrong_product",
    "missing_attribute",
    "over_budget",
    "action_limit",
    "generation_length",
    "failed",
)


def episode_record(
    task_id: int = 0,
    sample_id: int = 0,
    outcome: str = "success",
    *,
    budget: float | None = 100.0,
    **changes: Any,
) -> dict[str, Any]:
    """One believable episode that ends as ``outcome`` (one of :data:`OUTCOMES`)."""
    episode = Episode(task_id, sample_id, budget=budget)
    goal = episode.goal
    colour, size = goal["goal_options"]
    if outcome == "failed":
        return episode.search(goal["name"]).fail().record(**changes)
    if outcome == "action_limit":
        episode.search("找不到的东西", [])
        for _ in range(3):
            episode.invalid("click[next >]")
        return episode.end("action_limit").record(**changes)
    if outcome == "generation_length":
        return episode.search(goal["name"]).protocol_error().end("generation_length").record(**changes)
    other = outcome in ("wrong_product", "missing_attribute")
    episode.search(goal["name"][:12]).paginate(2).paginate(1)
    episode.open(task_id + 3).back("< prev").open(task_id + 1 if other else task_id)
    if outcome == "wrong_option":
        episode.select("颜色分类", "曜石黑").select("尺码", size).buy(r_option=0.5)
    elif outcome == "wrong_product":
        episode.select("颜色分类", colour).select("尺码", size).buy(r_type=0.5, r_att=0.5)
    elif outcome == "missing_attribute":
        episode.select("颜色分类", colour).select("尺码", size).buy(r_att=0.5)
    else:
        episode.select("颜色分类", colour).invalid().select("尺码", size)
        episode.buy(r_price=0.0 if outcome == "over_budget" else 1.0)
    return episode.record(**changes)


def run_manifest(
    experiment: str, jobs: Iterable[dict[str, Any]], *, checkpoint: str = "iter00", **plan: Any
) -> dict[str, Any]:
    """A manifest whose plan asks for ``jobs``; ``plan`` replaces plan fields."""
    source = provenance()
    body = {
        "pipeline_version": "shopsimrl-eval-v4",
        "experiment": experiment,
        "model_id": "example-4b",
        "model": source["model"] | {"checkpoint_id": checkpoint},
        "task_split": "test",
        "jobs": list(jobs),
        "environment": source["environment"],
        "runtime": {**source["runtime"], "concurrency": 8},
        "prompt": source["prompt"],
        "skills": {"provider": "none"},
    } | plan
    return {
        "schema_version": formats.MANIFEST_SCHEMA,
        "created_at": "2026-09-07T13:40:00+00:00",
        "plan_fingerprint": sha256_text(canonical_json(body)),
        "plan": body,
    }


def write_run(
    folder: Path, records: Sequence[dict[str, Any]], *, manifest: bool = True, pending: int = 0, **plan: Any
) -> Path:
    """Write ``manifest.json`` and ``traces.jsonl`` into ``folder``; ``pending`` jobs have no record yet."""
    folder.mkdir(parents=True, exist_ok=True)
    jobs = {json.dumps(record["job"]): record["job"] for record in records}
    asked = [*jobs.values(), *(job(900000 + k, 0, 7) for k in range(pending))]
    if manifest:
        text = json.dumps(run_manifest(folder.name, asked, **plan), ensure_ascii=False, indent=2)
        (folder / "manifest.json").write_text(text + "\n", encoding="utf-8")
    with (folder / "traces.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    return folder


def sample_run(folder: Path, *, tasks: int = 20, success: float = 0.5, seed: int = 1, **plan: Any) -> Path:
    """Write a run of ``tasks`` episodes of which about ``success`` succeed; others end in every way."""
    source = random.Random(seed)
    failures = OUTCOMES[1:]
    records = []
    for task_id in range(0, 10 * tasks, 10):
        outcome = "success" if source.random() < success else failures[source.randrange(len(failures))]
        budget = None if task_id % 40 == 0 else 100.0
        records.append(episode_record(task_id, outcome=outcome, budget=budget))
    return write_run(folder, records, **plan)
