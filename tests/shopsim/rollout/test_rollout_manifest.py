"""Plans, their fingerprint, and when two plans are the same experiment."""

from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from shopsim.jsonio import FileError
from shopsim.rollout.agents import agent_spec
from shopsim.rollout.jobs import make_jobs
from shopsim.rollout.manifest import (
    ManifestError,
    PlanMismatchError,
    build_plan,
    check_same_plan,
    plan_differences,
    plan_fingerprint,
    read_manifest,
    write_manifest,
)


def plan(**changes: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "experiment": "probe",
        "model": agent_spec("shopper-iter00").to_model(),
        "jobs": make_jobs([3, 1], split="test", seed=7),
        "split": "test",
        "environment": {"environment_version": "v", "product_data_sha256": "ab"},
        "persona": True,
        "interaction_mode": "single_turn",
        "max_steps": 30,
        "concurrency": 2,
    }
    return build_plan(**(arguments | changes))


def test_the_plan_has_every_field_of_the_format_and_says_that_it_is_scripted() -> None:
    made = plan()
    assert list(made) == [
        "pipeline_version",
        "experiment",
        "model_id",
        "model",
        "task_split",
        "jobs",
        "environment",
        "runtime",
        "prompt",
        "skills",
    ]
    assert made["model"]["provider"] == "scripted"
    assert made["model"]["simulated"] is True
    assert made["model"]["skill"]["query_wording"] == "verbatim"
    assert made["environment"]["persona"] is True
    assert made["runtime"]["action_protocol"] == "openai-function-tools-repair-v3"


def test_the_fingerprint_is_the_hash_of_the_canonical_json() -> None:
    small = {"b": [1, {"ü": "静音"}], "a": None}
    text = '{"a":null,"b":[1,{"ü":"静音"}]}'
    assert plan_fingerprint(small) == hashlib.sha256(text.encode()).hexdigest()
    shuffled = json.loads(json.dumps(plan()))
    backwards = dict(reversed(shuffled.items()))
    assert plan_fingerprint(backwards) == plan_fingerprint(plan())


def test_concurrency_is_no_difference_and_everything_else_is() -> None:
    assert plan_differences(plan(), plan(concurrency=16)) == []
    assert plan_differences(plan(), plan(max_steps=31)) == ["runtime.max_steps (30 -> 31)"]
    longer = plan(jobs=make_jobs([3, 1, 4], split="test", seed=7))
    assert plan_differences(plan(), longer) == ["jobs (2 entries -> 3 entries)"]
    other = plan()
    other["jobs"] = [other["jobs"][0], {**other["jobs"][1], "seed": 99}]
    (told,) = plan_differences(plan(), other)
    assert told.startswith("jobs (2 entries -> 2 entries, 1 of them differ; entry 2: seed (")
    other = copy.deepcopy(plan())
    other["model"]["skill"]["pages_read"] = 9
    del other["skills"]
    assert plan_differences(plan(), other) == [
        "model.skill.pages_read (1 -> 9)",
        'skills.provider ("none" -> absent)',
    ]


def test_a_different_plan_is_refused_on_one_line(tmp_path: Path) -> None:
    changed = plan(persona=False, max_steps=5, experiment="x" * 100)
    with pytest.raises(PlanMismatchError) as caught:
        check_same_plan(tmp_path, plan(), changed)
    message = str(caught.value)
    assert "\n" not in message
    assert "environment.persona (true -> false)" in message
    assert "runtime.max_steps (30 -> 5)" in message
    check_same_plan(tmp_path, plan(), plan(concurrency=1))


def test_manifests_are_written_whole_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    written = write_manifest(path, plan(), created_at="2026-01-01T00:00:00+00:00")
    assert read_manifest(path) == json.loads(json.dumps(written))
    assert list(written) == ["schema_version", "created_at", "plan_fingerprint", "plan"]
    assert [item.name for item in tmp_path.iterdir()] == ["manifest.json"]


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("[]", ManifestError, "one JSON object"),
        ('{"schema_version": "other", "plan": {}}', ManifestError, "schema_version"),
        ('{"schema_version": "shopsimrl-run-manifest-v1", "plan": 3}', ManifestError, "plan"),
        ('{"schema_version": ', FileError, "line 1 column 20"),
    ],
)
def test_broken_manifests_are_named(tmp_path: Path, text: str, error: type[Exception], words: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(error, match=words) as caught:
        read_manifest(path)
    assert str(path) in str(caught.value)
