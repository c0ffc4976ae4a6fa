"""Manifest and saved curriculum of a conversation run, read without trust: errors become problems."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dashboard.lake.conversations_discovery import FoundConversations
from dashboard.lake.fields import json_flag, json_object, json_text, json_texts, json_whole
from dashboard.lake.runfiles import read_object
from shopsim.formats import RLVE_MANIFEST_SCHEMA
from shopsim.jsonio import FileError
from shopsim.rlve.curriculum import Curriculum, CurriculumError
from shopsim.rlve.rollout.plan import CURRICULUM_FILE, MANIFEST_FILE

__all__ = ["manifest_row", "saved_windows"]


def manifest_row(found: FoundConversations, problems: list[str]) -> dict[str, Any]:
    """The columns of a run that its manifest tells; all of them None where it has none."""
    manifest: dict[str, Any] = {}
    if found.manifest is None:
        problems.append(
            f"{found.path / MANIFEST_FILE}: missing; who played and how many were asked for is unknown"
        )
    else:
        manifest = read_object(found.path / MANIFEST_FILE, RLVE_MANIFEST_SCHEMA, problems) or {}
    plan = json_object(manifest.get("plan"))
    model, environment, user = (json_object(plan.get(part)) for part in ("model", "environment", "user"))
    return {
        "experiment": json_text(plan.get("experiment")),
        "agent": json_text(model.get("model")),
        "provider": json_text(model.get("provider")),
        "simulated": json_flag(model.get("simulated")),
        "collection": json_text(environment.get("collection")),
        "environments": json_texts(environment.get("environments")),
        "catalogue_sha256": json_text(environment.get("catalogue_sha256")),
        "products": json_whole(environment.get("products")),
        "requested": json_whole(plan.get("episodes")),
        "seed": json_whole(plan.get("seed")),
        "difficulty": json_whole(plan.get("difficulty")),
        "batch": json_whole(plan.get("batch")),
        "user_provider": json_text(user.get("provider")),
        "user_model": json_text(user.get("model")),
        "created_at": json_text(manifest.get("created_at")),
        "plan": json.dumps(plan, sort_keys=True) if plan else None,
    }


def saved_windows(path: Path, problems: list[str]) -> list[dict[str, Any]]:
    """The windows of a run folder's saved curriculum: ``env, low, high, attempts, passes``, and the number of
    ``episodes`` that the curriculum had counted.
    """
    try:
        curriculum = Curriculum.load(path / CURRICULUM_FILE)
    except (CurriculumError, FileError, RecursionError) as error:
        problems.append(str(error) or f"{path / CURRICULUM_FILE}: nested too deeply")
        return []
    episodes = curriculum.episodes
    return [{"env": env, **asdict(curriculum.window(env)), "episodes": episodes} for env in curriculum.envs]
