"""Replays: bit for bit, whoever played and whoever worded the user; every change of a record is found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shopsim.errors import UsageError
from shopsim.rlve.agents import Agent, AgentError, AgentReply, AgentSpec, EpisodeStart, OracleAgent
from shopsim.rlve.curriculum import CurriculumError
from shopsim.rlve.rollout import UserVoice, read_plan
from shopsim.rlve.rollout.runner import TracesMismatchError
from shopsim.rlve.shop import Shop
from shopsim.rlve.user import UserAct
from tests.factories.rlve_runs import QUICK, collecting, content, differing, request, run


@pytest.fixture
def shop(rlve_shop: Shop) -> Shop:
    """Three quick environments."""
    return collecting(rlve_shop, ",".join(QUICK))


def test_replays_come_out_bit_for_bit_in_all_environments(rlve_shop: Shop, tmp_path: Path) -> None:
    shop = collecting(rlve_shop, "C8")
    for agent in ("clerk-novice", "random"):
        folder = run(shop, tmp_path, request(agent, experiment=agent, difficulty=7, episodes=24))
        assert differing(shop, folder) == {}
        assert len({record["env"] for record in content(folder)}) > 5


def test_settings_of_the_run_count_in_its_replay(rlve_shop: Shop, tmp_path: Path) -> None:
    settings = rlve_shop.settings.model_copy(
        update={"collection": "POLICY,PD", "disclose": False, "denied_categories": ("Books",)}
    )
    folder = run(replace(rlve_shop, settings=settings), tmp_path, request("random", episodes=12))
    assert differing(rlve_shop, folder) == {}


# -- verification ------------------------------------------------------------------------------------


def changed(folder: Path, episode: int, change: Mapping[str, Any]) -> None:
    path = folder / "rlve_episodes.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[episode] = json.dumps({**json.loads(lines[episode]), **change}, ensure_ascii=False)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_every_change_of_a_record_is_found(shop: Shop, tmp_path: Path) -> None:
    folder = run(shop, tmp_path, request(episodes=6))
    record = content(folder)[2]
    reward = {**record["end"]["reward"], "total": 1.0}
    for change, field in (
        ({"conversation": []}, "conversation"),
        ({"end": {**record["end"], "reward": reward}}, "end.reward.total"),
        ({"private": {**record["private"], "request": "x"}}, "private.request"),
        ({"seed": 1}, "seed"),
        ({"turns": [{**record["turns"][0], "response": "{}"}]}, "turns"),
    ):
        changed(folder, 2, change)
        found = differing(shop, folder)
        assert list(found) == ["episode-000002"], change
        assert field in "; ".join(found["episode-000002"])
        changed(folder, 2, record)
    assert differing(shop, folder) == {}


def test_a_curriculum_that_does_not_follow_is_found(shop: Shop, tmp_path: Path) -> None:
    folder = run(shop, tmp_path, request(episodes=6))
    path = folder / "rlve_curriculum.json"
    state = json.loads(path.read_text())
    state["windows"]["CART"]["high"] = 1
    path.write_text(json.dumps(state))
    assert "windows.CART.high" in differing(shop, folder)["rlve_curriculum.json"][0]
    path.write_text("{}")
    with pytest.raises(CurriculumError):
        differing(shop, folder)
    path.unlink()
    assert differing(shop, folder)["rlve_curriculum.json"] == ("the file is missing",)


def test_a_record_of_another_draw_is_not_taken_for_ours(shop: Shop, tmp_path: Path) -> None:
    folder = run(shop, tmp_path, request(episodes=6), stop_after=4)
    changed(folder, 1, {"seed": 5})
    with pytest.raises(TracesMismatchError, match="episode-000001: seed"):
        run(shop, tmp_path, request(episodes=6), resume=True)


def test_other_products_cannot_be_verified_on(shop: Shop, tmp_path: Path) -> None:
    folder = run(shop, tmp_path, request(episodes=2))
    path = folder / "rlve_manifest.json"
    manifest = json.loads(path.read_text())
    manifest["plan"]["environment"]["catalogue_sha256"] = "0" * 64
    path.write_text(json.dumps(manifest))
    with pytest.raises(UsageError, match="recorded on catalogue"):
        differing(shop, folder)


# -- agents that fail, users that are reworded -------------------------------------------------------


class _Tired(OracleAgent):
    """Its endpoint is down after a few episodes."""

    begun = 0

    def begin(self, start: EpisodeStart) -> None:
        type(self).begun += 1
        super().begin(start)

    def act(self, observation: Mapping[str, Any]) -> AgentReply:
        if self.begun == 5:
            raise AgentError("the endpoint is down", hint="Start it.")
        return super().act(observation)


def test_an_agent_that_fails_loses_nothing(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def build(spec: AgentSpec) -> Agent:
        return _Tired()

    wanted = request("oracle", episodes=9)
    whole = content(run(shop, tmp_path / "whole", wanted))
    monkeypatch.setattr(AgentSpec, "build", build)
    with pytest.raises(AgentError, match="down"):
        run(shop, tmp_path / "cut", wanted)
    assert len(content(tmp_path / "cut" / "probe")) == 4
    assert content(run(shop, tmp_path / "cut", wanted, resume=True)) == whole


class _Shouting:
    def rewrite(self, text: str, act: UserAct) -> str:
        return text.replace("I ", "I really ")


def test_a_reworded_user_is_replayed_without_the_model(rlve_shop: Shop, tmp_path: Path) -> None:
    shop = collecting(rlve_shop, "CART,JOURNEY")
    voice = UserVoice({"provider": "openai", "model": "shouting"}, _Shouting)
    folder = run(shop, tmp_path, request(difficulty=6, episodes=8), voice=voice)
    records = content(folder)
    assert any("I really" in text for record in records for text in record["rewordings"])
    assert read_plan(folder)["user"]["model"] == "shouting"
    assert differing(shop, folder) == {}
