"""The report of one run: its figures, where it loses, its worst failures, what reviewers say."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import pandas as pd

from dashboard.analysis.distributions import bin_values
from dashboard.analysis.intervals import COMPONENT_METHOD
from dashboard.analysis.overview import overview_table, provenance_rows
from dashboard.analysis.rewards import COMPONENTS as COMPONENT_NAMES
from dashboard.analysis.rewards import component_rows, slice_rows
from dashboard.analysis.terminations import reason_order, reason_table
from dashboard.charts.distributions import bin_figure, interval_figure
from dashboard.charts.shares import share_figure
from dashboard.lake import Lake
from dashboard.report.document import Figure, Table, Tile, render
from dashboard.report.section import Section, problem_lines
from dashboard.review import ReviewStore, Taxonomy
from dashboard.review.queue import Filters, filtered, progress, standing, with_reviews
from dashboard.ui.run_styles import kept_styles
from dashboard.ui.text import count, interval, number, percent, plural, shorten, tokens
from dashboard.ui.theme import REASON_COLOURS, RunStyle, category_colours

__all__ = ["run_report"]

_MOST_FAILURES: Final = 100
_PRIVATE_FACTS: Final = frozenset({"Folder"})
"""A report is sent around: paths of this machine stay here."""


def run_report(lake: Lake, run_id: str, store: ReviewStore, taxonomy: Taxonomy) -> bytes:
    """The report of a run as one HTML document (UTF-8).

    Raises :class:`~dashboard.lake.errors.UnknownRunError` and :class:`~dashboard.review.ReviewError`.
    """
    lake.run(run_id)
    named = lake.query("runs").assign(name=lambda rows: rows["run_id"])
    table = overview_table(named, lake.query("overview_figures"))
    row: dict[str, Any] = {str(k): v for k, v in table[table["run_id"] == run_id].iloc[0].items()}
    sections = [_components(lake, run_id), _endings(lake, run_id), _domains(lake, run_id)]
    if row["has_traces"]:
        episodes = lake.query("triage_episodes", run_ids=[run_id])
        reviewed = with_reviews(episodes, store.current("episode"), "")
        sections += [_reviews(reviewed, store, taxonomy), _failures(reviewed, taxonomy)]
    return render(
        "run",
        name=run_id,
        lead=_lead(row),
        problems=problem_lines(lake, run_id),
        tiles=_tiles(row),
        sections=[section for section in sections if section is not None],
        facts=[fact for fact in provenance_rows(row) if fact[0] not in _PRIVATE_FACTS],
    )


def _lead(row: dict[str, Any]) -> str:
    parts = [f"Report of one run: {row['what']}"]
    if not pd.isna(row["completed"]):
        asked = f" of {count(row['requested'])} requested" if not pd.isna(row["requested"]) else ""
        parts.append(f"{plural(row['completed'], 'completed episode')}{asked}")
    return ". ".join(parts) + "."


def _tiles(row: dict[str, Any]) -> list[Tile]:
    reward_n, success_n, episodes = row["scored_n"], row["success_n"], row["episodes"]
    return [
        Tile(
            "Strict reward",
            number(row["reward_mean"], 4),
            f"95% CI {interval(row['reward_low'], row['reward_high'])}, n = {count(reward_n)}",
        ),
        Tile(
            "Success",
            percent(row["success_share"], 2),
            f"95% CI {interval(row['success_low'], row['success_high'], as_percent=True)}, "
            f"n = {count(success_n)}",
        ),
        Tile("Steps an episode", number(row["steps_mean"], 2), f"n = {count(episodes)}"),
        Tile("Invalid actions", percent(row["invalid_rate"]), f"n = {count(row['env_steps'])} actions"),
        Tile(
            "Protocol errors", percent(row["protocol_error_rate"]), f"n = {count(row['model_steps'])} steps"
        ),
        Tile("Tokens an episode", tokens(row["tokens_mean"]), f"n = {count(episodes)}"),
    ]


def _components(lake: Lake, run_id: str) -> Section | None:
    rows = component_rows(lake.query("reward_components", run_ids=[run_id]))
    if rows.empty:
        return None
    names, styles = {run_id: run_id}, _styles(lake)
    order = [name for name in COMPONENT_NAMES.values() if name in set(rows["slice"])]
    values = lake.query("reward_values", run_ids=[run_id], metric="r_strict")
    figures = [
        Figure(
            interval_figure(rows, names, styles, category="slice", order=order),
            "Mean and 95% interval of every reward component",
            "Strict = type × attributes × options × price. 95% intervals over scored episodes "
            f"({COMPONENT_METHOD}).",
        )
    ]
    if not values.empty:
        figures.append(
            Figure(
                bin_figure(bin_values(values), names, styles, title="Strict reward"),
                "Histogram of the strict reward",
                "Exactly 0 and exactly 1 are bars of their own.",
            )
        )
    table = Table(
        ("Component", "Mean", "95% interval", "n"),
        [
            (row["slice"], number(row["mean"]), interval(row["low"], row["high"]), count(row["n"]))
            for row in sorted(rows.to_dict("records"), key=lambda row: order.index(row["slice"]))
        ],
        frozenset({1, 2, 3}),
        f"Intervals over scored episodes ({COMPONENT_METHOD}).",
    )
    return Section("Reward", figures=figures, tables=[table])


def _endings(lake: Lake, run_id: str) -> Section | None:
    rows = lake.query("termination_reasons", run_ids=[run_id])
    if rows.empty:
        return None
    reasons = reason_order(rows["reason"])
    figure = share_figure(
        rows,
        row="run_id",
        part="reason",
        order=[run_id],
        parts=reasons,
        colours=category_colours(reasons, REASON_COLOURS),
        labels={run_id: "episodes"},
    )
    figure.update_layout(height=150)
    shown = reason_table(rows, {run_id: run_id})
    table = Table(
        ("Ended by", "Episodes", "Share", "95% interval"),
        [
            (row["reason"], count(row["n"]), f"{row['share']:.1f}%", row["ci"] or "–")
            for row in shown.to_dict("records")
        ],
        frozenset({1, 2, 3}),
        "failed: the episode did not complete. Intervals: Wilson, in percent.",
    )
    return Section(
        "How episodes ended", figures=[Figure(figure, "Share of termination reasons")], tables=[table]
    )


def _domains(lake: Lake, run_id: str) -> Section | None:
    rows = lake.query("reward_slices", run_ids=[run_id], metric="r_success", dimension="domain")
    if rows.empty:
        return None
    rows, order = slice_rows(rows, "r_success")
    figure = interval_figure(rows, {run_id: run_id}, _styles(lake), category="slice", order=order)
    return Section(
        "Success by domain",
        figures=[Figure(figure, "Success with 95% interval by domain", "95% intervals (Wilson).")],
    )


def _reviews(episodes: pd.DataFrame, store: ReviewStore, taxonomy: Taxonomy) -> Section | None:
    verdicts = standing(episodes, store.current("episode"))
    if verdicts.empty:
        return None
    done = progress(filtered(episodes, Filters()))
    labelled = Counter(key for keys in episodes["labels"] for key in keys)
    table = Table(
        ("Label", "Episodes", "What it means"),
        [
            (taxonomy.name(key), count(labelled[key]), taxonomy.get(key).description)
            for key in sorted(labelled, key=lambda key: (-labelled[key], key))
        ],
        frozenset({1}),
    )
    people = verdicts["reviewer"].nunique()
    return Section(
        "What reviewers say",
        f"{count(done.done)} of {plural(done.total, 'failure')} reviewed, {plural(len(verdicts), 'verdict')} "
        f"by {plural(people, 'reviewer')}. An episode counts once a label, whoever gave it.",
        tables=[table],
    )


def _failures(episodes: pd.DataFrame, taxonomy: Taxonomy) -> Section:
    failures = filtered(episodes, Filters())
    if failures.empty:
        return Section("Failures", "None: every recorded episode succeeded.")
    shown = failures.head(_MOST_FAILURES)
    sentence = "Worst first: lowest strict reward, then lowest loose reward; technical failures last."
    if len(failures) > len(shown):
        sentence += f" The first {count(len(shown))} of {count(len(failures))}."
    labelled = any(shown["labels"])
    table = Table(
        ("Task", "Ended by", "Strict", "Loose", "Steps", *(["Labels"] if labelled else []), "Instruction"),
        [
            (
                "–" if pd.isna(row["task_id"]) else str(int(row["task_id"])),
                row["reason"],
                number(row["r_strict"]),
                number(row["r_loose"]),
                count(row["steps"]),
                *([", ".join(map(taxonomy.name, taxonomy.order(row["labels"])))] if labelled else []),
                shorten(row["shown_instruction"], 200),
            )
            for row in shown.to_dict("records")
        ],
        frozenset({0, 2, 3, 4}),
    )
    return Section(f"Failures ({count(len(failures))})", sentence, tables=[table])


def _styles(lake: Lake) -> dict[str, RunStyle]:
    """As on the pages, where each run keeps its colour."""
    return kept_styles(lake.cache_dir, {run.run_id: str(run.path) for run in lake.runs})
