"""The plan of a run: who plays what, on which products, by which rules. Equal plans, equal episodes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from shopsim.errors import UsageError
from shopsim.formats import (
    RLVE_ENVIRONMENT_VERSION,
    RLVE_MANIFEST_SCHEMA,
    RLVE_OBSERVATION_VERSION,
    RLVE_REWARD_VERSION,
)
from shopsim.rlve.collections import collection
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.runfiles import CURRICULUM_FILE, EPISODES_FILE, MANIFEST_FILE
from shopsim.rollout.folder import MANIFEST_FILE as SHOPPING_MANIFEST
from shopsim.rollout.folder import SUMMARY_FILE, TRACES_FILE, checked_name
from shopsim.rollout.manifest import ANOTHER_NAME, check_same_plan, read_manifest, write_manifest

if TYPE_CHECKING:
    from shopsim.rlve.agents import AgentSpec
    from shopsim.rlve.catalogue import Catalogue
    from shopsim.settings import RlveSettings

__all__ = [
    "CURRICULUM_FILE",
    "EPISODES_FILE",
    "MANIFEST_FILE",
    "RunRequest",
    "build_plan",
    "read_plan",
    "settle_plan",
]

PIPELINE_VERSION: Final = "shopsim-rlve-rollout-v1"
_GROWS: Final = "episodes"
"""The one field of a plan that may differ: a run can be made longer, its first episodes stay."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """One run. ``difficulty`` None: the adaptive curriculum decides; a number: always that one.

    Of a ``batch`` all episodes are drawn before any of them counts, so they may be played at the same time:
    a batch of 1 is the curriculum of the specification episode by episode.
    """

    experiment: str
    agent: AgentSpec
    episodes: int
    seed: int = 0
    difficulty: int | None = None
    batch: int = 1

    def __post_init__(self) -> None:
        checked_name(self.experiment)
        for name in ("episodes", "batch"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name}: must be at least 1")
        if self.difficulty is not None:
            Difficulty.of(self.difficulty)


def build_plan(
    request: RunRequest, settings: RlveSettings, catalogue: Catalogue, user: Mapping[str, Any]
) -> dict[str, Any]:
    """The ``plan`` object of a manifest. ``user`` says who words the user's texts."""
    plan = {
        "pipeline_version": PIPELINE_VERSION,
        "experiment": request.experiment,
        "model": request.agent.to_model(),
        "episodes": request.episodes,
        "seed": request.seed,
        "difficulty": request.difficulty,
        "batch": request.batch,
        "environment": {
            "environment_version": RLVE_ENVIRONMENT_VERSION,
            "observation_version": RLVE_OBSERVATION_VERSION,
            "reward_version": RLVE_REWARD_VERSION,
            "collection": settings.collection,
            "environments": list(collection(settings.collection)),
            "disclose": settings.disclose,
            "denied_categories": list(settings.denied_categories),
            "products": len(catalogue),
            "catalogue_sha256": catalogue.sha256,
        },
        "user": dict(user),
    }
    as_read: dict[str, Any] = json.loads(json.dumps(plan))
    return as_read


def read_plan(folder: Path) -> dict[str, Any]:
    """The plan of a run folder.

    Raises :class:`UsageError` when the folder holds no such run, and what
    :func:`~shopsim.rollout.manifest.read_manifest` raises for a broken manifest.
    """
    if not (folder / MANIFEST_FILE).exists():
        raise _no_plan(folder)
    plan: dict[str, Any] = read_manifest(folder / MANIFEST_FILE, schema=RLVE_MANIFEST_SCHEMA)["plan"]
    return plan


def _no_plan(folder: Path) -> UsageError:
    """Why a folder without a plan cannot be read: what it is, if it is known, and what reads that."""
    if (folder / EPISODES_FILE).exists():
        return UsageError(
            f"{folder}: holds episodes but not the plan they were played by ({MANIFEST_FILE} is missing)",
            hint=f"Copy the {MANIFEST_FILE} of the run beside them.",
        )
    if any((folder / name).exists() for name in (SHOPPING_MANIFEST, TRACES_FILE, SUMMARY_FILE)):
        return UsageError(
            f"{folder}: a run of shopping tasks, no run of the conversation environments",
            hint="`shopsim-review summary` and `shopsim-review verify` read it.",
        )
    return UsageError(
        f"{folder}: no run of the conversation environments ({MANIFEST_FILE} is missing)",
        hint="Name a folder that `shopsim rlve rollout` wrote.",
    )


def settle_plan(folder: Path, plan: dict[str, Any], *, mend: str = ANOTHER_NAME) -> dict[str, Any]:
    """Write the manifest of a new folder, or make sure that the folder holds this run; it may grow.

    Returns the plan that counts from now on: that of the longer run. Raises
    :class:`~shopsim.rollout.manifest.PlanMismatchError` naming the fields that differ, with ``mend``.
    """
    path = folder / MANIFEST_FILE
    if not path.exists():
        if (folder / EPISODES_FILE).exists():
            raise UsageError(f"{folder}: holds episodes but no manifest", hint="Choose another name.")
        write_manifest(path, plan, schema=RLVE_MANIFEST_SCHEMA)
        return plan
    manifest = read_manifest(path, schema=RLVE_MANIFEST_SCHEMA)
    old: dict[str, Any] = manifest["plan"]
    check_same_plan(folder, {**old, _GROWS: None}, {**plan, _GROWS: None}, mend=mend)
    if plan[_GROWS] <= old.get(_GROWS, 0):
        return old
    write_manifest(path, plan, created_at=manifest.get("created_at"), schema=RLVE_MANIFEST_SCHEMA)
    return plan
