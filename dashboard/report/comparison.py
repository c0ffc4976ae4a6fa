"""The report of a comparison: one run against a baseline, task by task."""

from __future__ import annotations

from typing import Final

import pandas as pd

from dashboard.analysis.compare.catalogues import family_warning
from dashboard.analysis.compare.tables import SHARES, difference_rows, metric_rows, slice_rows
from dashboard.charts.comparison import difference_figure, transition_figure
from dashboard.lake import Lake
from dashboard.lake.pairs import RunComparison
from dashboard.report.document import Figure, Table, Tile, render
from dashboard.report.section import Section, problem_lines
from dashboard.ui.text import count, interval, number, percent, plural, points, points_interval, shorten
from shopsim.wording import minus

__all__ = ["comparison_report"]

_MOST_TASKS: Final = 200
_TASKS: Final = {"fixed": "Fixed by B", "broken": "Broken by B"}


def comparison_report(lake: Lake, result: RunComparison) -> bytes:
    """The report of a comparison as one HTML document (UTF-8): A is the baseline, everything is B minus A."""
    pairs = result.comparison.pairs
    sections = [_transitions(result), _metrics(result), _slices(result)] if pairs else []
    sections += [_tasks(result, kind) for kind in _TASKS] if pairs else []
    return render(
        "comparison",
        name_a=result.names[0],
        name_b=result.names[1],
        lead=f"A, the baseline: {result.names[0]}. B: {result.names[1]}. Differences are B minus A over "
        f"{plural(pairs, 'task')} that both runs scored.",
        problems=[*problem_lines(lake, result.run_a), *problem_lines(lake, result.run_b)],
        alignment=_alignment(result),
        differences=_differences(result),
        tiles=_tiles(result) if pairs else [],
        sections=[section for section in sections if section is not None],
    )


def _alignment(result: RunComparison) -> list[str]:
    pairing = result.pairing
    lines = [told] if (told := family_warning(result.kin, result.run_a, result.run_b)) else []
    unknown = [
        run_id
        for run_id, known in zip((result.run_a, result.run_b), result.plans_known, strict=True)
        if not known
    ]
    if unknown:
        lines.append(f"No plan is recorded of {', '.join(unknown)}: what else differs is not known.")
    confounders = sum(difference.role == "confounder" for difference in result.differences)
    if confounders:
        lines.append(f"{plural(confounders, 'setting')} differ besides what is compared: read with care.")
    elif not unknown:
        lines.append("The two plans agree in every setting outside what is compared.")
    left_out = {
        f"only in {result.run_a}": len(pairing.only_a),
        f"only in {result.run_b}": len(pairing.only_b),
        "not scored on one side": len(pairing.unscored),
    }
    notes = [f"{plural(n, 'task')} {what}" for what, n in left_out.items() if n]
    if notes:
        lines.append("Left out: " + "; ".join(notes) + ".")
    if not result.comparison.pairs:
        lines.append("The two runs share no task that both scored, so there is nothing to compare.")
    return lines


def _differences(result: RunComparison) -> Table:
    rows = difference_rows(result.differences)
    return Table(
        ("Setting", "A", "B", "It"),
        [
            (row["field"], shorten(row["a"], 120), shorten(row["b"], 120), row["meaning"])
            for row in rows.to_dict("records")
        ],
    )


def _tiles(result: RunComparison) -> list[Tile]:
    comparison, counts = result.comparison, result.comparison.transitions
    tiles = []
    success, reward = comparison.metric("r_success"), comparison.metric("reward")
    if success and success.interval:
        span = points_interval(success.interval.low, success.interval.high)
        tiles.append(Tile("Success, B − A", points(success.difference), f"95% CI {span}, n = {success.n}"))
        shares = f"{percent(success.mean_a, 2)} → {percent(success.mean_b, 2)}"
        tiles.append(Tile("Success, A → B", shares))
    if reward and reward.interval:
        span = interval(reward.interval.low, reward.interval.high)
        tiles.append(
            Tile("Reward, B − A", minus(f"{reward.difference:+.4f}"), f"95% CI {span}, n = {reward.n}")
        )
    tiles.append(Tile("Fixed / broken", f"{counts['fixed']} / {counts['broken']}", f"n = {comparison.pairs}"))
    tiles.append(Tile("Exact McNemar p", f"{comparison.mcnemar_p:.3g}", "if neither were better"))
    return tiles


def _transitions(result: RunComparison) -> Section:
    counts = result.comparison.transitions
    alt = (
        f"Tasks: {counts['kept']} solved by both, {counts['fixed']} fixed, {counts['broken']} broken, "
        f"{counts['never']} solved by neither"
    )
    return Section("What became of the tasks", figures=[Figure(transition_figure(counts), alt)])


def _metrics(result: RunComparison) -> Section:
    rows = metric_rows(result.comparison)
    shares = rows[rows["metric"].isin(SHARES)]
    figure = Figure(
        difference_figure(shares, title="Difference in percentage points"),
        "Paired difference of every metric between 0 and 1 with its 95% interval",
    )
    told = result.comparison.bootstrap
    table = Table(
        ("Metric", "n", "A", "B", "B − A", "95% interval", "B is", "More tasks needed"),
        [
            (
                row["label"],
                count(row["n"]),
                *(number(row[name], digits) for name in ("a", "b", "difference")),
                interval(row["low"], row["high"], digits=digits),
                row["verdict"],
                "" if pd.isna(row["more_tasks"]) else count(row["more_tasks"]),
            )
            for row in rows.to_dict("records")
            for digits in [4 if row["metric"] in SHARES else 1]
        ],
        frozenset({1, 2, 3, 4, 5, 7}),
        f"Intervals: {told['method']}, {count(told['samples'])} resamples, seed {told['seed']}. More tasks "
        "needed: how many paired tasks beyond these would decide a difference of the observed size with 80% "
        "power.",
    )
    return Section("Differences, B − A", figures=[figure], tables=[table])


def _slices(result: RunComparison) -> Section | None:
    rows = slice_rows(result.comparison)
    if rows.empty:
        return None
    table = Table(
        ("Tasks by", "", "n", "A", "B", "Success B − A", "p", "q"),
        [
            (
                row["dimension"],
                row["value"],
                count(row["n"]),
                percent(row["a"], 2),
                percent(row["b"], 2),
                points(row["difference"]),
                f"{row['p']:.3g}",
                f"{row['q']:.3g}",
            )
            for row in rows.to_dict("records")
        ],
        frozenset({2, 3, 4, 5, 6, 7}),
        "p: exact sign-flip (McNemar) test of the slice; q: after Benjamini-Hochberg over all slices shown. "
        "Difficulty is told by other policies on the same catalogue.",
    )
    return Section("Where", tables=[table])


def _tasks(result: RunComparison, kind: str) -> Section:
    pairs = result.pairing.pairs
    tasks = pairs[pairs["transition"] == kind]
    title = f"{_TASKS[kind]} ({count(len(tasks))})"
    if tasks.empty:
        return Section(title, "No task.")
    shown = tasks.head(_MOST_TASKS)
    told = shown.get("shown_instruction_b", pd.Series("", index=shown.index)).fillna("")
    table = Table(
        ("Task", "Reward A", "Reward B", "Instruction"),
        [
            (str(task), number(a), number(b), shorten(instruction, 200))
            for task, a, b, instruction in zip(
                shown["task_id"], shown["reward_a"], shown["reward_b"], told, strict=True
            )
        ],
        frozenset({0, 1, 2}),
        f"The first {count(_MOST_TASKS)}." if len(tasks) > _MOST_TASKS else "",
    )
    return Section(title, tables=[table])
