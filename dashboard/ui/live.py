"""Following runs that are being written: a toggle, and a fragment that looks for new records by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from dashboard.analysis.live import LATEST, Progress, run_progress
from dashboard.analysis.run_state import is_unfinished
from dashboard.ui import state
from dashboard.ui.data import Runs, get_lake, lake_version, load_runs
from dashboard.ui.navigation import link_to
from dashboard.ui.text import count, duration, error_text, is_missing, number, plural, safe_text
from shopsim.errors import ShopSimError

__all__ = [
    "SECONDS",
    "follow",
    "follow_version",
    "progress_of",
    "unfinished_statuses",
]

SECONDS: Final = 5.0
"""How often a followed page looks for new records."""
_MOST_SHOWN: Final = 6
_DRAWN: Final = "_live_drawn"
_SHOWN_FOR: Final[Mapping[str, timedelta]] = {
    "running": timedelta.max,
    "waiting": timedelta(hours=1),
    "finished": timedelta(minutes=1),
}
"""How long after its last record a run of each status is shown in full."""


def follow(runs: Runs, run_ids: Sequence[str]) -> None:
    """Offer to follow the runs of ``run_ids`` that are being written (URL ``live``, off by default).

    While it is on, the page looks for new records every :data:`SECONDS` and draws itself again when there
    are any; without new records only the progress is drawn again.
    """
    traced = [run_id for run_id in run_ids if run_id in runs.with_traces]
    if not traced:
        return
    help_text = f"Looks for new records every {SECONDS:.0f} seconds and shows progress and expected end"
    if state.toggle("Follow runs being written", key="live", help=help_text):
        st.session_state[_DRAWN] = None  # the whole page is being drawn: nothing in it is old
        _watch(traced)


def follow_version(version: Callable[[], str], told: str, *, what: str, records: str) -> None:
    """Offer to draw the page again when ``version()`` changes, as :func:`follow` does for runs.

    ``told`` says how far things are (Markdown), ``what`` is being written ("rounds") and consists of
    ``records`` ("groups").
    """
    help_text = (
        f"Looks for new {records} every {SECONDS:.0f} seconds and draws the page again when there are any"
    )
    if state.toggle(f"Follow {what} being written", key="live", help=help_text):
        st.session_state[_DRAWN] = None
        _watch_version(version, told)


@st.fragment(run_every=SECONDS)
def _watch(run_ids: list[str]) -> None:
    try:
        _draw_again_when_changed(lake_version())
        _draw(run_ids)
    except ShopSimError as error:
        st.error(error_text(error), icon=":material/error:")


@st.fragment(run_every=SECONDS)
def _watch_version(version: Callable[[], str], told: str) -> None:
    try:
        _draw_again_when_changed(version())
        st.caption(f"{told}. Looked at {_clock(datetime.now(UTC), seconds=True)}.")
    except ShopSimError as error:
        st.error(error_text(error), icon=":material/error:")


def _draw_again_when_changed(version: str) -> None:
    if st.session_state.get(_DRAWN) not in (None, version):
        st.rerun()
    st.session_state[_DRAWN] = version


def _draw(run_ids: list[str]) -> None:
    runs = load_runs()
    progress = progress_of(runs, run_ids)
    shown = [run_id for run_id, p in progress.items() if p.idle <= _SHOWN_FOR[p.status]]
    quiet = [run_id for run_id, p in progress.items() if p.status == "waiting" and run_id not in shown]
    shown.sort(key=lambda run_id: (progress[run_id].status != "running", progress[run_id].idle))
    with st.container(border=True):
        if not shown:
            st.caption("None of the chosen runs is being written.")
        for run_id in shown[:_MOST_SHOWN]:
            _draw_run(runs, run_id, progress[run_id])
        if len(shown) > _MOST_SHOWN:
            st.caption(f"And {plural(len(shown) - _MOST_SHOWN, 'more run')}.")
        if quiet:
            names = ", ".join(runs.name(run_id) for run_id in quiet[:_MOST_SHOWN])
            more = " and others" if len(quiet) > _MOST_SHOWN else ""
            st.caption(safe_text(f"Unfinished, nothing new for over an hour: {names}{more}."))
        st.caption(f"Looked at {_clock(datetime.now(UTC), seconds=True)}.")


def _draw_run(runs: Runs, run_id: str, progress: Progress) -> None:
    name = safe_text(runs.name(run_id))
    if progress.requested is None:
        st.markdown(
            f"**{name}**: {plural(progress.recorded, 'episode')} recorded, no manifest says of how many"
        )
    else:
        asked = f"{count(progress.recorded)} of {plural(progress.requested, 'requested episode')}"
        st.progress(min(progress.share or 0.0, 1.0), text=f"**{name}**: {asked} recorded")
    st.caption(safe_text(" · ".join(_facts(progress))))
    if progress.last is not None:
        label = f"Last: {progress.last['episode_id']}, {_result(progress.last)}"
        link_to("replay", label, run=run_id, episode=progress.last["episode_id"])


def _facts(progress: Progress) -> list[str]:
    facts = []
    if progress.status == "waiting":
        facts.append(f"nothing new for {_span(progress.idle)}: stopped, or waiting for something")
    elif progress.status == "finished":
        facts.append("finished")
    if progress.per_minute is not None:
        facts.append(f"{number(progress.per_minute, 1)} episodes a minute")
    if progress.left is not None:
        end = datetime.now(UTC) + progress.left
        facts.append(f"expected end {_clock(end)}, in {_span(progress.left)}")
    elif progress.status == "running":
        facts.append("running, too early to tell when it ends")
    return facts


def progress_of(runs: Runs, run_ids: Sequence[str]) -> dict[str, Progress]:
    """How far each run is now, by its manifest, its records and when its trace was last written.

    Runs that finished a while ago are left out.
    """
    now = datetime.now(UTC)
    written = {run_id: _written(run_id, now) for run_id in run_ids if run_id in runs.table.index}
    pending = {run_id: _whole(runs.table.at[run_id, "pending"]) for run_id in written}
    open_runs = [r for r in written if pending[r] != 0 or now - written[r] <= _SHOWN_FOR["finished"]]
    latest: dict[str, list[dict[str, Any]]] = {run_id: [] for run_id in open_runs}
    for row in get_lake().records("live_endings", run_ids=open_runs, most=LATEST):
        latest[row["run_id"]].append(row)
    return {
        run_id: run_progress(
            requested=None if pending[run_id] is None else _whole(runs.table.at[run_id, "requested"]),
            pending=pending[run_id],
            episodes=_whole(runs.table.at[run_id, "unique_episodes"]) or 0,
            written_at=written[run_id],
            latest=latest[run_id],
            now=now,
        )
        for run_id in open_runs
    }


def unfinished_statuses(runs: Runs) -> dict[str, str]:
    """The status of each run that may still be written to; looks at the clock, so ask anew each time."""
    rows = runs.table[["run_id", "has_traces", "pending"]].to_dict("records")
    open_runs = [row["run_id"] for row in rows if is_unfinished(row)]
    if not open_runs:
        return {}
    return {run_id: progress.status for run_id, progress in progress_of(runs, open_runs).items()}


def _written(run_id: str, now: datetime) -> datetime:
    stamp = get_lake().run(run_id).traces
    return now if stamp is None else datetime.fromtimestamp(stamp[3] / 1e9, UTC)


def _whole(value: Any) -> int | None:
    return None if is_missing(value) else int(value)


def _result(episode: Any) -> str:
    if not episode["complete"]:
        return "failed"
    if episode["success"]:
        return "success"
    return "no valid score" if episode["r_strict"] is None else f"strict reward {episode['r_strict']:.2f}"


def _span(span: timedelta) -> str:
    seconds = round(span.total_seconds())
    return f"{seconds} s" if seconds < 60 else duration(1000 * seconds)


def _clock(time: datetime, *, seconds: bool = False) -> str:
    """The time of day where the reader is (with the day when it is another one)."""
    zone = st.context.timezone
    try:
        local = time.astimezone(ZoneInfo(zone) if zone else None)
        today = datetime.now(local.tzinfo).date()
    except ZoneInfoNotFoundError:
        local, today = time, datetime.now(UTC).date()
    return local.strftime(("" if local.date() == today else "%d %b, ") + ("%H:%M:%S" if seconds else "%H:%M"))
