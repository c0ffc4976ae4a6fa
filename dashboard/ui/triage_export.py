"""Parts of the page Triage: what reviewers take away: task lists, episodes, conversations, labels."""

from __future__ import annotations

import json
from collections import Counter
from typing import Final

import pandas as pd
import streamlit as st

from dashboard.review import ExportError
from dashboard.review.export import (
    MEDIA_TYPE,
    episode_lines,
    label_rows,
    labels_csv,
    labels_jsonl,
    sft_lines,
    task_list,
)
from dashboard.review.queue import OUTCOMES
from dashboard.ui import components as ui
from dashboard.ui import state
from dashboard.ui.data import get_lake
from dashboard.ui.reviews import current_verdicts, get_store
from dashboard.ui.text import count, error_text, plural
from dashboard.ui.triage_queue import Queue

__all__ = ["draw_export"]

_MOST_BYTES: Final = 300 << 20
_WHICH: Final = {
    "queue": "What the filters leave",
    "failure": "All failures",
    "success": "All successes",
    "all": "All episodes",
}


def draw_export(episodes: pd.DataFrame, queue: Queue) -> None:
    """Choose the episodes, then download them in one of the forms."""
    which = state.choice(
        "Episodes", list(_WHICH), key="which", look="segmented", format_func=_WHICH.__getitem__
    )
    chosen = _chosen(episodes, queue, which)
    tasks = chosen["task_id"].nunique()
    size = int(chosen["line_length"].sum())
    st.caption(
        f"{plural(len(chosen), 'episode')} of {plural(tasks, 'task')}, {_megabytes(size)} as recorded. "
        "The same from a terminal: shopsim-review export --help."
    )
    if chosen.empty:
        ui.empty_state("There is nothing to export.", hint="Choose other episodes, or widen the filters.")
    else:
        _episode_exports(chosen, size)
    _label_exports()


def _chosen(episodes: pd.DataFrame, queue: Queue, which: str) -> pd.DataFrame:
    if which == "queue":
        return queue.open
    success = episodes["success"].astype(bool)
    keep = {"success": success, "failure": ~success}.get(which)
    assert which in OUTCOMES
    return episodes if keep is None else episodes[keep]


def _episode_exports(chosen: pd.DataFrame, size: int) -> None:
    left, middle, right = st.columns(3, gap="large")
    with left:
        st.markdown("**Task list**")
        st.caption("For the next round: shopsim run --tasks FILE.")
        _task_button(chosen)
    with middle:
        st.markdown("**Recorded episodes**")
        st.caption("The very lines of the traces, one episode a line.")
        _button(
            "Download episodes", "episodes.jsonl", size, lambda: b"".join(episode_lines(get_lake(), chosen))
        )
    with right:
        st.markdown("**Training conversations**")
        st.caption("OpenAI messages of the successes among them. Nothing that the environment kept private.")
        reasoning = state.toggle(
            "With reasoning",
            key="reasoning",
            help="Adds reasoning_content. Left out: episodes whose reasoning holds what only the goal tells.",
        )
        clean = state.toggle("Without slips", key="clean", help="No protocol error and no refused action.")
        successes = int(chosen["success"].sum())
        if successes:
            lake = get_lake()
            _button(
                f"Download up to {plural(successes, 'conversation')}",
                "sft.jsonl",
                size,
                lambda: b"".join(
                    sft_lines(lake, chosen, reasoning=reasoning, clean=clean, skipped=Counter())
                ),
            )
        else:
            st.caption("None of them is a success.")


def _task_button(chosen: pd.DataFrame) -> None:
    try:
        tasks = task_list(chosen)
    except ExportError as error:
        st.warning(error_text(error), icon=":material/warning:")
        return
    text = json.dumps(tasks, ensure_ascii=False, indent=2) + "\n"
    _download(
        f"Download {plural(tasks['count'], 'task id')}", "tasks.json", text.encode(), "application/json"
    )


def _button(label: str, name: str, size: int, make: object) -> None:
    if size > _MOST_BYTES:
        st.caption(f"More than {_megabytes(_MOST_BYTES)}: use shopsim-review export, which writes a file.")
        return
    _download(label, name, make, MEDIA_TYPE)


def _label_exports() -> None:
    st.markdown("**Verdicts of all reviewers, on every run**")
    whole = state.toggle(
        "Whole history", key="history", help="Also what was changed or taken back, not only what stands."
    )
    current = pd.concat([current_verdicts("episode"), current_verdicts("task")])
    rows = label_rows(get_store().all_events() if whole else current.sort_values("event_id"), current)
    if not rows:
        st.caption("Nobody has given a verdict yet.")
        return
    st.caption(plural(len(rows), "entry", "entries"))
    with st.container(horizontal=True):
        _download("Download CSV", "verdicts.csv", labels_csv(rows), "text/csv")
        _download("Download JSON lines", "verdicts.jsonl", b"".join(labels_jsonl(rows)), MEDIA_TYPE)


def _download(label: str, name: str, data: object, mime: str) -> None:
    st.download_button(
        label,
        data=data,  # type: ignore[arg-type]
        file_name=name,
        mime=mime,
        key=f"download-{name}",
        icon=":material/download:",
        on_click="ignore",
    )


def _megabytes(size: int) -> str:
    return f"{count(size / 1e6)} MB" if size >= 1e6 else f"{count(size / 1e3)} kB"
