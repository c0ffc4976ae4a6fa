"""All episodes of one task beside each other: outcome, reward, purchase, what was wanted and met, queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from dashboard.analysis.explanation import RewardExplanation, WantedItem
from dashboard.analysis.grid import Cell, GridRow
from dashboard.analysis.tasks_table import outcome_of
from shopsim.wording import plural

__all__ = ["OUTCOMES", "EpisodeBeside", "beside"]

OUTCOMES: Final[Mapping[str, str]] = {
    "success": "Success",
    "failure": "No success",
    "unscored": "Completed, but not scored",
    "error": "Failed technically",
}
_MISSING: Final = "–"


@dataclass(frozen=True, slots=True)
class EpisodeBeside:
    """One column: a row of ``task_episodes.sql``, its explained reward (None without a readable record)
    and its queries as (query, results in all, rank of the wanted product).
    """

    row: Mapping[Any, Any]
    told: RewardExplanation | None
    queries: Sequence[tuple[str, Any, Any]] = ()


def beside(episodes: Sequence[EpisodeBeside]) -> list[GridRow]:
    """The rows of the comparison, one cell an episode; rows that would say nothing are left out."""
    goals = {_text(episode.row["goal_asin"]) for episode in episodes} - {_MISSING}
    rows = [
        _row("Outcome", episodes, _outcome),
        _row("Ended by", episodes, _ending),
        _row("Given to the agent", episodes, lambda e: Cell(_text(e.row["shown_instruction"])))
        if len({_text(episode.row["shown_instruction"]) for episode in episodes}) > 1
        else None,
        _row("Wanted product", episodes, lambda e: Cell(_text(e.row["goal_name"])))
        if len(goals) > 1
        else None,
        *_component_rows(episodes),
        _row("Bought", episodes, _bought),
        *_wanted_rows("Attribute", episodes, lambda told: told.attributes),
        *_wanted_rows("Option", episodes, lambda told: told.options),
        _row("Chosen options", episodes, _chosen),
        _row("Steps", episodes, _steps),
        _row("Queries", episodes, _queries),
    ]
    return [row for row in rows if row is not None and any(cell.text != _MISSING for cell in row.cells)]


def _row(
    label: str, episodes: Sequence[EpisodeBeside], cell: Callable[[EpisodeBeside], Cell]
) -> GridRow | None:
    return GridRow(label, tuple(cell(episode) for episode in episodes))


def _outcome(episode: EpisodeBeside) -> Cell:
    outcome = outcome_of(episode.row["complete"], episode.row["r_success"])
    reward = episode.row["r_strict"]
    text = OUTCOMES[outcome]
    if outcome in ("success", "failure") and not pd.isna(reward):
        text = f"{text}, strict reward {float(reward):.3f}"
    return Cell(text, {"success": True, "unscored": None}.get(outcome, False))


def _ending(episode: EpisodeBeside) -> Cell:
    row = episode.row
    if bool(row["complete"]):
        return Cell(_text(row["reason"]))
    parts = [_text(row[name]) for name in ("error_stage", "error_type", "error_message")]
    return Cell(": ".join(part for part in parts if part != _MISSING) or "incomplete record")


def _component_rows(episodes: Sequence[EpisodeBeside]) -> list[GridRow | None]:
    labels = ("Type", "Attributes", "Options", "Price")

    def cell(place: int, episode: EpisodeBeside) -> Cell:
        if episode.told is None:
            return Cell(_MISSING)
        component = episode.told.components[place]
        if component.value is None or pd.isna(component.value):
            return Cell(_MISSING)
        met = component.value == 1.0
        plain = met and component.name == "r_type"  # why two categories agree is no news
        return Cell(f"{component.value:.3f}" + ("" if plain else f": {component.reason}"), met)

    return [
        _row(label, episodes, lambda episode, place=place: cell(place, episode))  # type: ignore[misc]
        for place, label in enumerate(labels)
    ]


def _bought(episode: EpisodeBeside) -> Cell:
    row = episode.row
    if not bool(row["complete"]) or _text(row["bought_asin"]) == _MISSING:
        return Cell("nothing")
    price = "" if pd.isna(row["bought_price"]) else f", {float(row['bought_price']):g}"
    if row["target_asin_match"] is not None and bool(row["target_asin_match"]):
        return Cell(f"the wanted product{price}", True)
    return Cell(f"{_text(row['bought_name'])} ({_text(row['bought_asin'])}){price}")


def _wanted_rows(
    noun: str,
    episodes: Sequence[EpisodeBeside],
    items: Callable[[RewardExplanation], Sequence[WantedItem]],
) -> list[GridRow]:
    """One row a wanted thing: the goals of different catalogues may want different ones."""
    columns = [{item.text: item for item in items(e.told)} if e.told else {} for e in episodes]
    wanted = dict.fromkeys(text for column in columns for text in column)
    return [
        GridRow(f"{noun}: {text or '(blank)'}", tuple(_wanted(column.get(text)) for column in columns))
        for text in wanted
    ]


def _wanted(item: WantedItem | None) -> Cell:
    if item is None or item.met is None:
        return Cell(_MISSING)
    return Cell(item.by or "met", True) if item.met else Cell("missing", False)


def _chosen(episode: EpisodeBeside) -> Cell:
    chosen = episode.told.chosen if episode.told else ()
    return Cell("\n".join(f"{axis} = {value}" for axis, value in chosen) or _MISSING)


def _steps(episode: EpisodeBeside) -> Cell:
    row = episode.row
    parts = [plural(int(row["steps"]), "step")]
    parts += [plural(n, noun) for name, noun in _TROUBLE.items() if (n := int(row[name]))]
    return Cell(", ".join(parts))


_TROUBLE: Final[Mapping[str, str]] = {
    "invalid_actions": "invalid action",
    "protocol_errors": "protocol error",
    "policy_failures": "policy failure",
}


def _queries(episode: EpisodeBeside) -> Cell:
    lines = []
    for number, (query, results, rank) in enumerate(episode.queries, 1):
        found = "wanted product not shown" if pd.isna(rank) else f"wanted product at {int(rank)}"
        total = "" if pd.isna(results) else f"{plural(int(results), 'result')}, "
        lines.append(f"{number}. {query} ({total}{found})")
    return Cell("\n".join(lines) or _MISSING)


def _text(value: Any) -> str:
    return _MISSING if value is None or pd.isna(value) or not str(value).strip() else str(value)
