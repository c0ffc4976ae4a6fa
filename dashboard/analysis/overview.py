"""The figures of every run in one table, whether they come from its episodes or from its summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from dashboard.analysis.columns import Column
from dashboard.analysis.intervals import interval_texts, with_mean_interval, with_share_interval
from dashboard.analysis.iterations import order_by_iteration
from dashboard.analysis.run_state import STATUSES, run_problems, run_status

__all__ = [
    "FIGURES",
    "TABLE_COLUMNS",
    "chosen_runs",
    "episode_weighted",
    "iteration_rows",
    "kind_label",
    "overview_table",
    "presented",
    "provenance_rows",
]

FIGURES: Final[Mapping[str, tuple[str, str]]] = {
    "Success": ("success_", "success_share"),
    "Strict reward": ("reward_", "reward_mean"),
}
"""Figures with intervals: name -> (column prefix, column of the value)."""


TABLE_COLUMNS: Final[Mapping[str, Column]] = {
    "name": Column("Run", width=138),
    "status": Column(
        "Status", width=92, help="; ".join(f"{name}: {told}" for name, told in STATUSES.items())
    ),
    "problem_count": Column("Problems", "count", width=75, help="Problems of the run's files"),
    "success_share": Column(
        "Success", "percent", 2, "Share of scored episodes with all four components at 1", width=70
    ),
    "success_ci": Column("95% CI", help="Success: Wilson", width=86),
    "reward_mean": Column("Reward", "number", 4, "Strict reward, mean over scored episodes", width=70),
    "reward_ci": Column("95% CI", help="Strict reward: Student's t", width=100),
    "scored_n": Column("n", "count", help="Scored episodes", width=50),
    "failed": Column("Failed", "count", help="Episodes that did not complete", width=60),
    "pending": Column("Pending", "count", help="Requested episodes without a record", width=68),
    "unscored": Column(
        "Unscored", "count", help="Completed episodes without a valid reward: in no mean", width=76
    ),
    "policy_failure_rate": Column(
        "Cut off", "percent", 1, "Generations cut off by length over model steps", width=62
    ),
    "tokens_mean": Column("Tokens", "count", help="Tokens an episode, prompt and completion", width=66),
    "what": Column("What", width=130, help="Scripted agents are programs that play, not trained models"),
    "progress": Column("Completed", "progress", width=110, help="Completed of requested episodes"),
    "task_split": Column("Split", width=60),
    "steps_mean": Column("Steps", "number", 2, "Model steps an episode"),
    "invalid_rate": Column("Invalid", "percent", 1, "Invalid actions over actions that reached the shop"),
    "protocol_error_rate": Column("Protocol", "percent", 1, "Protocol errors over model steps"),
    "seconds": Column("Seconds", "number", 1, "Duration of an episode"),
}
"""The columns in their order: what a reader looks for first fits on a screen of 1440 pixels."""
_QUIET: Final = ("problem_count", "failed", "pending", "unscored")
_PROVENANCE: Final[Mapping[str, str]] = {
    "run_id": "Run id, as commands call it",
    "path": "Folder",
    "experiment": "Experiment",
    "created_at": "Created",
    "provider": "Provider",
    "model": "Model",
    "model_id": "Model id",
    "checkpoint_id": "Checkpoint",
    "task_split": "Task split",
    "persona": "Persona",
    "interaction_mode": "Interaction mode",
    "max_steps": "Step limit",
    "prompt_version": "Prompt version",
    "skills_provider": "Skills",
    "action_protocol": "Action protocol",
    "environment_version": "Environment version",
    "observation_version": "Observation version",
    "term_extractor": "Term extractor",
    "product_data_sha256": "Catalogue SHA-256",
    "pipeline_version": "Pipeline version",
    "plan_fingerprint": "Plan fingerprint",
    "records": "Records",
    "unique_episodes": "Unique episodes",
    "duplicate_records": "Duplicate records",
    "invalid_lines": "Invalid lines",
}


def overview_table(runs: pd.DataFrame, figures: pd.DataFrame) -> pd.DataFrame:
    """One row a run in the order of :func:`~dashboard.analysis.iterations.order_by_iteration`.

    ``runs``: the ``runs`` view with a ``name`` column; ``figures``: rows of ``overview_figures.sql``. Adds
    intervals (``reward_low/high``, ``success_share/low/high``), rates over
    model steps and environment steps, tokens an episode, ``what`` and ``unscored``.
    """
    table = runs.reset_index(drop=True).merge(figures, on="run_id", how="left")
    table = with_mean_interval(table, "reward_")
    table = with_share_interval(table, "successes", "success_n", "success_")
    completed = table["episodes"].astype(float)
    return order_by_iteration(
        table.assign(
            scored_n=table["reward_n"],
            protocol_error_rate=_ratio(table["protocol_errors"], table["model_steps"]),
            policy_failure_rate=_ratio(table["policy_failures"], table["model_steps"]),
            invalid_rate=_ratio(table["invalid_actions"], table["env_steps"]),
            tokens_mean=_ratio(table["total_tokens"], completed),
            unscored=(completed - table["reward_n"].astype(float)).clip(lower=0),
            what=[kind_label(row) for row in table.to_dict("records")],
        )
    )


def chosen_runs(
    runs: pd.DataFrame, names: Mapping[str, str], figures: pd.DataFrame, chosen: Sequence[str]
) -> pd.DataFrame:
    """:func:`overview_table` of the runs in ``chosen``, numbered anew; ``names`` by run id."""
    table = overview_table(runs.assign(name=runs["run_id"].map(names)), figures)
    return table[table["run_id"].isin(chosen)].reset_index(drop=True)


def iteration_rows(table: pd.DataFrame, figure: str) -> pd.DataFrame:
    """Rows for :func:`dashboard.charts.iterations.iteration_figure` of one of :data:`FIGURES`."""
    prefix, value = FIGURES[figure]
    columns = {value: "mean", f"{prefix}low": "low", f"{prefix}high": "high", f"{prefix}n": "n"}
    keep = ["run_id", "name", "iteration", "series"]
    return table[[*keep, *columns]].rename(columns=columns)


def presented(table: pd.DataFrame, unfinished: Mapping[str, str]) -> pd.DataFrame:
    """The columns of :data:`TABLE_COLUMNS` as shown: percents times 100, intervals as text.

    ``unfinished``: the live status of runs that may still be written to. Counts that are 0 for every run
    stand at the end.
    """
    runs = table.to_dict("records")
    requested = table["requested"].astype(float)
    shown = table.assign(
        progress=100 * table["completed"].astype(float) / requested.where(requested > 0),
        reward_ci=interval_texts(table["reward_low"], table["reward_high"]),
        success_ci=interval_texts(table["success_low"], table["success_high"], factor=100, digits=1),
        seconds=table["duration_ms_mean"].astype(float) / 1000,
        tokens_mean=table["tokens_mean"].round(),
        problem_count=[len(run_problems(run)) for run in runs],
        status=[run_status(run, unfinished.get(run["run_id"])) for run in runs],
    )
    for name, column in TABLE_COLUMNS.items():
        if column.kind == "percent":
            shown[name] = 100 * shown[name].astype(float)
    quiet = [name for name in _QUIET if not shown[name].fillna(0).astype(bool).any()]
    return shown[[name for name in TABLE_COLUMNS if name not in quiet] + quiet]


def provenance_rows(run: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What is recorded about where a run comes from: (label, text) without what is unknown."""
    rows = [("What", str(run["what"]))]
    for column, label in _PROVENANCE.items():
        value = run.get(column)
        if text := _known(value):
            whole = isinstance(value, float) and value.is_integer()
            rows.append((label, text.removesuffix(".0") if whole else text))
    return rows


def episode_weighted(table: pd.DataFrame) -> bool:
    """Whether no run has more scored episodes than tasks, so that episodes are independent."""
    return not bool((table["reward_n"].astype(float) > table["tasks"].astype(float)).any())


def kind_label(run: Mapping[Any, Any]) -> str:
    """What a run is, honestly: a scripted agent is no model, and a summary has no episodes."""
    provider = _known(run.get("provider"))
    if provider == "human":
        source = "played by hand"
    elif provider == "scripted" or _known(run.get("simulated")) == "True":
        source = "scripted agent"
    else:
        source = "model" if any(_known(run.get(key)) for key in ("provider", "model", "model_id")) else ""
    kind = {"summary_only": "summary only", "published": "published summary"}.get(str(run.get("kind")), "")
    return ", ".join(part for part in (source, kind) if part) or "not stated"


def _known(value: Any) -> str:
    text = "" if value is None else str(value)
    return "" if text in ("nan", "NaT", "<NA>", "None") else text


def _ratio(part: pd.Series[Any], whole: pd.Series[Any]) -> pd.Series[Any]:
    size = whole.astype(float)
    return part.astype(float) / size.where(size > 0)
