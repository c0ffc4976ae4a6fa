"""A sandbox play as a pure function of its address: task, persona mode and the actions taken.

The engine is deterministic, so the URL holds the whole play. Opening a link replays it, and the browser's
back button takes the last action back. The recorder of the current play is kept in the session only so that
nothing needs to be replayed while one plays on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import streamlit as st

from dashboard.ui import state
from dashboard.ui.data import Runs
from shopsim.engine import Engine
from shopsim.rollout.recorder import PlayRecorder, SavedPlay

__all__ = ["Play", "current_play", "restart", "save_play", "saved_run", "take"]

_ACTIONS = "act"
_SESSION = "_sandbox_play"
_SAVED = "_sandbox_saved"


@dataclass(slots=True)
class Play:
    """One play: the recorder stands after ``actions``. ``feedback`` holds one entry an action."""

    engine: Engine
    task_id: int
    persona: bool
    recorder: PlayRecorder
    actions: list[str] = field(default_factory=list)
    feedback: list[dict[str, object]] = field(default_factory=list)

    @property
    def identity(self) -> tuple[str, int, bool, tuple[str, ...]]:
        """What makes two plays the same."""
        return (self.engine.corpus.sha256, self.task_id, self.persona, tuple(self.actions))

    @property
    def saved(self) -> SavedPlay | None:
        """Where this play was saved in this session, if it was."""
        saved: SavedPlay | None = _saved_plays().get(self.identity)
        return saved

    def advance(self, action: str) -> None:
        """Take one action; after the end nothing happens."""
        if self.recorder.done:
            return
        answer = self.recorder.act(action)
        self.actions.append(action)
        self.feedback.append(dict(answer.get("action_feedback") or {}))


def current_play(engine: Engine, task_id: int, *, persona: bool) -> Play:
    """The play that the URL describes, replayed as far as the session's play differs from it."""
    wanted = [action for action in state.raw(_ACTIONS) if action.strip()]
    play: Play | None = st.session_state.get(_SESSION)
    if play is not None and (play.engine, play.task_id, play.persona) != (engine, task_id, persona):
        play = None
    if play is None or wanted[: len(play.actions)] != play.actions:
        play = Play(engine, task_id, persona, PlayRecorder(engine, task_id, persona=persona))
    for action in wanted[len(play.actions) :]:
        play.advance(action)
    st.session_state[_SESSION] = play
    _write(play.actions)
    return play


def take(action: str) -> None:
    """Take one action in the current play (a widget's callback)."""
    play: Play | None = st.session_state.get(_SESSION)
    if play is not None and action.strip():
        play.advance(action)
        _write(play.actions)


def restart(actions: Sequence[str] = ()) -> None:
    """Start the task again, or go back to where it stood after ``actions`` (a widget's callback)."""
    _write(actions)


def save_play(name: str) -> SavedPlay:
    """Save the finished play to ``sandbox-<name>``; saving a play twice is one save, whoever opened it.

    Raises :class:`~shopsim.errors.ShopSimError` for an unfinished play or an unusable name.
    """
    play: Play = st.session_state[_SESSION]
    saved = play.saved or play.recorder.save(name, once=True)
    _saved_plays()[play.identity] = saved
    return saved


def saved_run(runs: Runs, saved: SavedPlay) -> str | None:
    """The id under which the pages know the run of a saved play; None when they do not look there."""
    folder = saved.folder.resolve()
    return next((run_id for run_id in runs.ids if Path(str(runs.table.at[run_id, "path"])) == folder), None)


def _write(actions: Sequence[str]) -> None:
    state.remember(_ACTIONS, list(actions), [], of="task")


def _saved_plays() -> dict[tuple[str, int, bool, tuple[str, ...]], SavedPlay]:
    plays: dict[tuple[str, int, bool, tuple[str, ...]], SavedPlay]
    plays = st.session_state.setdefault(_SAVED, {})
    return plays
