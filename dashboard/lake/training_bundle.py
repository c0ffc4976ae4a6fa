"""What a published bundle tells of training (spec 04 C): steps, chunks, contributions, gates, optimiser.

Every file may be missing, every column of one too; what was not recorded has no value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pandas as pd

from dashboard.lake.discovery import FileStamp, stamp
from dashboard.lake.fields import json_object, json_text, json_whole
from dashboard.lake.runfiles import summary_columns
from dashboard.lake.training_csv import CsvColumns, CsvTable, read_csv
from dashboard.lake.training_curricula import Curriculum, read_curriculum
from dashboard.lake.training_discovery import CURRICULUM, round_number
from shopsim.jsonio import FileError, read_json
from shopsim.rollout.summary import finite_number

__all__ = ["CONTRIBUTION_COLUMNS", "STEP_COLUMNS", "Bundle", "bundle_stamps", "read_bundle"]

_S: Final = "rollout/shopsim/"
STEP_COLUMNS: Final = CsvColumns(
    {
        "step": ("step", "whole"),
        "round": ("round", "whole"),
        f"{_S}group_count": ("groups", "number"),
        f"{_S}trajectory_count": ("rollouts", "number"),
        f"{_S}scored_rate": ("scored_rate", "number"),
        f"{_S}reward_mean": ("reward_mean", "number"),
        f"{_S}strict_reward_mean": ("strict_reward_mean", "number"),
        f"{_S}success_rate": ("success_rate", "number"),
        f"{_S}all_wrong_group_rate": ("all_wrong_rate", "number"),
        f"{_S}zero_std_group_drop_rate": ("zero_variance_rate", "number"),
        f"{_S}zero_std_group_drop_count": ("zero_variance_groups", "number"),
        f"{_S}skill_free_group_rate": ("skill_free_share", "number"),
        f"{_S}assisted_empty_group_rate": ("assisted_empty_share", "number"),
        f"{_S}skills_per_assisted_group_mean": ("skills_mean", "number"),
        f"{_S}q": ("q", "number"),
        f"{_S}full_skill_retry_rate": ("retry_rate", "number"),
        f"{_S}full_skill_retry_success_rate": ("retry_success_rate", "number"),
        f"{_S}internalization_deficit_rate": ("deficit_rate", "number"),
        f"{_S}pending_analysis_rate": ("pending_rate", "number"),
        f"{_S}runtime_error_group_rate": ("technical_rate", "number"),
        f"{_S}train_group_count": ("trained_groups", "number"),
        f"{_S}train_trajectory_count": ("trained_rollouts", "number"),
    },
    required=("step",),
)
_CHUNK: Final = re.compile(re.escape(_S) + r"chunk/(.+)/(inclusion_rate|target_rho)")
ROUND_COLUMNS: Final = CsvColumns(
    {
        "round": ("round", "whole"),
        "step": ("step", "whole"),
        "q": ("q", "number"),
        "input_chunks": ("input_chunks", "whole"),
        "selected_chunks": ("selected_chunks", "whole"),
        "candidate_count": ("candidates", "whole"),
        "eligible_cards": ("eligible_cards", "whole"),
        "analyzed_cards": ("analyzed_cards", "whole"),
        "group_count": ("groups", "whole"),
        "generated_episodes": ("generated_episodes", "whole"),
        "all_wrong_groups": ("all_wrong_groups", "whole"),
        "trainer_episodes": ("trainer_episodes", "whole"),
    },
    required=("round",),
)
CONTRIBUTION_COLUMNS: Final = CsvColumns(
    {
        "round": ("round", "whole"),
        "intervention_id": ("intervention_id", "text"),
        "kind": ("kind", "text"),
        "logical_chunk_id": ("chunk_id", "text"),
        "operation": ("operation", "text"),
        "order": ("order", "whole"),
        "coefficient": ("coefficient", "number"),
        "rank": ("rank", "whole"),
        "status": ("status", "text"),
    },
    required=("round", "intervention_id"),
)
GROUP_COLUMNS: Final = CsvColumns(
    {
        "round": ("round", "whole"),
        "step": ("step", "whole"),
        "group_index": ("group_index", "whole"),
        "task_id": ("task_id", "whole"),
        "mode": ("mode", "text"),
        "reward_mean": ("reward_mean", "number"),
        "success_rate": ("success_rate", "number"),
        "all_wrong": ("all_wrong", "text"),
        "classification": ("classification", "text"),
    },
    required=("group_index",),
    assumed=True,
)
OPTIMISER_COLUMNS: Final = CsvColumns(
    {
        "update": ("update", "whole"),
        "step": ("step", "whole"),
        "round": ("round", "whole"),
        "train/loss": ("loss", "number"),
        "train/pg_loss": ("pg_loss", "number"),
        "train/ppo_kl": ("ppo_kl", "number"),
        "train/entropy_loss": ("entropy", "number"),
        "train/grad_norm": ("grad_norm", "number"),
        "train/pg_clipfrac": ("clip_fraction", "number"),
        "train/train_rollout_logprob_abs_diff": ("logprob_difference", "number"),
        "train/lr-pg_0": ("learning_rate", "number"),
        "train/global_batch_size": ("batch_size", "number"),
    },
    required=("update",),
)
_FILES: Final[dict[str, tuple[str, CsvColumns]]] = {
    "steps": ("analysis/training_steps.csv", STEP_COLUMNS),
    "rounds": ("analysis/rounds.csv", ROUND_COLUMNS),
    "contributions": ("analysis/chunk_contributions.csv", CONTRIBUTION_COLUMNS),
    "groups": ("analysis/training_groups.csv", GROUP_COLUMNS),
    "optimiser": ("analysis/wandb/optimizer_updates.csv", OPTIMISER_COLUMNS),
}
_ROUND_FILES: Final = (CURRICULUM, "gate/summary.json", "gate/contributions.json")


@dataclass(slots=True)
class Bundle:
    """A bundle's tables; their columns are the names given in the declarations above.

    ``chunks``: ``step, round, chunk_id, inclusion_rate, target_rho``; ``gates``: ``round`` and the columns
    of the view ``summaries``. Without a file a table has no rows.
    """

    path: Path
    steps: pd.DataFrame
    chunks: pd.DataFrame
    rounds: pd.DataFrame
    contributions: pd.DataFrame
    groups: pd.DataFrame
    optimiser: pd.DataFrame
    gates: pd.DataFrame
    curricula: list[Curriculum] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def bundle_stamps(path: Path) -> list[FileStamp | None]:
    """Identities of all files that :func:`read_bundle` would read."""
    paths = [path / name for name, _ in _FILES.values()]
    for folder in _round_folders(path):
        paths += [folder / name for name in _ROUND_FILES]
    return [stamp(file) for file in paths]


def read_bundle(path: Path) -> Bundle:
    """Read a bundle; what is wrong with a file is a problem of the bundle, never an error."""
    problems: list[str] = []
    tables = {key: read_csv(path / name, columns, problems) for key, (name, columns) in _FILES.items()}
    gates, contributions, curricula = [], [], []
    for folder in _round_folders(path):
        number = round_number(folder.name) or 0
        gate = folder / "gate" / "summary.json"
        summary = summary_columns(gate, problems) if stamp(gate) else None
        if summary is not None:
            gates.append({"round": number, **summary})
        contributions += _gate_contributions(folder / "gate" / "contributions.json", number, problems)
        if stamp(folder / CURRICULUM):
            curriculum = read_curriculum(folder / CURRICULUM, problems)
            curricula += [curriculum] if curriculum is not None else []
    frames = {key: table.frame for key, table in tables.items()}
    frames["contributions"] = _with_gates(frames["contributions"], contributions)
    return Bundle(
        path=path,
        chunks=_chunks(tables["steps"]),
        gates=pd.DataFrame(gates),
        curricula=curricula,
        problems=problems,
        **frames,
    )


def _round_folders(path: Path) -> list[Path]:
    found = [folder for folder in path.glob("round-*") if round_number(folder.name) is not None]
    return sorted(found, key=lambda folder: (round_number(folder.name) or 0, folder.name))


def _chunks(steps: CsvTable) -> pd.DataFrame:
    """The ``chunk/<id>/..`` columns of the steps as rows; a chunk has one where either is recorded."""
    parts: dict[str, dict[str, pd.Series[Any]]] = {}
    for name in steps.rest.columns:
        match = _CHUNK.fullmatch(name)
        if match:
            values = pd.to_numeric(steps.rest[name], errors="coerce").astype("float64")
            parts.setdefault(match[1], {})[match[2]] = values.where(values.abs() < float("inf"))
    columns = ["step", "round", "chunk_id", "inclusion_rate", "target_rho"]
    rows = [
        steps.frame[["step", "round"]].assign(
            chunk_id=chunk_id,
            inclusion_rate=told.get("inclusion_rate", float("nan")),
            target_rho=told.get("target_rho", float("nan")),
        )
        for chunk_id, told in parts.items()
    ]
    if not rows:
        return pd.DataFrame(columns=columns)
    frame = pd.concat(rows, ignore_index=True)[columns]
    return frame[frame["inclusion_rate"].notna() | frame["target_rho"].notna()].reset_index(drop=True)


def _gate_contributions(path: Path, number: int, problems: list[str]) -> list[dict[str, Any]]:
    """Contributions of one gate: a list of objects with the names of the CSV file, alone or in an object."""
    if stamp(path) is None:
        return []
    try:
        value = read_json(path)
    except (FileError, RecursionError) as error:
        problems.append(str(error) if isinstance(error, FileError) else f"{path}: nested too deeply")
        return []
    if isinstance(value, dict):
        value = next((value[key] for key in ("contributions", "interventions") if key in value), None)
    if not isinstance(value, list):
        problems.append(f"{path}: no list of contributions")
        return []
    rows = [{"round": number, **_contribution(json_object(entry))} for entry in value]
    return [row for row in rows if row["intervention_id"] is not None]


def _contribution(entry: Any) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, (here, kind) in CONTRIBUTION_COLUMNS.columns.items():
        if here != "round":
            value = entry.get(name)
            row[here] = {"text": json_text, "whole": json_whole, "number": finite_number}[kind](value)
    return row


def _with_gates(contributions: pd.DataFrame, gates: list[dict[str, Any]]) -> pd.DataFrame:
    """The CSV file's contributions, and the gates' of rounds that it does not have."""
    known = set(contributions["round"])
    more = pd.DataFrame([row for row in gates if row["round"] not in known], columns=contributions.columns)
    if more.empty:
        return contributions
    return pd.concat([contributions, more.astype(contributions.dtypes.to_dict())], ignore_index=True)
