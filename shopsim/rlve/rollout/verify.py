"""Replay verification: the recorded responses, played again, must give the very same record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from shopsim.errors import ShopSimError, UsageError
from shopsim.jsonio import canonical_json
from shopsim.rlve.curriculum import Curriculum
from shopsim.rlve.rollout.draws import Course
from shopsim.rlve.rollout.plan import CURRICULUM_FILE, EPISODES_FILE, read_plan
from shopsim.rlve.rollout.records import (
    episode_id,
    read_episodes,
    recorded_verbaliser,
    replay,
    without_timing,
)
from shopsim.rollout.manifest import plan_differences
from shopsim.settings import RlveSettings

if TYPE_CHECKING:
    from shopsim.rlve.rollout.records import Draw
    from shopsim.rlve.shop import Shop

__all__ = ["RunCheck", "recorded_settings", "verify_run"]

_MOST_DIFFERENCES: Final = 8


@dataclass(frozen=True, slots=True)
class RunCheck:
    """One episode, or the saved curriculum at the end; ``differences`` are fields that come out otherwise."""

    subject: str
    differences: tuple[str, ...]
    missing: bool = False
    """There is no whole record to replay; the difference says so."""

    @property
    def identical(self) -> bool:
        """Whether everything came out bit for bit."""
        return not self.differences


def recorded_settings(plan: Mapping[str, Any], settings: RlveSettings) -> RlveSettings:
    """``settings`` with what the run was recorded with: collection, disclosure, denied categories."""
    environment = plan["environment"]
    return settings.model_copy(
        update={
            "collection": environment["collection"],
            "disclose": environment["disclose"],
            "denied_categories": tuple(environment["denied_categories"]),
        }
    )


def verify_run(shop: Shop, folder: Path) -> Iterator[RunCheck]:
    """Replay every episode of a run, in order, and at last compare the saved curriculum.

    ``shop`` must have :func:`recorded_settings`. Raises :class:`~shopsim.errors.UsageError` when its
    products are others than those of the run. Episodes that are missing are named as a difference.
    """
    plan = read_plan(folder)
    recorded, here = plan["environment"]["catalogue_sha256"], shop.catalogue.sha256
    if recorded != here:
        raise UsageError(
            f"{folder}: recorded on catalogue {recorded[:12]}..., the one at hand is {here[:12]}...",
            hint="Set rlve.catalogue to the one of the run.",
        )
    course, index = Course(plan), read_episodes(folder / EPISODES_FILE)
    while draws := course.batch(plan["episodes"]):
        for draw in draws:
            name = episode_id(draw.episode)
            if name not in index.complete_ids:
                gone = ("no complete record: the run was cut off; the rest is not checked",)
                yield RunCheck(name, gone, missing=True)
                return
            record = index.read(name)
            yield RunCheck(name, tuple(_differences(shop, draw, record)))
            course.record(draw, record["end"])
    yield RunCheck(CURRICULUM_FILE, tuple(_curriculum_differences(folder, course.curriculum)))


def _differences(shop: Shop, draw: Draw, record: Mapping[str, Any]) -> list[str]:
    before = without_timing(record)
    drawn = plan_differences({name: record.get(name) for name in draw.to_wire()}, draw.to_wire())
    if drawn:
        return drawn
    try:
        env = shop.new_env(verbaliser=recorded_verbaliser(record))
        after = without_timing(replay(env, record, draw))
    except ShopSimError as error:
        return [f"replay: {error}"]
    if canonical_json(before) == canonical_json(after):
        return []
    return plan_differences(before, after)[:_MOST_DIFFERENCES] or ["the JSON differs"]


def _curriculum_differences(folder: Path, expected: Curriculum) -> list[str]:
    path = folder / CURRICULUM_FILE
    if not path.exists():
        return ["the file is missing"]
    return plan_differences(Curriculum.load(path).to_wire(), expected.to_wire())
