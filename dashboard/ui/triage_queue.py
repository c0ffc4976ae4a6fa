"""Parts of the page Triage: the filters, how far the review is, the way through the queue, the list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from dashboard.analysis.diagnosis import STAGE_ORDER, STAGES
from dashboard.analysis.diagnosis.stages import SUCCESS_STAGE
from dashboard.analysis.terminations import reason_order
from dashboard.review import Taxonomy
from dashboard.review.queue import (
    COMPONENTS,
    STATUSES,
    Filters,
    filtered,
    is_open,
    neighbours,
    progress,
    with_reviews,
    with_stages,
)
from dashboard.ui import state
from dashboard.ui.data import Runs, rows, shared
from dashboard.ui.diagnosis import diagnoses
from dashboard.ui.missing import quoted, say_missing
from dashboard.ui.reviews import current_verdicts
from dashboard.ui.text import count, percent, plural

__all__ = [
    "Queue",
    "choose_current",
    "choose_queue",
    "draw_way",
    "go_to",
    "queued_episode",
    "reviewed_episodes",
]

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Queue:
    """``rows``: the failures that the filters leave, worst first; ``status``: those that it stops at."""

    rows: pd.DataFrame
    status: str
    filters: Filters

    @property
    def open(self) -> pd.DataFrame:
        """The rows that the queue stops at."""
        return shared(_open_rows, self.rows, self.status)

    def place(self, key: Key) -> int | None:
        """Where a row stands, from 1; None when it is not among the rows."""
        return shared(_places, self.rows).get(key)


def _open_rows(rows: pd.DataFrame, status: str) -> pd.DataFrame:
    return rows[is_open(rows, status)].reset_index(drop=True)


def _places(rows: pd.DataFrame) -> dict[Key, int]:
    """Where each episode stands, from 1."""
    keys = zip(rows["run_id"], rows["episode_id"], strict=True)
    return {key: place for place, key in enumerate(keys, start=1)}


def reviewed_episodes(run_ids: list[str], name: str) -> pd.DataFrame:
    """Every episode of the runs with what was said of it, worst first; shared, not to be changed."""
    episodes = rows("triage_episodes", run_ids=run_ids)
    return shared(with_reviews, episodes, current_verdicts("episode"), name)


def choose_queue(runs: Runs, run_ids: list[str], episodes: pd.DataFrame, taxonomy: Taxonomy) -> Queue:
    """The filter widgets, and the queue that they leave.

    Stages are worked out only when one is asked for: with a large catalogue that takes a while.
    """
    offered = shared(_offered, episodes)
    keys = taxonomy.order({*taxonomy.keys("episode"), *offered.labels})
    stages = {key: STAGES[key].label for key in STAGE_ORDER if key != SUCCESS_STAGE}
    with st.container(horizontal=True, gap="small"):
        with st.container(width=190):
            status = state.choice("Show", list(STATUSES), key="status", format_func=STATUSES.__getitem__)
        reason = _open_choice("Ended by", offered.reasons, "reason")
        component = _open_choice("Component", COMPONENTS, "component", COMPONENTS)
        domain = _open_choice("Domain", offered.domains, "domain")
        label = _open_choice("Label", keys, "label", {key: taxonomy.name(key) for key in keys})
        stage = _open_choice("Broke at stage", stages, "stage", stages)
    filters = Filters("failure", reason, component, domain, label, stage)
    staged = shared(with_stages, episodes, diagnoses(run_ids) if stage else None)
    return Queue(shared(filtered, staged, filters), status, filters)


class _Offered(NamedTuple):
    """What the failures can be filtered by."""

    reasons: list[str]
    domains: list[str]
    labels: frozenset[str]


def _offered(episodes: pd.DataFrame) -> _Offered:
    failures = filtered(episodes, Filters())
    labels = frozenset(key for keys in failures["labels"] for key in keys)
    return _Offered(reason_order(failures["reason"]), sorted(failures["domain"].dropna().unique()), labels)


def choose_current(queue: Queue, episodes: pd.DataFrame) -> Key | None:
    """The episode of the URL (``run``, ``episode``), else the first one that the queue stops at."""
    asked = (state.peek("run") or "", state.peek("episode") or "")
    known = asked in shared(_places, episodes)
    if state.raw("episode") and not known:
        say_missing(f"The chosen runs have no episode {quoted([' '.join(asked).strip()])}", "the queue")
    current: Key | None = asked if known else shared(neighbours, queue.rows, queue.status, None)[1]
    if current is not None:
        state.remember("run", current[0])
        state.remember("episode", current[1], of="run")
    return current


def queued_episode(episodes: pd.DataFrame, key: Key) -> dict[Any, Any]:
    """The row of one episode."""
    return episodes.iloc[shared(_places, episodes)[key] - 1].to_dict()


def go_to(key: Key | None) -> None:
    """Show another episode (a widget's callback)."""
    if key is not None:
        state.put("run", key[0])
        state.put("episode", key[1])
        state.put("view", "review")


def draw_way(queue: Queue, current: Key, name: str) -> Key | None:
    """Progress, the place in the queue, buttons to the failures before and after; the one after."""
    anyone, own = shared(progress, queue.rows), shared(progress, queue.rows, mine=True)
    share = anyone.done / anyone.total if anyone.total else 0.0
    told = f"{count(anyone.done)} of {plural(anyone.total, 'failure')} reviewed ({percent(share, 0)})"
    st.progress(share, text=told + (f", {count(own.done)} by you" if name else ""))
    before, after = shared(neighbours, queue.rows, queue.status, current)
    with st.container(horizontal=True, vertical_alignment="center"):
        _way_button("Previous", before, "Shift+P", "left", "The failure before this one, reviewed or not")
        _way_button("Next", after, "Shift+N", "right", f"The next of: {STATUSES[queue.status].lower()}")
        place = queue.place(current)
        where = (
            f"Failure {count(place)} of {count(anyone.total)}, worst first"
            if place
            else "Not among the failures that the filters leave"
        )
        st.caption(where)
    return after


def _way_button(label: str, key: Key | None, shortcut: str, side: str, help: str) -> None:
    st.button(
        label,
        help=help,
        key=f"way-{label}",
        icon=":material/skip_previous:" if side == "left" else ":material/skip_next:",
        icon_position="left" if side == "left" else "right",
        shortcut=shortcut,
        disabled=key is None,
        on_click=go_to,
        args=(key,),
    )


def _open_choice(label: str, options: Iterable[str], key: str, names: Mapping[str, str] | None = None) -> str:
    """One of ``options`` or all of them (an empty text)."""
    labels = names or {}
    with st.container(width=150):
        return state.choice(
            label, ["", *options], key=key, format_func=lambda name: labels.get(name, name) or "All"
        )
