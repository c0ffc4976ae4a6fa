"""Which episodes an export holds: the reviewers' filters, without a page."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from dashboard.lake import Lake
from dashboard.review.queue import Filters, filtered, with_reviews, with_stages
from dashboard.review.store import ReviewStore

__all__ = ["chosen_episodes"]


def chosen_episodes(
    lake: Lake,
    store: ReviewStore,
    run_ids: Sequence[str],
    filters: Filters,
    *,
    tasks: Sequence[int] = (),
    stages: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Rows of ``triage_episodes.sql`` with reviews and stages, narrowed; worst first.

    ``tasks`` keeps the episodes of those tasks; none means all.
    """
    episodes = lake.query("triage_episodes", run_ids=list(run_ids))
    reviewed = with_stages(with_reviews(episodes, store.current("episode"), ""), stages)
    chosen = filtered(reviewed, filters)
    return chosen[chosen["task_id"].isin(tasks)].reset_index(drop=True) if tasks else chosen
