"""Figures of the verdict: what each one is, and in which of them an episode fell short (spec 06).

A verdict is of one number; its parts say where it was lost. A journey's parts are those of its subgoals,
named ``PD`` (the subgoal's own r_task) and ``PD.ndcg``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import pandas as pd

from dashboard.analysis.columns import Column
from dashboard.analysis.conversations.words import env_label, env_places
from dashboard.analysis.intervals import interval_texts, with_share_interval
from shopsim.rlve.collections import ENVIRONMENTS
from shopsim.rlve.tasks import discovery, substitution

__all__ = ["SHORT_COLUMNS", "Part", "describe_part", "is_short", "short_episodes", "shortfalls"]

_CLOSE: Final = 0.95
"""From this share of its best a figure does not make an episode wrong (spec 06, "correct")."""


@dataclass(frozen=True, slots=True)
class Part:
    """``rule``: the figure should be at least ``best`` (times 0.95), or at most 0, or is context only."""

    label: str
    meaning: str
    rule: Literal["best", "zero", "context"]
    best: float = 1.0


_PARTS: Final[Mapping[str, Part]] = {
    "ndcg": Part("Ranking", "nDCG of the recommended products against the best there are", "best"),
    "best_share": Part(
        "Wishes met", "share of the told wishes that the best recommended product meets", "best"
    ),
    "out_of_stock_share": Part(
        "Out of stock", "share of the recommended products that are out of stock", "zero"
    ),
    "constraints": Part("Told wishes", "how many wishes were told and count", "context"),
    "f1": Part("F1", "of what is wanted and what is there", "best"),
    "missing_units": Part("Units missing", "wanted units that are not in the cart", "zero"),
    "extra_units": Part("Units too many", "units in the cart that nobody wants", "zero"),
    "matched_units": Part("Right units", "units in the cart that are wanted", "context"),
    "wanted_units": Part("Wanted units", "units that the customer wants", "context"),
    "cart_units": Part("Units in the cart", "at the end", "context"),
    "selection": Part("Selected line", "1 where the answer names the right order and line, else −1", "best"),
    "return": Part("Return", "1 where what happened to the line is right, else −1", "best"),
    "replacement": Part("Replacement", "how well the replacement fits; 1 where none is wanted", "best"),
    "eligible": Part("Can go back", "1 where the line can be returned; 0: declining is right", "context"),
    "order": Part("Order", "1 where the answer names the right order", "best"),
    "status": Part("Status", "1 where the answer names its status", "best"),
    "answer": Part("Policy answer", "1 where it is right; amounts lose by their distance", "best"),
    "right_answers": Part("Right answers", "how many answers are right with what was told", "context"),
    "overspend": Part("Overspend", "what was spent above the budget, as a share of it", "zero"),
    "spent": Part("Spent", "in dollars", "context"),
    "categories": Part("Told categories", "how many categories were told and count", "context"),
}
_BEST: Final = {"PD": discovery.MAX_REWARD, "SUB": substitution.MAX_REWARD}

SHORT_COLUMNS: Final[Mapping[str, Column]] = {
    "env": Column("Environment", width=190),
    "part": Column("Figure", width=190),
    "share": Column("Fell short", "percent", help="Of the environment's wrong episodes", width=95),
    "ci": Column("95% CI", help="Wilson", width=120),
    "short": Column("Episodes", "count", help="Wrong episodes that fell short in it", width=85),
    "n": Column("of", "count", help="Wrong episodes whose verdict holds the figure", width=70),
    "mean": Column("Mean", "number", 3, help="Over those wrong episodes", width=75),
    "meaning": Column("Meaning", width="large"),
}


def describe_part(name: str) -> Part:
    """What a figure of a verdict is; an unknown one is context under its own name."""
    if name in _PARTS:
        return _PARTS[name]
    subgoal, _, inner = name.partition(".")
    if subgoal in ENVIRONMENTS and inner:
        part = describe_part(inner)
        return Part(f"{subgoal}: {part.label}", part.meaning, part.rule, part.best)
    if subgoal in ENVIRONMENTS:
        return Part(f"{subgoal}: task reward", "r_task of this subgoal", "best", _BEST.get(subgoal, 1.0))
    return Part(name, "", "context")


def is_short(name: str, value: float) -> bool:
    """Whether a figure is short of what makes an episode right."""
    part = describe_part(name)
    if part.rule == "best":
        return value < _CLOSE * part.best
    return part.rule == "zero" and value > 0


def shortfalls(parts: pd.DataFrame) -> pd.DataFrame:
    """Figures of wrong episodes by environment: in how many it fell short.

    ``parts`` of ``conversation_wrong_parts.sql``. Columns :data:`SHORT_COLUMNS`, ``env_id`` and ``part_id``,
    most often short first within an environment; figures that are never short are left out.
    """
    judged = _judged(parts)
    if judged.empty:
        return pd.DataFrame(columns=[*SHORT_COLUMNS, "env_id", "part_id"])
    table = judged.groupby(["env", "part"], as_index=False, sort=True).agg(
        short=("short", "sum"), n=("short", "size"), mean=("value", "mean")
    )
    table = with_share_interval(table[table["short"] > 0], "short", "n")
    table["ci"] = interval_texts(table["low"], table["high"], factor=100, digits=1)
    table["share"] = 100 * table["share"]
    table = table.rename(columns={"env": "env_id", "part": "part_id"})
    table["env"] = table["env_id"].map(env_label)
    described = [describe_part(name) for name in table["part_id"]]
    table["part"] = [part.label for part in described]
    table["meaning"] = [part.meaning for part in described]
    table = table.assign(place=table["env_id"].map(env_places(table["env_id"])))
    table = table.sort_values(["place", "share", "part_id"], ascending=[True, False, True])
    return table[[*SHORT_COLUMNS, "env_id", "part_id"]].reset_index(drop=True)


def short_episodes(parts: pd.DataFrame, part: str) -> frozenset[str]:
    """Ids of the wrong episodes that fell short in the figure ``part``."""
    judged = _judged(parts)
    found = judged.loc[(judged["part"] == part) & judged["short"], "episode_id"]
    return frozenset(map(str, found))


def _judged(parts: pd.DataFrame) -> pd.DataFrame:
    """Figures that are not mere context, with ``short``; units of a cart as missing ones and too many."""
    rows = pd.concat([parts, *_units(parts)], ignore_index=True)
    rules = {name: describe_part(name) for name in rows["part"].unique()}
    rows = rows[rows["part"].map(lambda name: rules[name].rule != "context").astype(bool)]
    short = [is_short(name, value) for name, value in zip(rows["part"], rows["value"], strict=True)]
    return rows.assign(short=pd.Series(short, index=rows.index, dtype=bool))


def _units(parts: pd.DataFrame) -> list[pd.DataFrame]:
    """Rows ``env, episode_id, part, value`` of missing and extra units: a verdict counts only right ones."""
    found: list[pd.DataFrame] = []
    for prefix in ("", "CART."):
        names = [f"{prefix}{name}_units" for name in ("matched", "wanted", "cart")]
        rows = parts[parts["part"].isin(names)]
        if rows.empty:
            continue
        wide: Any = rows.pivot_table(index=["env", "episode_id"], columns="part", values="value")
        if not set(names) <= set(wide.columns):
            continue
        for name, all_units in (("missing", names[1]), ("extra", names[2])):
            values = (wide[all_units] - wide[names[0]]).dropna().rename("value").reset_index()
            found.append(values.assign(part=f"{prefix}{name}_units"))
    return found
