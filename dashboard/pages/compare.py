"""Compare: is one run better than another, on which tasks, and how sure is that?"""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from dashboard.analysis.compare.defaults import default_baseline, default_opponent
from dashboard.analysis.compare.tables import (
    SHARES,
    baseline_rows,
    metric_rows,
    share_metrics,
    slice_rows,
)
from dashboard.charts.comparison import difference_figure, transition_figure
from dashboard.lake.pairs import RunComparison
from dashboard.ui import components as ui
from dashboard.ui import live, state
from dashboard.ui.comparison import (
    candidates,
    catalogue_warning,
    comparable_runs,
    compare,
    draw_alignment,
    name_and_id,
)
from dashboard.ui.data import Runs, shared
from dashboard.ui.figures import drawn
from dashboard.ui.navigation import page_url
from dashboard.ui.text import count, interval, number, percent, plural, points, points_interval

SHOWN_TASKS = 500


def main() -> None:
    """Draw the page."""
    ui.page_header("Compare", "Is B better than A, on which tasks, and how sure is that?")
    runs = ui.require_runs()
    able = comparable_runs(runs)
    if len(able) < 2:
        ui.empty_state(
            "Comparing needs two runs with outcomes per task.",
            hint="Summaries alone cannot be paired: copy a second run's `traces.jsonl` beside its summary.",
        )
        return
    known = candidates(runs, able)
    full_name = partial(name_and_id, runs)
    left, right, kind = st.columns([3, 5, 2])
    with left:
        baseline = state.choice(
            "A: the baseline", able, key="baseline", default=default_baseline(known), format_func=full_name
        )
    others = [run_id for run_id in able if run_id != baseline]
    with right:
        chosen = state.choices(
            "B: compared with it",
            others,
            key="against",
            default=[default_opponent(known, baseline)],
            format_func=full_name,
            placeholder="Choose one run or more",
        )
    with kind:
        method = state.choice(
            "Intervals",
            ["fast", "published"],
            key="bootstrap",
            format_func={"fast": "Fast", "published": "As published"}.__getitem__,
            help="Both are 95% task-level paired percentile bootstraps of 10,000 resamples. Fast shares its "
            "resamples among metrics; 'as published' draws the very resamples of the published analysis.",
        )
    if not chosen:
        ui.empty_state("Choose at least one run to compare with the baseline.")
        return
    live.follow(runs, [baseline, *chosen])
    for run_id in chosen:
        catalogue_warning(runs, baseline, run_id)
    results = {run_id: compare(baseline, run_id, method) for run_id in chosen}
    shown = chosen[0]
    if len(chosen) > 1:
        against_baseline(runs, results)
        shown = state.choice("In detail", chosen, key="detail", format_func=runs.name, look="pills")
    one_comparison(runs, results[shown])


def against_baseline(runs: Runs, results: dict[str, RunComparison]) -> None:
    """Several runs against the baseline, one row each."""
    rows = baseline_rows([(run_id, result.comparison) for run_id, result in results.items()])
    table = pd.DataFrame(
        {
            "Run": rows["run_id"].map(runs.name),
            "n": rows["n"],
            "Success B − A": [points(value) for value in rows["r_success"]],
            "95% interval": intervals(rows, "r_success"),
            "Fixed": rows["fixed"],
            "Broken": rows["broken"],
            "McNemar p": [f"{p:.3g}" for p in rows["p"]],
            "Reward B − A": [number(value) for value in rows["reward"]],
            "95% interval of reward": [
                interval(low, high) for low, high in zip(rows["reward_low"], rows["reward_high"], strict=True)
            ],
        }
    )
    st.dataframe(table, hide_index=True, key="baseline_table")
    st.caption("p-values are not corrected for comparing several runs; each row is one planned comparison.")


def one_comparison(runs: Runs, result: RunComparison) -> None:
    """Everything about one pair of runs."""
    comparison = result.comparison
    alignment(runs, result)
    if not comparison.pairs:
        ui.empty_state("The two runs share no task that both scored, so there is nothing to compare.")
        return
    success = comparison.metric("r_success")
    counts = comparison.transitions
    columns = st.columns(4)
    with columns[0]:
        if success and success.interval:
            span = points_interval(success.interval.low, success.interval.high)
            ui.metric("Success, B − A", points(success.difference), interval=span, n=success.n)
    with columns[1]:
        ui.metric(
            "Success of A → B",
            f"{percent(success.mean_a, 2)} → {percent(success.mean_b, 2)}" if success else "–",
        )
    with columns[2]:
        ui.metric("Fixed / broken", f"{counts['fixed']} / {counts['broken']}", n=comparison.pairs)
    with columns[3]:
        ui.metric("Exact McNemar p", f"{comparison.mcnemar_p:.3g}")
        st.caption("the chance of so uneven a split if neither were better")
    ui.show_figure(
        drawn(transition_figure, counts),
        key="transitions",
        alt=f"Tasks: {counts['kept']} solved by both, {counts['fixed']} fixed, {counts['broken']} broken, "
        f"{counts['never']} solved by neither",
    )
    metrics_section(result)
    slices_section(result)
    tasks_section(runs, result)


def alignment(runs: Runs, result: RunComparison) -> None:
    """What else differs between the two runs, before any figure."""
    pairing = result.pairing
    unknown = [
        runs.name(run_id)
        for run_id, known in zip((result.run_a, result.run_b), result.plans_known, strict=True)
        if not known
    ]
    left_out = {
        f"only in {runs.name(result.run_a)}": len(pairing.only_a),
        f"only in {runs.name(result.run_b)}": len(pairing.only_b),
        "not scored on one side": len(pairing.unscored),
    }
    notes = [f"{count(n)} tasks {what}" for what, n in left_out.items() if n]
    title = f"{plural(len(pairing.pairs), 'paired task')}"
    if notes:
        title += f", {sum(left_out.values())} left out"
    told = "Left out: " + "; ".join(notes) + "." if notes else ""
    draw_alignment(title, told, result.differences, unknown)


