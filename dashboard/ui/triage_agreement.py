"""Parts of the page Triage: how well reviewers agree, by label, and where they do not."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard.analysis.agreement import agreement_rows, disagreements, pair_rows
from dashboard.review import SEVERITIES, Taxonomy
from dashboard.review.queue import standing
from dashboard.ui import components as ui
from dashboard.ui import state
from dashboard.ui.data import Runs
from dashboard.ui.navigation import page_url
from dashboard.ui.reviews import current_verdicts
from dashboard.ui.text import count, interval, number, percent

__all__ = ["draw_agreement"]

_OVER = {"episode": "Episodes", "task": "Tasks"}
_SHOWN = 300


def draw_agreement(runs: Runs, episodes: pd.DataFrame, taxonomy: Taxonomy) -> None:
    """Cohen's kappa of every pair of reviewers over what both looked at, and the differences."""
    kind = state.choice(
        "Agreement on", list(_OVER), key="over", look="segmented", format_func=_OVER.__getitem__
    )
    verdicts = _verdicts(episodes, kind)
    pairs = pair_rows(verdicts, SEVERITIES)
    if pairs.empty:
        people = verdicts["reviewer"].nunique()
        told = {0: "Nobody has given a verdict yet", 1: "Only one reviewer has given verdicts"}.get(
            people, "No two reviewers have looked at the same"
        )
        ui.empty_state(
            f"{told}, so there is no agreement to measure.",
            hint="Let a second reviewer work through “Not reviewed by me”.",
        )
        return
    _draw_pairs(pairs)
    _draw_labels(agreement_rows(verdicts, _used(verdicts, taxonomy)), taxonomy)
    _draw_differences(runs, verdicts, taxonomy)


def _verdicts(episodes: pd.DataFrame, kind: str) -> pd.DataFrame:
    """The verdicts that stand on the chosen runs' episodes, or on the tasks that those play."""
    verdicts = current_verdicts(kind)
    if kind == "episode":
        return standing(episodes, verdicts)
    tasks = set(zip(episodes["catalogue"], episodes["task_id"], strict=True))
    keys = zip(verdicts["catalogue"], verdicts["task_id"], strict=True)
    return verdicts[[key in tasks for key in keys]]


def _used(verdicts: pd.DataFrame, taxonomy: Taxonomy) -> list[str]:
    return taxonomy.order({key for labels in verdicts["labels"] for key in labels})


def _draw_pairs(pairs: pd.DataFrame) -> None:
    st.subheader("Pairs of reviewers", anchor=False)
    table = pd.DataFrame(
        {
            "First": pairs["first"],
            "Second": pairs["second"],
            "Both reviewed": pairs["n"],
            "Same labels": [
                f"{count(same)} ({percent(same / n, 0)})"
                for same, n in zip(pairs["same"], pairs["n"], strict=True)
            ],
            "Severity kappa": [_kappa(value) for value in pairs["severity_kappa"]],
            "95% interval": _intervals(pairs["severity_low"], pairs["severity_high"]),
            "n with severity": pairs["severity_n"],
        }
    )
    st.dataframe(table, hide_index=True, key="pairs_table")
    st.caption("Severity: kappa with linear weights over what both gave a severity.")


def _draw_labels(rows: pd.DataFrame, taxonomy: Taxonomy) -> None:
    st.subheader("Cohen's kappa by label", anchor=False)
    if rows.empty:
        ui.empty_state("None of the shared verdicts holds a label.")
        return
    table = pd.DataFrame(
        {
            "Label": rows["label"].map(taxonomy.name),
            "First": rows["first"],
            "Second": rows["second"],
            "Kappa": [_kappa(value) for value in rows["kappa"]],
            "95% interval": _intervals(rows["low"], rows["high"]),
            "n": rows["n"],
            "Both": rows["both"],
            "Only first": rows["only_first"],
            "Only second": rows["only_second"],
            "Neither": rows["neither"],
            "Agree": [percent(value, 0) for value in rows["observed"]],
        }
    )
    st.dataframe(table, hide_index=True, key="kappa_table")
    st.caption(
        "1: full agreement, 0: what chance would give, below 0: less than that. n: what both reviewed. "
        "Undefined: both gave the label to everything, so chance alone agrees fully. A label that neither of "
        "two gave is left out: it says nothing. The interval is the large-sample one (Fleiss, Cohen and "
        "Everitt 1969) and rough below n = 20; where all agree, it comes from Wilson's interval, and "
        "where the verdicts tell no spread there is none."
    )


def _draw_differences(runs: Runs, verdicts: pd.DataFrame, taxonomy: Taxonomy) -> None:
    rows = disagreements(verdicts)
    st.subheader(f"Labelled differently ({count(len(rows))})", anchor=False)
    if rows.empty:
        st.caption("Every shared verdict has the same labels.")
        return
    where = verdicts.drop_duplicates("target").set_index("target")
    shown = rows.head(_SHOWN)
    targets = where.loc[shown["target"]]

    def named(labels: pd.Series[Any]) -> list[str]:
        return [", ".join(map(taxonomy.name, taxonomy.order(keys))) or "no label" for keys in labels]

    links = [
        page_url("triage", run=run, episode=episode)
        if episode
        else page_url("failures", task=int(task), tasks="all")
        for run, episode, task in zip(
            targets["run_id"], targets["episode_id"], targets["task_id"], strict=True
        )
    ]
    table = pd.DataFrame(
        {
            "open": links,
            "run": [runs.name(run) if run else None for run in targets["run_id"]],
            "task": targets["task_id"].to_numpy(),
            "first": shown["first"].to_numpy(),
            "labels_first": named(shown["labels_first"]),
            "second": shown["second"].to_numpy(),
            "labels_second": named(shown["labels_second"]),
        }
    )
    config = st.column_config
    settings = {
        "open": config.LinkColumn("Open", display_text="Open", width="small"),
        "run": config.TextColumn("Run"),
        "task": config.NumberColumn("Task", format="%d", width=70),
        "first": config.TextColumn("First"),
        "labels_first": config.TextColumn("said"),
        "second": config.TextColumn("Second"),
        "labels_second": config.TextColumn("said"),
    }
    st.dataframe(table, hide_index=True, key="differences_table", placeholder="–", column_config=settings)
    if len(rows) > _SHOWN:
        st.caption(f"The first {count(_SHOWN)} of {count(len(rows))}.")


def _kappa(value: float | None) -> str:
    return "undefined" if value is None or value != value else number(value, 2)


def _intervals(low: pd.Series[float], high: pd.Series[float]) -> list[str]:
    return [interval(a, b, digits=2) for a, b in zip(low, high, strict=True)]
