"""The demo of the conversations: played once, labelled as scripted, never over a run of somebody else."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Iterable
from pathlib import Path

import pytest

from shopsim.cli import app
from shopsim.cli.process import run_app
from shopsim.rlve import Curriculum, demo, demo_play
from shopsim.rlve.agents import agent_names
from shopsim.rlve.collections import ENVIRONMENTS
from shopsim.rlve.demo import DEMO_RUNS, demo_is_finished, run_demo
from shopsim.rlve.errors import DemoError
from shopsim.rlve.rollout import read_plan, recorded_settings, verify_run
from shopsim.rlve.shop import open_shop
from shopsim.rollout.manifest import PlanMismatchError, read_manifest, write_manifest
from shopsim.rollout.report import RunReport
from shopsim.settings import Settings, load_settings
from tests.factories.rlve_runs import content

SMALL_RANDOM = {"rlve-demo-random": ("random", 5)}
SMALL = {"rlve-demo-trained": ("clerk-trained", 12), **SMALL_RANDOM}


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "shopsim.toml").write_text("", encoding="utf-8")
    monkeypatch.setenv("SHOPSIM_HOME", str(tmp_path))
    monkeypatch.setattr(demo, "DEMO_RUNS", SMALL)
    return load_settings()


def counts(reports: list[RunReport]) -> list[tuple[str, int, int]]:
    return [(report.experiment, report.played, report.kept) for report in reports]


def bytes_of(settings: Settings) -> dict[str, bytes]:
    return {name: (settings.runs_root / name / "rlve_episodes.jsonl").read_bytes() for name in SMALL}


def rewrite_plan(folder: Path, **changes: object) -> None:
    path = folder / "rlve_manifest.json"
    manifest = read_manifest(path, schema="ecomrlve-run-manifest-v1")
    write_manifest(path, {**manifest["plan"], **changes}, schema=manifest["schema_version"])


def test_the_demo_has_every_scripted_agent_and_nobody_else() -> None:
    assert {agent for agent, _ in DEMO_RUNS.values()} == set(agent_names())


def test_nothing_is_played_twice(settings: Settings) -> None:
    assert not demo_is_finished(settings.runs_root)
    assert counts(run_demo(settings)) == [("rlve-demo-trained", 12, 0), ("rlve-demo-random", 5, 0)]
    assert demo_is_finished(settings.runs_root)
    before = bytes_of(settings)
    assert counts(run_demo(settings)) == [("rlve-demo-trained", 0, 12), ("rlve-demo-random", 0, 5)]
    assert bytes_of(settings) == before


def test_what_was_cut_off_is_played_to_its_end(settings: Settings) -> None:
    folder = run_demo(settings)[0].folder
    whole = content(folder)
    path = folder / "rlve_episodes.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:7]) + lines[7][:100])
    (folder / "rlve_curriculum.json").unlink()
    assert not demo_is_finished(settings.runs_root)
    assert counts(run_demo(settings)) == [("rlve-demo-trained", 5, 7), ("rlve-demo-random", 0, 5)]
    assert content(folder) == whole
    (folder / "rlve_curriculum.json").unlink()  # cut off between the last record and the curriculum
    assert counts(run_demo(settings))[0] == ("rlve-demo-trained", 0, 12)
    assert demo_is_finished(settings.runs_root)


def test_processes_change_nothing_but_the_time(settings: Settings) -> None:
    told: list[int] = []

    def progress(episodes: Iterable[int], label: str, total: int) -> Iterable[int]:
        told.extend(episodes)
        assert total == 17
        return []

    here = {report.folder: content(report.folder) for report in run_demo(settings)}
    run_demo(settings, force=True, concurrency=2, progress=progress)
    assert told == [1] * 17
    assert {folder: content(folder) for folder in here} == here


def test_an_interrupt_leaves_whole_episodes_and_no_process(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "DEMO_RUNS", {"rlve-demo-trained": ("clerk-trained", 150), **SMALL_RANDOM})

    def interrupted(episodes: Iterable[int], label: str, total: int) -> Iterable[int]:
        for _ in episodes:
            raise KeyboardInterrupt
        return ()

    with pytest.raises(KeyboardInterrupt):
        run_demo(settings, concurrency=2, progress=interrupted)
    assert multiprocessing.active_children() == []
    trained = run_demo(settings)[0]
    assert trained.kept and trained.kept + trained.played == 150
    assert [record["episode"] for record in content(trained.folder)] == list(range(150))


def test_a_worker_that_is_told_to_stop_ends_its_episode_and_no_more(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    played, stop = multiprocessing.Value("q", 0), multiprocessing.Event()
    stop.set()
    monkeypatch.setattr(demo_play, "follow_parent", lambda: None)
    demo_play._start_worker(settings, played, stop)  # type: ignore[arg-type]
    request = demo.demo_requests()[0]
    demo_play._work(request)
    folder = settings.runs_root / request.experiment
    assert (played.value, len(content(folder))) == (1, 1)
    assert Curriculum.load(folder / "rlve_curriculum.json").episodes == 1


def test_it_is_labelled_as_scripted_and_replays(settings: Settings) -> None:
    for report in run_demo(settings):
        plan = read_plan(report.folder)
        assert (plan["model"]["provider"], plan["model"]["simulated"]) == ("scripted", True)
        assert plan["model"]["model"].startswith("scripted-")
        assert plan["environment"]["environments"] == list(ENVIRONMENTS)
        shop = open_shop(settings, recorded_settings(plan, settings.rlve))
        assert all(check.identical for check in verify_run(shop, report.folder))


def test_a_stale_demo_says_what_to_do(settings: Settings) -> None:
    folder = run_demo(settings)[0].folder
    rewrite_plan(folder, environment={**read_plan(folder)["environment"], "catalogue_sha256": "0" * 64})
    with pytest.raises(PlanMismatchError, match=r"catalogue_sha256.*shopsim rlve demo --force"):
        run_demo(settings)
    assert run_demo(settings, force=True)[0].played == 12


def test_force_never_removes_a_run_of_somebody_else(settings: Settings) -> None:
    folder = run_demo(settings)[1].folder
    rewrite_plan(folder, model={"provider": "openai"})
    before = bytes_of(settings)
    with pytest.raises(DemoError, match="not a scripted run"):
        run_demo(settings, force=True)
    assert bytes_of(settings) == before


def test_a_run_that_was_made_longer_stays(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    run_demo(settings)
    longer = ["--agent", "random", "--name", "rlve-demo-random", "--seed", "20260901", "--episodes", "8"]
    assert run_app(app, ["rlve", "rollout", *longer, "--resume"]) == 0
    capsys.readouterr()
    assert counts(run_demo(settings))[1] == ("rlve-demo-random", 0, 8)


def test_the_command(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(app, ["rlve", "demo", "--concurrency", "1"]) == 0
    output = capsys.readouterr().out
    assert all(name in output for name in SMALL)
    assert "not trained models" in output
    assert run_app(app, ["rlve", "demo", "--json"]) == 0
    reports = json.loads(capsys.readouterr().out)
    assert [(report["played"], report["kept"]) for report in reports] == [(0, 12), (0, 5)]
    assert reports[0]["summary"]["model"]["simulated"]
