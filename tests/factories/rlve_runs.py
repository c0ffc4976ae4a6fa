"""Runs of the conversation environments for tests: play one, read it, replay it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from shopsim.rlve.agents import agent_spec
from shopsim.rlve.rollout import (
    RunRequest,
    UserVoice,
    open_run,
    read_episodes,
    read_plan,
    recorded_settings,
    verify_run,
)
from shopsim.rlve.rollout.records import without_timing
from shopsim.rlve.rollout.runner import TEMPLATES_VOICE
from shopsim.rlve.shop import Shop

__all__ = ["QUICK", "collecting", "content", "differing", "request", "run"]

QUICK = ("POLICY", "STATUS", "CART")
"""Environments whose episodes take little time."""


def collecting(shop: Shop, collection: str) -> Shop:
    return replace(shop, settings=shop.settings.model_copy(update={"collection": collection}))


def request(agent: str = "clerk-trained", **changes: Any) -> RunRequest:
    fields: dict[str, Any] = {"experiment": "probe", "agent": agent_spec(agent), "episodes": 40, "seed": 7}
    return RunRequest(**(fields | changes))


def run(
    shop: Shop,
    root: Path,
    wanted: RunRequest,
    *,
    voice: UserVoice = TEMPLATES_VOICE,
    resume: bool = False,
    stop_after: int | None = None,
) -> Path:
    with open_run(shop, root, wanted, voice=voice, resume=resume) as opened:
        records = opened.play()
        for number, _ in enumerate(records, start=1):
            if number == stop_after:
                records.close()
                break
    return root / wanted.experiment


def content(folder: Path) -> list[dict[str, Any]]:
    """The records in file order, without timing."""
    return [without_timing(record) for record in read_episodes(folder / "rlve_episodes.jsonl").latest()]


def differing(shop: Shop, folder: Path) -> dict[str, tuple[str, ...]]:
    plan = read_plan(folder)
    same = replace(shop, settings=recorded_settings(plan, shop.settings))
    return {check.subject: check.differences for check in verify_run(same, folder) if not check.identical}
