"""Chunks of the skill: how often they were included against the target, and what they contribute."""

from __future__ import annotations

from typing import Any

import pandas as pd

from dashboard.analysis.intervals import with_share_interval

__all__ = ["bundle_chunks", "chunk_label", "chunk_order", "contribution_grid", "inclusion_by_round"]


def bundle_chunks(chunks: pd.DataFrame, steps: pd.DataFrame) -> pd.DataFrame:
    """A bundle's chunk rates with the columns of ``training_step_chunks.sql``.

    ``steps`` are :func:`~dashboard.analysis.training.steps.bundle_steps`; n are the groups with a skill.
    """
    assisted = (steps["skill_free_n"] * (1 - steps["skill_free_share"])).round()
    by_step = pd.Series(assisted.to_numpy(), index=steps["step"].to_numpy())
    n = chunks["step"].map(by_step).astype("float64")
    return chunks.assign(n=n, included=(chunks["inclusion_rate"] * n).round())


def inclusion_by_round(chunks: pd.DataFrame) -> pd.DataFrame:
    """Inclusion of each chunk over a whole round, one row a chunk and round.

    Columns ``round, chunk_id, included, n, target_rho, share, low, high``; the interval is Wilson's. A chunk
    whose target changes within a round has no target.
    """
    known = chunks[chunks["n"].notna() & chunks["included"].notna()]
    if known.empty:
        columns = ["round", "chunk_id", "included", "n", "target_rho", "share", "low", "high"]
        return pd.DataFrame(columns=columns)
    table = known.groupby(["round", "chunk_id"], sort=True, as_index=False).agg(
        included=("included", "sum"), n=("n", "sum"), target_rho=("target_rho", _only)
    )
    return with_share_interval(table, "included", "n")


def _only(values: pd.Series[Any]) -> float:
    known = values.dropna().unique()
    return float(known[0]) if len(known) == 1 else float("nan")


def chunk_order(chunk_ids: pd.Series[Any]) -> list[str]:
    """Chunk ids in the order in which they first appear."""
    return [str(name) for name in dict.fromkeys(chunk_ids.dropna())]


def chunk_label(chunk_id: str, limit: int = 20) -> str:
    """A chunk id short enough for an axis: the beginning and the end stay."""
    return chunk_id if len(chunk_id) <= limit else f"{chunk_id[: limit - 5]}…{chunk_id[-4:]}"


def contribution_grid(contributions: pd.DataFrame) -> pd.DataFrame:
    """Contributions for a heat map, one row an intervention and round in drawing order.

    Adds ``row`` (a label unique within the grid, rewrites below the chunk they rewrite), ``selected`` and
    ``described`` (what was done). Interventions of one chunk stand together, chunks in order of appearance.
    """
    table = contributions.copy()
    table["chunk_id"] = table["chunk_id"].fillna(table["intervention_id"])
    places = {name: place for place, name in enumerate(chunk_order(table["chunk_id"]))}
    table["place"] = table["chunk_id"].map(places)
    rewrites = table["intervention_id"] != table["chunk_id"]
    table["status"] = table["status"].fillna("status not recorded")
    table["selected"] = table["status"] == "selected"
    operations = table["operation"].fillna("").str.lower()
    table["described"] = operations.where(operations != "", table["kind"].fillna("current"))
    table["row"] = [
        f"↳ {chunk_label(str(name))}" if rewrite else chunk_label(str(name))
        for name, rewrite in zip(table["intervention_id"], rewrites, strict=True)
    ]
    first = table.groupby("intervention_id")["round"].transform("min")
    table = table.assign(rewrite=rewrites, first=first)
    return table.sort_values(
        ["place", "rewrite", "first", "intervention_id", "round"], kind="stable"
    ).reset_index(drop=True)
