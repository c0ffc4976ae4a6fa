"""Compare: is one run better than another, on which tasks, and how sure is that?"""

from __future__ import annotations

from functools import partial

import streamlit as st

from dashboard.analysis.compare.defaults import default_baseline, default_opponent
from dashboard.charts.comparison import transition_figure
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
from dashboard.ui.comparison_tables import draw_baseline, draw_metrics, draw_slices
from dashboard.ui.comparison_tasks import draw_tasks
from dashboard.ui.data import Runs
from dashboard.ui.figures import drawn
from dashboard.ui.text import count, percent, plural, points, points_interval


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
        draw_baseline(runs, results)
        shown = state.choice("In detail", chosen, key="detail", format_func=runs.name, look="pills")
    one_comparison(runs, results[shown])


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
    draw_metrics(result)
    draw_slices(result)
    draw_tasks(runs, result)


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


main()
