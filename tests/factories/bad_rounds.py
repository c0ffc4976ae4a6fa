"""Training rounds that each have one thing wrong: what the audit's rules about rounds must find."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shopsim.jsonio import write_json
from shopsim.rollout.summary import summarize
from tests.factories.training import (
    STATE,
    curriculum,
    group_folder,
    rollout_record,
    triage,
    write_group,
    write_json_file,
    write_round,
)

__all__ = ["BAD_ROUNDS", "read", "rollout_file", "rollout_records", "small_round", "whole_round"]

Record = dict[str, Any]
Builder = Callable[[Path], None]
BAD_ROUNDS: dict[str, Builder] = {}
"""By the name of the rule that must find it: what makes a small round (groups 0 to 2) bad."""

_MIXED = ("success",) * 5 + ("wrong_option",) * 3


def small_round(folder: Path) -> Path:
    """Three whole groups: some succeeded, all wrong without a retry, all wrong with one that failed."""
    write_group(folder, 0, _MIXED)
    write_group(folder, 1, ["wrong_option"] * 8)
    write_group(folder, 2, ["over_budget"] * 8, retry="wrong_option")
    return folder


def whole_round(folder: Path, *, groups: int = 640) -> Path:
    """A round of ``groups`` groups of 8 short rollouts with their triages, all in order."""
    record = rollout_record(0, 0, "wrong_option")
    record["conversation"], record["steps"] = [], record["steps"][:1]
    skills = record["provenance"]["skills"].pop("assignment")
    name = record["episode_id"]
    text = json.dumps(record, ensure_ascii=False)
    for index in range(groups):
        path = group_folder(folder, index)
        path.mkdir(parents=True)
        noted = []
        for place in range(8):
            sample, job = 8 * index + place, {**record["job"], "task_id": 10 * index, "sample_id": place}
            job["sample_id"] = sample
            mine = {"episode_id": f"train-group-{index:09d}-sample-{sample:09d}", "job": job}
            told = text.replace(json.dumps(record["job"], ensure_ascii=False), json.dumps(job), 1)
            told = told.replace(name, mine["episode_id"])
            (path / f"rollout-{sample:09d}.json").write_text(told, encoding="utf-8")
            noted.append({**record, **mine})
        write_json_file(path / "triage.json", triage(index, noted, state_id=skills["state_id"]))
    return folder


def rollout_file(folder: Path, index: int, place: int) -> Path:
    """The file of a rollout of a group."""
    return group_folder(folder, index) / f"rollout-{8 * index + place:09d}.json"


def rollout_records(folder: Path) -> list[Record]:
    """All training records of a round in the order of their samples."""
    return [read(path) for path in sorted(folder.glob("group-*/rollout-*.json"))]


def read(path: Path) -> Any:
    """A JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def bad(builder: Builder) -> Builder:
    """Register under the name of its rule."""
    BAD_ROUNDS[builder.__name__] = builder
    return builder


def change(
    folder: Path, index: int, place: int, edit: Callable[[Record], object], *, noted: bool = True
) -> None:
    """Edit one record; the triage of its group is written anew for the edited records when ``noted``."""
    path = rollout_file(folder, index, place)
    record = read(path)
    edit(record)
    write_json_file(path, record)
    if noted:
        records = [read(file) for file in sorted(path.parent.glob("rollout-*.json"))]
        write_json_file(path.parent / "triage.json", triage(index, records))


def change_triage(folder: Path, index: int, edit: Callable[[Record], object]) -> None:
    """Edit the triage of a group."""
    path = group_folder(folder, index) / "triage.json"
    value = read(path)
    edit(value)
    write_json_file(path, value)


@bad
def round_files_invalid(folder: Path) -> None:
    rollout_file(folder, 0, 1).write_text('{"episode_id": "torn', encoding="utf-8")
    (group_folder(folder, 1) / "triage.json").write_text("[]", encoding="utf-8")


@bad
def groups_missing(folder: Path) -> None:
    write_round(folder, {4: _MIXED, 70: _MIXED})


@bad
def groups_outside(folder: Path) -> None:
    write_round(folder, {700: _MIXED})


@bad
def groups_incomplete(folder: Path) -> None:
    for place in (2, 3, 6):
        rollout_file(folder, 0, place).unlink()
    records = [read(path) for path in sorted(group_folder(folder, 0).glob("rollout-*.json"))]
    write_json_file(group_folder(folder, 0) / "triage.json", triage(0, records))


@bad
def rollouts_lost(folder: Path) -> None:
    rollout_file(folder, 0, 4).unlink()


@bad
def rollouts_unlisted(folder: Path) -> None:
    change_triage(folder, 0, lambda told: told["training_rollouts"].pop())


@bad
def triage_missing(folder: Path) -> None:
    (group_folder(folder, 1) / "triage.json").unlink()


