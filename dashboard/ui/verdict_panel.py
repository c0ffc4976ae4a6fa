"""Giving a verdict on an episode or a task: to be embedded in any page.

::

    from dashboard.ui.verdict_panel import verdict_panel
    verdict_panel(episode_target(run_id, episode_id, task_id=task_id, record=record_key))

What is typed stays in the session until it is saved, for every target on its own. Saving names the state
that was on the screen: a change made elsewhere meanwhile is shown instead of overwritten.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import streamlit as st

from dashboard.review import (
    SEVERITIES,
    ConflictError,
    Event,
    ReviewError,
    ReviewStore,
    Target,
    Taxonomy,
    Verdict,
)
from dashboard.review.verdicts import LONGEST_COMMENT, checked_verdict
from dashboard.ui import state
from dashboard.ui.reviews import draw_event, get_store, get_taxonomy, pick_reviewer, reviewer
from dashboard.ui.text import error_text, plural, safe_text

__all__ = ["verdict_panel"]

Then = Callable[[], None]
_NOTE: Final = "_verdict_note"


@dataclass(frozen=True, slots=True)
class _Draft:
    """The session's copy of one reviewer's verdict on one target. ``key`` begins its widgets' keys."""

    store: ReviewStore
    taxonomy: Taxonomy
    target: Target
    name: str

    @property
    def key(self) -> str:
        text = f"{self.store.path}\0{self.target.key}\0{self.name.casefold()}"
        return f"verdict-{hashlib.sha256(text.encode()).hexdigest()[:16]}"

    @property
    def seen(self) -> int:
        """The event that the widgets started from."""
        return int(st.session_state.get(f"{self.key}-seen", 0))

    @property
    def base(self) -> Verdict:
        """The verdict that the widgets started from."""
        base: Verdict = st.session_state.get(f"{self.key}-base", Verdict())
        return base

    @property
    def value(self) -> Verdict:
        """What the widgets say now."""
        labels = st.session_state.get(f"{self.key}-labels") or []
        severity = st.session_state.get(f"{self.key}-severity") or ""
        comment = st.session_state.get(f"{self.key}-comment") or ""
        return Verdict(tuple(self.taxonomy.order(labels)), severity, comment.strip())

    def load(self, event: Event | None) -> None:
        """Start from what stands."""
        verdict = (event.verdict if event else None) or Verdict()
        st.session_state[f"{self.key}-seen"] = event.event_id if event else 0
        st.session_state[f"{self.key}-base"] = verdict
        st.session_state[f"{self.key}-labels"] = list(verdict.labels)
        st.session_state[f"{self.key}-severity"] = verdict.severity or None
        st.session_state[f"{self.key}-comment"] = verdict.comment

    def follow(self, event: Event | None) -> None:
        """Take over what stands unless something unsaved would be lost."""
        known = f"{self.key}-seen" in st.session_state
        moved = (event.event_id if event else 0) != self.seen
        if not known or (moved and self.value == self.base):
            self.load(event)


def verdict_panel(target: Target, *, then: Then | None = None, ask_name: bool = True) -> None:
    """Draw the panel. ``then`` is called after "Save and next" (without it there is no such button).

    ``ask_name``: draw the widget for the reviewer's name as long as there is none; a page that draws it
    itself passes False. Problems of the review database or the labels are told in place; the page goes on.
    """
    try:
        if ask_name and not reviewer():
            pick_reviewer()
        if not reviewer():
            st.caption("Say who you are to give a verdict.")
            _others(get_store(), get_taxonomy(), target, "")
            return
        draft = _Draft(get_store(), get_taxonomy(), target, reviewer())
        latest = draft.store.latest(target, draft.name)
        draft.follow(latest)
        _told(draft, latest)
        _widgets(draft)
        _buttons(draft, latest, then)
        _others(draft.store, draft.taxonomy, target, draft.name)
    except ReviewError as error:
        st.error(error_text(error), icon=":material/error:")


def _told(draft: _Draft, latest: Event | None) -> None:
    """What stands, what changed elsewhere, and what the last button did."""
    note: tuple[str, str] | None = st.session_state.pop(f"{draft.key}{_NOTE}", None)
    if note is not None:
        {"error": st.error, "done": st.success}[note[0]](error_text(note[1]))
    if latest is not None and latest.event_id != draft.seen:
        st.warning(
            "Your verdict was changed in another window. What you typed here is not saved yet.",
            icon=":material/sync_problem:",
        )
        draw_event(latest, draft.taxonomy, name=False)
        with st.container(horizontal=True):
            st.button("Take what stands", key=f"{draft.key}-take", on_click=draft.load, args=(latest,))
            st.button("Keep what I typed", key=f"{draft.key}-keep", on_click=_keep, args=(draft, latest))
    if latest is not None and latest.verdict is not None and latest.target.record != draft.target.record:
        st.info(
            "Your verdict is about an earlier recording of this episode. Save it again to confirm it.",
            icon=":material/history:",
        )


