"""Looking for new data: when due, by one session, while the others wait or go on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from dashboard.ui.refreshed import Refreshed


@dataclass(frozen=True)
class State:
    version: str


def test_it_is_looked_at_when_due_or_now() -> None:
    found = iter([State("a"), State("b"), State("c")])
    newest: Refreshed[State] = Refreshed()
    looks = [
        newest.look(lambda: next(found), every=3600.0),
        newest.look(lambda: next(found), every=3600.0),
        newest.look(lambda: next(found), every=3600.0, now=True),
        newest.look(lambda: next(found), every=0.0),
    ]
    assert [state.version for state in looks] == ["a", "a", "b", "c"]


def test_results_are_dropped_when_the_version_changes() -> None:
    newest: Refreshed[State] = Refreshed()
    newest.look(lambda: State("a"), every=0.0)
    before = newest.results
    newest.look(lambda: State("a"), every=0.0)
    assert newest.results is before
    newest.look(lambda: State("b"), every=0.0)
    assert newest.results is not before


def test_after_a_failed_look_the_next_one_tries_again() -> None:
    def fail() -> State:
        raise OSError("no space")

    newest: Refreshed[State] = Refreshed(waits=False)
    with pytest.raises(OSError, match="no space"):
        newest.look(fail, every=3600.0)
    assert newest.look(lambda: State("a"), every=3600.0) == State("a")


@pytest.mark.parametrize(("waits", "seen"), [(True, "b"), (False, "a")])
def test_the_others_wait_or_use_the_state_before(waits: bool, seen: str) -> None:
    newest: Refreshed[State] = Refreshed(waits=waits)
    newest.look(lambda: State("a"), every=3600.0)
    with ThreadPoolExecutor(2) as threads:
        begun, go_on = threading.Event(), threading.Event()
        first = threads.submit(newest.look, _slow(begun, go_on), every=3600.0, now=True)
        assert begun.wait(10)
        second = threads.submit(newest.look, lambda: State("nobody looks twice"), every=3600.0)
        if not waits:
            assert second.result(10).version == seen
        go_on.set()
        assert first.result(10).version == "b" and second.result(10).version == seen


def _slow(begun: threading.Event, go_on: threading.Event) -> Callable[[], State]:
    def refresh() -> State:
        begun.set()
        assert go_on.wait(10)
        return State("b")

    return refresh