@bad
def triage_broken(folder: Path) -> None:
    change_triage(folder, 1, lambda told: told.update(group_index=9))


@bad
def retry_missing(folder: Path) -> None:
    (group_folder(folder, 2) / "full-skill-retry.json").unlink()


@bad
def round_files_foreign(folder: Path) -> None:
    (folder / "notes.txt").write_text("look here", encoding="utf-8")
    (group_folder(folder, 0) / "rollout-1.json.bak").write_text("{}", encoding="utf-8")


@bad
def rollouts_repeated(folder: Path) -> None:
    copy = rollout_file(folder, 0, 3).read_bytes()
    (group_folder(folder, 0) / "rollout-3.json").write_bytes(copy)


@bad
def group_tasks_mixed(folder: Path) -> None:
    change(folder, 0, 2, lambda record: record["job"].update(task_id=4711))


@bad
def rollouts_misplaced(folder: Path) -> None:
    change(folder, 0, 1, lambda record: record.update(episode_id="train-group-000000033-sample-000000264"))


@bad
def rollouts_diagnostic(folder: Path) -> None:
    change(folder, 0, 1, lambda record: record["provenance"]["skills"].update(diagnostic_full_skill=True))


@bad
def notes_disagree(folder: Path) -> None:
    def edit(told: Record) -> None:
        told["training_rollouts"][0]["reward"]["r_att"] = 0.25
        told["training_rollouts"][1]["reward"]["reward"] = 0.75
        told["training_rollouts"][2].update(scored=False)

    def unscored(told: Record) -> None:
        told["training_rollouts"][6] |= {"scored": None, "reward": {"reward": 0.0}}

    change(folder, 0, 6, lambda record: record["final"].update(reward=None))
    change_triage(folder, 0, unscored)

    change_triage(folder, 0, edit)


@bad
def group_statistics_differ(folder: Path) -> None:
    change_triage(folder, 0, lambda told: told.update(all_wrong=True))


@bad
def classification_differs(folder: Path) -> None:
    change_triage(folder, 1, lambda told: told.update(classification="not_frontier"))
    change_triage(folder, 2, lambda told: told.update(classification="model_internalization_deficit"))


@bad
def classification_unknown(folder: Path) -> None:
    change_triage(folder, 0, lambda told: told.update(classification="solved_by_hand"))


@bad
def round_provenance_changes(folder: Path) -> None:
    change(folder, 0, 1, lambda record: record["provenance"]["environment"].update(reward_version="v1"))
    change(folder, 1, 3, lambda record: record["provenance"]["model"].update(checkpoint_id="iter99"))


@bad
def curriculum_changes(folder: Path) -> None:
    change_triage(folder, 1, lambda told: told["curriculum"].update(state_id="another", seed=7))


@bad
def curriculum_differs(folder: Path) -> None:
    write_json_file(folder / "curriculum.json", {**curriculum({"a": 0.5}), "skill_free_probability": 0.5})


@bad
def assignment_differs(folder: Path) -> None:
    change_triage(folder, 1, lambda told: told["assignment"].update(mode="assisted", skill_ids=["x"]))


@bad
def round_misnumbered(folder: Path) -> None:
    for index in range(3):
        change_triage(folder, index, lambda told: told["curriculum"].update(round_id="round-002"))


@bad
def round_summary_broken(folder: Path) -> None:
    (folder / "summary.json").write_text('{"schema_version": "v0"}', encoding="utf-8")


@bad
def round_summary_differs(folder: Path) -> None:
    records = rollout_records(folder)
    summary = summarize(records)
    summary["primary"]["reward_mean"] += 0.05
    summary["counts"]["trace_files"] += 1
    write_json(folder / "summary.json", summary)


@bad
def schema_unknown(folder: Path) -> None:
    change(folder, 0, 2, lambda record: record.update(schema_version="shopsimrl-episode-v3"))


@bad
def episodes_failed(folder: Path) -> None:
    failed = rollout_record(0, 6, "failed")
    change(folder, 0, 6, lambda record: record.update(failed))


@bad
def episodes_unscored(folder: Path) -> None:
    change(folder, 0, 0, lambda record: record["final"].update(reward=None))
    change(folder, 0, 1, lambda record: record["final"].update(reward="0.5"))


@bad
def reward_is_not_strict(folder: Path) -> None:
    change(folder, 0, 0, lambda record: record["final"].update(reward=0.25))


@bad
def component_out_of_range(folder: Path) -> None:
    change(folder, 1, 0, lambda record: record["final"]["reward_detail"].update(r_loose=1.5))


@bad
def reward_without_purchase(folder: Path) -> None:
    write_group(folder, 1, ["action_limit"] * 8, state_id=STATE)

    def edit(record: Record) -> None:
        record["final"]["reward"] = record["final"]["reward_detail"]["r_strict"] = 1.0

    change(folder, 1, 0, edit)
