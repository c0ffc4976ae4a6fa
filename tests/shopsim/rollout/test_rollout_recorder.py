"""Sandbox plays: a person's actions become an episode of a growing run, from several processes at once."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import pytest

from shopsim.engine import Engine, open_engine
from shopsim.errors import UsageError
from shopsim.rollout.manifest import plan_fingerprint, read_manifest
from shopsim.rollout.recorder import PlayRecorder
from shopsim.rollout.trace import is_complete, read_records
from shopsim.settings import Settings
from tests.factories.tiny_workspace import tiny_workspace

ACTIONS = ("search[明前龙井]", "click[600000000004]", "click[净含量=250g]", "click[buy now]")


def finished(engine: Engine, *, task_id: int = 3, persona: bool = True) -> PlayRecorder:
    play = PlayRecorder(engine, task_id, persona=persona)
    for action in ACTIONS:
        play.act(action)
    return play


def test_a_play_becomes_a_complete_episode(engine: Engine) -> None:
    play = finished(engine)
    saved = play.save("probe")
    assert saved.folder.name == "sandbox-probe"
    record = read_records(saved.folder / "traces.jsonl").read(saved.episode_id)
    assert is_complete(record)
    assert record["final"]["reward"] == 1.0
    assert record["job"]["split"] == "sandbox"
    assert [step["action"] for step in record["steps"]] == list(ACTIONS)
    model = record["steps"][0]["model"]
    assert model["metadata"] == {"human": True}
    assert model["usage"]["total_tokens"] == 0
    assert model["tool_calls"][0]["arguments"] == {"query": "明前龙井"}
    assert record["provenance"]["model"]["provider"] == "human"
    assert json.loads((saved.folder / "summary.json").read_text())["primary"]["success_rate"] == 1.0


def test_what_was_typed_wrongly_is_recorded_as_such(engine: Engine) -> None:
    play = PlayRecorder(engine, 3)
    page = play.act("buy it")
    assert page["action_feedback"]["reason"] == "invalid_format"
    assert play.steps_left == 29
    for action in ACTIONS:
        play.act(action)
    saved = play.save("typed")
    first = read_records(saved.folder / "traces.jsonl").read(saved.episode_id)["steps"][0]
    assert first["action"] is None
    assert first["model"]["content"] == "buy it"
    assert first["environment"]["action_feedback"]["valid"] is False


def test_the_job_list_grows_and_the_fingerprint_with_it(engine: Engine) -> None:
    saved = [finished(engine).save("probe") for _ in range(2)]
    saved.append(finished(engine, task_id=4).save("probe"))
    assert [item.episode_id[-3:] for item in saved] == ["000", "001", "000"]
    manifest = read_manifest(saved[0].folder / "manifest.json")
    assert [job["task_id"] for job in manifest["plan"]["jobs"]] == [3, 3, 4]
    assert manifest["plan_fingerprint"] == plan_fingerprint(manifest["plan"])
    assert len(read_records(saved[0].folder / "traces.jsonl").entries) == 3


def test_plays_of_another_kind_go_to_a_folder_of_their_own(engine: Engine) -> None:
    folders = [finished(engine, persona=persona).save("probe").folder.name for persona in (True, False, True)]
    assert folders == ["sandbox-probe", "sandbox-probe-2", "sandbox-probe"]


def test_saving_twice_is_one_save_and_an_open_play_cannot_be_saved(engine: Engine) -> None:
    play = finished(engine)
    assert play.save("probe") == play.save("probe")
    assert len(read_records(play.save("probe").folder / "traces.jsonl").entries) == 1
    with pytest.raises(UsageError, match="not ended"):
        PlayRecorder(engine, 3).save("probe")
    with pytest.raises(UsageError, match="experiment name"):
        finished(engine).save("../x")


def test_a_play_opened_again_by_its_link_is_saved_once(engine: Engine) -> None:
    first = finished(engine).save("probe", once=True)
    again = finished(engine).save("probe", once=True)
    assert (again.folder, again.episode_id) == (first.folder, first.episode_id)
    assert again.before and not first.before
    assert len(read_records(first.folder / "traces.jsonl").entries) == 1
    assert len(read_manifest(first.folder / "manifest.json")["plan"]["jobs"]) == 1
    other = PlayRecorder(engine, 3)
    for action in ("buy it", *ACTIONS):
        other.act(action)
    assert not other.save("probe", once=True).before
    assert not finished(engine, task_id=4).save("probe", once=True).before
    assert not finished(engine).save("another", once=True).before


@pytest.mark.parametrize("name", ["", "  "])
def test_a_play_needs_a_name(engine: Engine, name: str) -> None:
    with pytest.raises(UsageError, match="under a name"):
        finished(engine).save(name)
    assert not list(engine.settings.runs_root.glob("*"))


def _save_some(settings: Settings, count: int) -> None:
    with open_engine(settings) as engine:
        for _ in range(count):
            finished(engine).save("shared")


def test_several_processes_save_into_one_run(tmp_path: Path) -> None:
    settings = tiny_workspace(tmp_path / "tiny")
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_save_some, args=(settings, 6)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    folder = settings.runs_root / "sandbox-shared"
    index = read_records(folder / "traces.jsonl")
    assert index.counts()["records"] == len(index.entries) == 12
    assert len(read_manifest(folder / "manifest.json")["plan"]["jobs"]) == 12
