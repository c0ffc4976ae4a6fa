"""Runs: what lies in a folder, resume, growth, batches, and a curriculum that climbs or stays."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shopsim.errors import UsageError
from shopsim.locking import RunLockedError
from shopsim.rlve.agents import AgentSpec, Endpoint
from shopsim.rlve.curriculum import Curriculum
from shopsim.rlve.rollout import open_run, read_plan, summarize, summarize_run
from shopsim.rlve.shop import Shop
from shopsim.rollout.manifest import ManifestError, PlanMismatchError
from tests.factories.chat_endpoint import chat_server, completion
from tests.factories.rlve_review import conversation
from tests.factories.rlve_runs import QUICK, collecting, content, differing, request, run


@pytest.fixture
def shop(rlve_shop: Shop) -> Shop:
    """Three quick environments."""
    return collecting(rlve_shop, ",".join(QUICK))


def test_a_folder_holds_manifest_episodes_and_curriculum(shop: Shop, tmp_path: Path) -> None:
    folder = run(shop, tmp_path, request())
    names = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    assert names == {"rlve_manifest.json", "rlve_episodes.jsonl", "rlve_curriculum.json"}
    plan = read_plan(folder)
    assert plan["environment"]["environments"] == list(QUICK)
    assert plan["environment"]["catalogue_sha256"] == shop.catalogue.sha256
    assert (plan["model"]["provider"], plan["model"]["simulated"]) == ("scripted", True)
    record = content(folder)[3]
    assert (record["schema_version"], record["episode_id"]) == ("ecomrlve-episode-v1", "episode-000003")
    assert {"env", "difficulty", "window", "seed", "conversation", "opening", "turns", "end", "private"} <= (
        record.keys()
    )
    assert {"target", "facts", "persona", "world"} <= record["private"].keys()
    turn = record["turns"][0]
    assert {"response", "action", "parse_error", "tool_results", "user"} <= turn.keys()
    assert record["conversation"][0] == {"role": "user", "content": record["opening"]["text"]}
    saved = Curriculum.load(folder / "rlve_curriculum.json")
    assert saved.episodes == 40


def test_the_same_run_twice_is_the_same(shop: Shop, tmp_path: Path) -> None:
    first, second = (run(shop, tmp_path / name, request()) for name in "ab")
    assert content(first) == content(second)
    assert content(first) != content(run(shop, tmp_path / "c", request(seed=8)))


def test_an_interrupted_run_goes_on_as_if_nothing_had_happened(shop: Shop, tmp_path: Path) -> None:
    whole = run(shop, tmp_path / "whole", request())
    cut = run(shop, tmp_path / "cut", request(), stop_after=17)
    assert len(content(cut)) == 17
    assert Curriculum.load(cut / "rlve_curriculum.json").episodes == 17
    with pytest.raises(UsageError, match="17 episodes"):
        run(shop, tmp_path / "cut", request())
    run(shop, tmp_path / "cut", request(), resume=True)
    assert content(cut) == content(whole)
    assert (cut / "rlve_curriculum.json").read_bytes() == (whole / "rlve_curriculum.json").read_bytes()


def test_a_torn_line_is_played_again(shop: Shop, tmp_path: Path) -> None:
    whole = run(shop, tmp_path / "whole", request())
    torn = run(shop, tmp_path / "torn", request(), stop_after=12)
    path = torn / "rlve_episodes.jsonl"
    data = path.read_bytes()
    path.write_bytes(data[:-200])
    assert "episode-000011" in differing(shop, torn)
    run(shop, tmp_path / "torn", request(), resume=True)
    assert content(torn) == content(whole)
    assert summarize_run(torn)["trace_index"]["invalid_lines"] == 1
    assert differing(shop, torn) == {}


def test_a_hole_in_the_middle_is_filled(shop: Shop, tmp_path: Path) -> None:
    whole = run(shop, tmp_path, request())
    records = content(whole)
    path = whole / "rlve_episodes.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:5], b"{}\n", *lines[6:]]))
    run(shop, tmp_path, request(), resume=True)
    assert sorted(content(whole), key=lambda record: record["episode"]) == records
    assert differing(shop, whole) == {}


def test_a_run_can_be_made_longer_but_is_never_cut(shop: Shop, tmp_path: Path) -> None:
    whole = content(run(shop, tmp_path / "whole", request()))
    folder = run(shop, tmp_path / "grown", request(episodes=15))
    run(shop, tmp_path / "grown", request(), resume=True)
    assert content(folder) == whole
    assert read_plan(folder)["episodes"] == 40
    with open_run(shop, tmp_path / "grown", request(episodes=5), resume=True) as opened:
        assert (opened.kept, opened.pending) == (40, 0)
        assert list(opened.play()) == []
    assert read_plan(folder)["episodes"] == 40
    assert differing(shop, folder) == {}


def test_a_batch_is_drawn_together_and_may_be_cut_anywhere(shop: Shop, tmp_path: Path) -> None:
    whole = run(shop, tmp_path / "whole", request(batch=8))
    cut = run(shop, tmp_path / "cut", request(batch=8), stop_after=11)
    run(shop, tmp_path / "cut", request(batch=8), resume=True)
    assert content(cut) == content(whole)
    assert differing(shop, whole) == {}
    assert content(whole) != content(run(shop, tmp_path / "single", request()))


def test_episodes_of_a_batch_ask_an_endpoint_at_the_same_time(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    together = threading.Barrier(4, timeout=20)

    def answer(request: dict[str, Any]) -> tuple[int, Any]:
        together.wait()  # breaks, and the endpoint with it, unless four requests are there at once
        return 200, completion('{"answer": {"done": true}}')

    with chat_server() as server:
        server.answer = answer
        model = AgentSpec("openai", endpoint=Endpoint(server.base_url, "tiny", retries=0, timeout_seconds=30))
        wanted = replace(request(episodes=8, batch=4), agent=model)
        folder = run(shop, tmp_path, wanted)
    assert [record["episode"] for record in content(folder)] == list(range(8))
    assert differing(shop, folder) == {}


@pytest.mark.parametrize("other", [{"seed": 8}, {"batch": 2}, {"difficulty": 3}, {"agent": "oracle"}])
def test_another_run_is_never_mixed_in(shop: Shop, tmp_path: Path, other: dict[str, Any]) -> None:
    folder = run(shop, tmp_path, request(episodes=3))
    before = (folder / "rlve_episodes.jsonl").read_bytes()
    with pytest.raises(PlanMismatchError, match=next(iter(other)).replace("agent", "model")):
        run(shop, tmp_path, request(episodes=3, **other), resume=True)
    assert (folder / "rlve_episodes.jsonl").read_bytes() == before


def test_other_products_and_collections_are_another_run(rlve_shop: Shop, tmp_path: Path) -> None:
    run(collecting(rlve_shop, "POLICY"), tmp_path, request(episodes=2))
    with pytest.raises(PlanMismatchError, match="collection"):
        run(collecting(rlve_shop, "STATUS"), tmp_path, request(episodes=2), resume=True)


def test_one_writer_a_folder(shop: Shop, tmp_path: Path) -> None:
    with open_run(shop, tmp_path, request()), pytest.raises(RunLockedError):
        run(shop, tmp_path, request())


def test_episodes_without_a_manifest_are_refused(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "probe").mkdir()
    (tmp_path / "probe" / "rlve_episodes.jsonl").write_text("")
    with pytest.raises(UsageError, match="no manifest"):
        run(shop, tmp_path, request())
    with pytest.raises(ManifestError, match="schema_version"):
        (tmp_path / "probe" / "rlve_manifest.json").write_text("{}")
        run(shop, tmp_path, request())


@pytest.mark.parametrize("wrong", [{"episodes": 0}, {"batch": 0}, {"difficulty": -1}, {"experiment": "../x"}])
def test_a_request_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        request(**wrong)


# -- curriculum --------------------------------------------------------------------------------------


def test_the_curriculum_climbs_under_the_oracle(rlve_shop: Shop, tmp_path: Path) -> None:
    shop = collecting(rlve_shop, "POLICY")
    folder = run(shop, tmp_path, request("oracle", episodes=340))
    window = Curriculum.load(folder / "rlve_curriculum.json").window("POLICY")
    assert (window.low, window.high) == (0, 4)
    seen = [record["window"]["high"] for record in content(folder)]
    assert seen == sorted(seen)
    assert differing(shop, folder) == {}


def test_the_curriculum_stands_still_under_chance(shop: Shop, tmp_path: Path) -> None:
    folder = run(shop, tmp_path, request("random", episodes=120))
    saved = Curriculum.load(folder / "rlve_curriculum.json")
    assert {(saved.window(env).low, saved.window(env).high) for env in QUICK} == {(0, 0)}
    assert {record["difficulty"] for record in content(folder)} == {0}


def test_a_fixed_difficulty_moves_no_window(shop: Shop, tmp_path: Path) -> None:
    folder = run(shop, tmp_path, request("oracle", difficulty=2, episodes=20))
    assert Curriculum.load(folder / "rlve_curriculum.json").episodes == 0
    assert {record["difficulty"] for record in content(folder)} == {2}
    assert {record["window"] for record in content(folder)} == {None}


# -- summaries ---------------------------------------------------------------------------------------


def test_a_summary_counts_what_the_records_say(shop: Shop, tmp_path: Path) -> None:
    folder = run(shop, tmp_path, request())
    records, summary = content(folder), summarize_run(folder)
    overall = summary["overall"]
    assert overall["episodes"] == len(records) == 40
    assert overall["correct"] == sum(record["end"]["correct"] for record in records)
    mean = sum(record["end"]["reward"]["total"] for record in records) / 40
    assert overall["reward_mean"] == pytest.approx(mean)
    assert sum(group["episodes"] for group in summary["by_env"].values()) == 40
    assert sum(level["episodes"] for level in summary["by_difficulty"]) == 40
    assert sum(overall["terminations"].values()) == 40
    assert summary["trace_index"]["requested"] == 40
    assert set(summary["curriculum"]) == set(QUICK)


def test_a_summary_counts_the_facts_that_were_known_and_told() -> None:
    first, second = conversation(0, "PD", 0), conversation(1, "CART", 3)
    second["end"]["told"] = ["wish:price"]
    summary = summarize([first, second])
    assert (summary["overall"]["facts"], summary["overall"]["facts_told"]) == (6, 3)
    assert {env: (group["facts"], group["facts_told"]) for env, group in summary["by_env"].items()} == {
        "PD": (3, 2),
        "CART": (3, 1),
    }
    assert [
        (level["env"], level["difficulty"], level["facts_told"]) for level in summary["by_difficulty"]
    ] == [
        ("CART", 3, 1),
        ("PD", 0, 2),
    ]


def test_facts_of_a_journey_are_those_of_its_parts(rlve_shop: Shop, tmp_path: Path) -> None:
    """Names of parts that were brought up are among what was told, and are no facts."""
    shop = collecting(rlve_shop, "JOURNEY")
    folder = run(shop, tmp_path, request("random", difficulty=6, episodes=6))
    known = told = 0
    for record in content(folder):
        names = {
            f"{part['env']}/{fact['name']}" for part in record["private"]["parts"] for fact in part["facts"]
        }
        known += len(names)
        told += len(names.intersection(record["end"]["told"]))
        assert not record["private"]["facts"]
        assert len(names.intersection(record["end"]["told"])) < len(record["end"]["told"])
    overall = summarize_run(folder)["overall"]
    assert (overall["facts"], overall["facts_told"]) == (known, told)
    assert 0 < told < known


def test_who_asks_is_told_everything_and_who_does_not_is_told_less(rlve_shop: Shop, tmp_path: Path) -> None:
    shop = collecting(rlve_shop, "BUNDLE")
    asks, silent = (
        summarize_run(run(shop, tmp_path / agent, request(agent, difficulty=9, episodes=8)))["overall"]
        for agent in ("oracle", "random")
    )
    assert asks["facts_told"] == asks["facts"] > 0
    assert silent["facts_told"] < silent["facts"] == asks["facts"]


def test_a_summary_of_nothing_has_no_means() -> None:
    overall = summarize([])["overall"]
    assert (overall["facts"], overall["facts_told"]) == (0, 0)
    assert (overall["episodes"], overall["correct_rate"], overall["reward_mean"]) == (0, None, None)