def metrics_section(result: RunComparison) -> None:
    """Every metric with its interval; undecided ones with the number of tasks that would settle them."""
    st.subheader("Differences, B − A", anchor=False)
    rows = shared(metric_rows, result.comparison)
    ui.show_figure(
        drawn(difference_figure, shared(share_metrics, rows), title="Difference in percentage points"),
        key="differences",
        alt="Paired difference of every metric between 0 and 1 with its 95% interval",
    )
    shares = rows["metric"].isin(SHARES)
    table = pd.DataFrame(
        {
            "Metric": rows["label"],
            "n": rows["n"],
            "A": [figure(v, s) for v, s in zip(rows["a"], shares, strict=True)],
            "B": [figure(v, s) for v, s in zip(rows["b"], shares, strict=True)],
            "B − A": [figure(v, s) for v, s in zip(rows["difference"], shares, strict=True)],
            "95% interval": [
                interval(low, high, digits=4 if share else 1)
                for low, high, share in zip(rows["low"], rows["high"], shares, strict=True)
            ],
            "B is": rows["verdict"],
            "More tasks needed": [count(value) for value in rows["more_tasks"]],
        }
    )
    st.dataframe(table, hide_index=True, key="metric_table")
    st.caption(
        "Means over the tasks that both runs scored, each task once. 'More tasks needed': how many paired "
        "tasks beyond these would decide a difference of the observed size with 80% power (normal "
        "approximation)."
    )


def slices_section(result: RunComparison) -> None:
    """Where the effect is."""
    rows = shared(slice_rows, result.comparison)
    if rows.empty:
        return
    st.subheader("Where", anchor=False)
    table = pd.DataFrame(
        {
            "Tasks by": rows["dimension"],
            "": rows["value"],
            "n": rows["n"],
            "A": [percent(value, 2) for value in rows["a"]],
            "B": [percent(value, 2) for value in rows["b"]],
            "Success B − A": [points(value) for value in rows["difference"]],
            "p": [f"{value:.3g}" for value in rows["p"]],
            "q": [f"{value:.3g}" for value in rows["q"]],
        }
    )
    st.dataframe(table, hide_index=True, key="slice_table")
    st.caption(
        "p: exact sign-flip (McNemar) test of the slice; q: after Benjamini-Hochberg over all slices shown "
        "(below 0.05: at most one in twenty of such findings is expected to be false). Difficulty is told by "
        "other policies on the same catalogue."
    )


def tasks_section(runs: Runs, result: RunComparison) -> None:
    """The tasks of one transition, each opening both runs side by side."""
    st.subheader("Tasks", anchor=False)
    counts = result.comparison.transitions
    labels = {
        "fixed": "Fixed by B",
        "broken": "Broken by B",
        "never": "Solved by neither",
        "kept": "Solved by both",
    }
    kind = state.choice(
        "Tasks that were",
        list(labels),
        key="transition",
        look="segmented",
        format_func=lambda name: f"{labels[name]} ({counts[name]})",
        label_visibility="collapsed",
    )
    pairs = result.pairing.pairs
    tasks = pairs[pairs["transition"] == kind]
    if tasks.empty:
        ui.empty_state("No task is of this kind.")
        return
    shown = tasks.head(SHOWN_TASKS)
    sides = [result.run_a, result.run_b]
    table = pd.DataFrame(
        {
            "task_id": shown["task_id"],
            "a": [number(value) for value in shown["reward_a"]],
            "b": [number(value) for value in shown["reward_b"]],
        }
    )
    if (instructions := known_instructions(shown)) is not None:
        table.insert(1, "instruction", instructions)
    traced = set(sides) <= set(runs.with_traces)
    if traced:
        table.insert(0, "open", [page_url("failures", task=task, runs=sides) for task in shown["task_id"]])
    st.dataframe(
        table,
        hide_index=True,
        key="task_table",
        column_config={
            "open": st.column_config.LinkColumn("Side by side", display_text="Open", width="small"),
            "task_id": st.column_config.NumberColumn("Task", format="%d", width="small"),
            "instruction": st.column_config.TextColumn("Instruction", width="large"),
            "a": f"Reward of {runs.name(sides[0])}",
            "b": f"Reward of {runs.name(sides[1])}",
        },
    )
    if len(tasks) > SHOWN_TASKS:
        st.caption(f"The first {SHOWN_TASKS} of {count(len(tasks))} tasks.")
    if not traced:
        st.caption("Tasks open side by side where both runs have traces.")


def known_instructions(pairs: pd.DataFrame) -> pd.Series | None:
    """What the agents were told, from whichever run recorded it; None when neither did."""
    columns = [column for column in ("shown_instruction_b", "shown_instruction_a") if column in pairs.columns]
    if len(columns) < 2 or pairs[columns].isna().all(axis=None):
        return None
    return pairs[columns[0]].combine_first(pairs[columns[1]])


def figure(value: float, share: bool) -> str:
    """A mean or difference in its own unit."""
    return number(value, 4 if share else 1)


def intervals(rows: pd.DataFrame, name: str) -> list[str]:
    """The intervals of a difference of shares, in percentage points."""
    return [
        points_interval(low, high)
        for low, high in zip(rows[f"{name}_low"], rows[f"{name}_high"], strict=True)
    ]


main()