def _widgets(draft: _Draft) -> None:
    keys = draft.taxonomy.keys(draft.target.kind)
    gone = [key for key in draft.value.labels if key not in keys]
    common: dict[str, Any] = {"persist_state": "session"}
    st.pills(
        "Labels",
        [*keys, *gone],
        selection_mode="multi",
        key=f"{draft.key}-labels",
        format_func=lambda key: safe_text(draft.taxonomy.name(key)),
        help=_descriptions(draft.taxonomy, keys),
        **common,
    )
    st.segmented_control(
        "Severity", list(SEVERITIES), key=f"{draft.key}-severity", format_func=str.capitalize, **common
    )
    st.text_area(
        "Comment",
        key=f"{draft.key}-comment",
        max_chars=LONGEST_COMMENT,
        height=90,
        placeholder="Why?",
        **common,
    )


def _descriptions(taxonomy: Taxonomy, keys: list[str]) -> str:
    labels = map(taxonomy.get, keys)
    return "\n".join(f"- **{safe_text(label.name)}**: {safe_text(label.description)}" for label in labels)


def _buttons(draft: _Draft, latest: Event | None, then: Then | None) -> None:
    stands = latest is not None and latest.verdict is not None
    confirmed = stands and latest is not None and latest.target.record == draft.target.record
    changed = draft.value != draft.base or (stands and not confirmed)
    ready = changed and not draft.value.empty
    with st.container(horizontal=True):
        if then is not None:
            st.button(
                "Save and next",
                key=f"{draft.key}-next",
                type="primary",
                shortcut="Shift+S",
                on_click=_save,
                args=(draft, then),
                disabled=draft.value.empty,
                help="Save what you chose and go to the next failure",
            )
        st.button("Save", key=f"{draft.key}-save", on_click=_save, args=(draft, None), disabled=not ready)
        st.button(
            "Undo",
            key=f"{draft.key}-undo",
            on_click=_undo,
            args=(draft,),
            disabled=latest is None or latest.state == 0,
            help="Bring back what stood before your last change",
        )
        st.button(
            "Take back",
            key=f"{draft.key}-retract",
            on_click=_retract,
            args=(draft,),
            disabled=not stands,
            help="Remove your verdict; the history keeps it",
        )
    if changed and draft.value != draft.base:
        st.caption("Not saved yet.")
    elif stands:
        st.caption("Saved.")


def _save(draft: _Draft, then: Then | None) -> None:
    def change() -> Event:
        verdict = checked_verdict(draft.value, draft.target.kind, draft.taxonomy, held=set(draft.base.labels))
        return draft.store.record(draft.target, draft.name, verdict, expected=draft.seen)

    unchanged = then is not None and draft.value == draft.base and draft.seen > 0 and _confirmed(draft)
    if (unchanged or _do(draft, change, None)) and then is not None:
        then()


def _confirmed(draft: _Draft) -> bool:
    latest = draft.store.latest(draft.target, draft.name)
    return latest is not None and latest.target.record == draft.target.record


def _undo(draft: _Draft) -> None:
    _do(draft, lambda: draft.store.undo(draft.target, draft.name, expected=draft.seen), "Undone.")


def _retract(draft: _Draft) -> None:
    _do(draft, lambda: draft.store.retract(draft.target, draft.name, expected=draft.seen), "Taken back.")


def _keep(draft: _Draft, latest: Event) -> None:
    """Go on with what was typed, knowing what stands."""
    st.session_state[f"{draft.key}-seen"] = latest.event_id
    st.session_state[f"{draft.key}-base"] = latest.verdict or Verdict()


def _do(draft: _Draft, change: Callable[[], Event], done: str | None) -> bool:
    """Make a change and start from it; a conflict shows itself on the next draw, other problems as a note."""
    try:
        draft.load(change())
    except ConflictError:
        return False
    except ReviewError as error:
        st.session_state[f"{draft.key}{_NOTE}"] = ("error", str(error))
        return False
    if done:
        st.session_state[f"{draft.key}{_NOTE}"] = ("done", done)
    return True


def _others(store: ReviewStore, taxonomy: Taxonomy, target: Target, name: str) -> None:
    """Other reviewers' verdicts, only after one's own: whoever has read them is not independent any more."""
    history = store.history(target)
    standing = {event.reviewer: event for event in history}
    others = [event for who, event in standing.items() if who.casefold() != name.casefold() and event.verdict]
    own = next((event for who, event in standing.items() if who.casefold() == name.casefold()), None)
    shown = own is not None and own.verdict is not None
    if others and not shown:
        shown = state.toggle(
            f"Show {plural(len(others), 'verdict')} of others",
            key="others",
            help="Hidden until you gave yours, so that verdicts stay independent.",
        )
    if others and shown:
        st.markdown("**Others**")
        for event in others:
            draw_event(event, taxonomy)
            if event.target.record != target.record:
                st.caption("About an earlier recording of this episode.")
    seen = [event for event in history if shown or event.reviewer.casefold() == name.casefold()]
    if len(seen) > 1:
        with st.expander(f"History ({plural(len(seen), 'entry', 'entries')})"):
            for event in reversed(seen):
                draw_event(event, taxonomy)
