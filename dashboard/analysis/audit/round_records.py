"""Rules: every rollout of a round is recorded once, in its group, on its group's task (spec 04 B)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import pandas as pd

from dashboard.analysis.audit.finding import Observation, Place
from dashboard.analysis.audit.round_facts import GROUPS_PER_ROUND, ROLLOUTS, ROUND_RULES, RoundFacts

__all__: list[str] = []

_FILE: Final = re.compile(r".*/rollout-(\d{1,15})\.json")
_NAME: Final = re.compile(r"train-group-(\d{1,18})-sample-(\d{1,18})")


@ROUND_RULES.rule("Rollouts recorded twice", "error")
def rollouts_repeated(facts: RoundFacts) -> Iterator[Observation]:
    """The same episode, or the same sample of a group, in several files or noted several times.

    Also one job (task and sample) of a group under several episode ids, where the round numbers its jobs.
    """
    rows = facts.rollouts[(facts.rollouts["kind"] == "training") & facts.rollouts["has_record"].astype(bool)]
    rows = rows.assign(sample=rows["file"].map(_sample))
    places = [
        *_twice(rows, ["episode_id"], "episode_id", lambda row: str(row["episode_id"])),
        *_twice(
            rows, ["group_index", "sample"], "rollout-<sample>", lambda row: f"sample {row['sample']:.0f}"
        ),
        *_same_jobs(rows),
    ]
    places += [
        Place(text, file=f"{folder}/triage.json", field="training_rollouts")
        for _, folder, text in facts.problems_of("repeated")
        if text.startswith("triage.json")
    ]
    if places:
        yield Observation(
            f"Among {len(rows):,} records some are of one rollout; of one episode in a group the last file "
            "counts, of one in several groups each does.",
            ROLLOUTS,
            "Keep the file that the trainer used, and move the others away.",
            tuple(places),
        )


@ROUND_RULES.rule("Groups of several tasks", "error")
def group_tasks_mixed(facts: RoundFacts) -> Iterator[Observation]:
    """All rollouts of a group are attempts at one task: else its baseline compares different tasks."""
    training = facts.training
    places = []
    for row in facts.groups[facts.groups["tasks"].map(len) > 1].to_dict("records"):
        of_group = training.loc[training["group_index"] == row["group_index"], "task_id"].dropna()
        counted = of_group.astype("int64").value_counts()
        told = ", ".join(f"task {task} ({n} rollouts)" for task, n in counted.items())
        places.append(Place(told, field="job.task_id", file=row["folder"]))
    if places:
        yield Observation(
            f"{len(places):,} of {len(facts.groups):,} groups mix tasks; a group is one task tried 8 times.",
            ROLLOUTS,
            "Find out which rollouts belong to another group, and move them there.",
            tuple(places),
            field="job.task_id",
        )


@ROUND_RULES.rule("Rollouts of another group", "error")
def rollouts_misplaced(facts: RoundFacts) -> Iterator[Observation]:
    """A record's episode id names its group and sample: they must be those of its folder and file."""
    columns = (facts.episodes[name].tolist() for name in ("episode_id", "group_index", "file"))
    places = []
    for name, index, file in zip(*columns, strict=True):
        match = _NAME.fullmatch(str(name))
        if match is None:
            continue
        group, sample, numbered = int(match[1]), int(match[2]), _sample(file)
        if group not in (index, index + GROUPS_PER_ROUND * facts.number):
            detail = f"the episode is of group {group}, the folder of group {index}"
        elif numbered == numbered and sample != numbered:  # a file without a number compares with nothing
            detail = f"the episode is sample {sample}, the file sample {numbered:.0f}"
        else:
            continue
        places.append(Place(detail, name, None, "episode_id", file))
    if places:
        yield Observation(
            "Records lie in the folder or under the name of another rollout.",
            ROLLOUTS,
            "Move them where their episode id says, after finding out how they came there.",
            tuple(places),
            field="episode_id",
        )


@ROUND_RULES.rule("Diagnostic episodes among the rollouts", "error")
def rollouts_diagnostic(facts: RoundFacts) -> Iterator[Observation]:
    """Records that call themselves diagnostic are never training samples; a full-skill retry is one."""
    places = tuple(
        Place(text, field="provenance.skills.diagnostic_full_skill", file=file)
        for file, _, text in facts.problems_of("diagnostic")
    )
    if places:
        yield Observation(
            "Diagnostic episodes lie among the training rollouts; they are left out of every figure here.",
            ROLLOUTS,
            "Make sure that the trainer left them out too; the retry belongs in full-skill-retry.json.",
            places,
        )


def _sample(file: str) -> float:
    """The sample number in the name of a rollout file, not a number when there is none."""
    match = _FILE.fullmatch(file)
    return float(match[1]) if match else float("nan")


def _twice(rows: pd.DataFrame, keys: list[str], field: str, name: Any) -> Iterator[Place]:
    known = rows.dropna(subset=keys)
    repeated = known[known.duplicated(keys, keep=False)]
    for _, same in repeated.groupby(keys, sort=False):
        files = same.to_dict("records")
        first = files[0]
        others = ", ".join(str(row["file"]) for row in files[1:])
        detail = f"{name(first)} is in {len(files)} files, also in {others}"
        yield Place(detail, first["episode_id"], None, field, first["file"])


def _same_jobs(rows: pd.DataFrame) -> Iterator[Place]:
    """One (task, sample) under several episode ids; not where a trainer numbers no samples in its jobs."""
    keys = ["group_index", "task_id", "job_sample"]
    known = rows[rows["left_out"].isna()].dropna(subset=keys)
    repeated = known[known.duplicated(keys, keep=False)]
    if 2 * repeated["group_index"].nunique() > known["group_index"].nunique() > 1:
        return
    for (_, task, sample), same in repeated.groupby(keys, sort=False):
        files = same.to_dict("records")
        if len({row["sample"] for row in files}) < len(files):  # told as a sample in several files
            continue
        names = ", ".join(str(row["episode_id"]) for row in files)
        detail = f"task {task:.0f}, sample {sample:.0f} is recorded under {len(files)} ids: {names}"
        yield Place(detail, files[0]["episode_id"], None, "job.sample_id", files[0]["file"])
