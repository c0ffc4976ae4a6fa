"""Results shared by all sessions: computed once, never stale, bounded, and not to be changed by a page."""

from __future__ import annotations

import gc
import json
import threading
import time
import tomllib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import plotly.io
import pytest
import streamlit as st
from hypothesis import given, settings
from hypothesis import strategies as some
from streamlit.config import get_config_options

from dashboard.charts.distributions import bin_figure
from dashboard.ui import data
from dashboard.ui.figures import drawn
from dashboard.ui.shared import Shared, weight
from dashboard.ui.theme import run_styles
from tests.factories.review_pages import ReviewApp, review_workspace
from tests.factories.traces import episode_record, write_run

PLAIN: Any = some.recursive(
    some.none()
    | some.booleans()
    | some.integers(-3, 3)
    | some.sampled_from([0.0, 1.0, 2.5])
    | some.text("ab"),
    lambda part: some.lists(part, max_size=3) | some.dictionaries(some.text("ab"), part, max_size=3),
    max_leaves=6,
)


@dataclass
class Counted:
    """A pure function that counts how often it is called."""

    calls: int = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        return repr((args, kwargs))

    __hash__ = object.__hash__


def test_equal_arguments_are_computed_once_and_others_apart() -> None:
    shared, function = Shared(), Counted()
    first = shared(function, ["a", "b"], names={"a": 1}, of=("x", {1, 2}))
    assert shared(function, ["a", "b"], of=("x", {2, 1}), names={"a": 1}) is first
    assert function.calls == 1
    for args in ([1], [1.0], [True], ["1"], [(1,)], [[1]], [None], [{"a": 1}], [{"a": 1, "b": 1}], []):
        assert shared(function, *args) == repr((tuple(args), {}))
    assert function.calls == 11
    assert shared(Counted(), ["a", "b"]) is not first


@settings(max_examples=60, deadline=None)
@given(one=PLAIN, other=PLAIN)
def test_a_result_is_always_that_of_its_own_arguments(one: Any, other: Any) -> None:
    shared = Shared()
    function = repr
    for value in (one, other, one):
        assert shared(function, value) == repr(value)


def test_a_frame_is_the_same_only_as_itself_and_is_not_kept_alive() -> None:
    shared, function = Shared(), Counted()
    frame = pd.DataFrame({"n": [1, 2]})
    first = shared(function, frame)
    assert shared(function, frame) is first and function.calls == 1
    shared(function, frame.copy())
    assert function.calls == 2
    places = []
    for number in range(50):  # new frames may take the place of old ones in memory
        fresh = pd.DataFrame({"n": [number]})
        places.append(id(fresh))
        assert str(number) in shared(function, fresh)
        del fresh
        gc.collect(0)


def test_many_threads_compute_one_thing_once() -> None:
    shared = Shared()
    calls: list[int] = []

    def slow(number: int) -> list[int]:
        calls.append(number)
        time.sleep(0.05)
        return [number]

    with ThreadPoolExecutor(20) as threads:
        results = list(threads.map(lambda k: shared(slow, k % 2), range(20)))
    assert sorted(calls) == [0, 1]
    assert all(result is results[k % 2] for k, result in enumerate(results))


def test_a_failure_is_not_remembered_and_lets_the_waiting_try() -> None:
    shared = Shared()
    started, calls = threading.Event(), []

    def sometimes(name: str) -> str:
        calls.append(name)
        if len(calls) == 1:
            started.set()
            time.sleep(0.05)
            raise KeyboardInterrupt  # as Streamlit stops a run: no ordinary exception
        return name

    def first() -> None:
        with pytest.raises(KeyboardInterrupt):
            shared(sometimes, "a")

    thread = threading.Thread(target=first)
    thread.start()
    started.wait()
    assert shared(sometimes, "a") == "a"
    thread.join()
    assert len(calls) == 2 and shared(sometimes, "a") == "a" and len(calls) == 2


def test_one_shared_result_may_ask_for_another() -> None:
    shared = Shared()

    def outer(number: int) -> int:
        return shared(inner, number) + 1

    def inner(number: int) -> int:
        return 2 * number

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda k: shared(outer, k % 3), range(30))) == [
            2 * (k % 3) + 1 for k in range(30)
        ]


def test_the_least_recently_used_results_are_dropped_at_the_bounds() -> None:
    shared, function = Shared(most_entries=3), Counted()
    for number in (1, 2, 3, 1, 4):
        shared(function, number)
    assert len(shared) == 3 and function.calls == 4
    shared(function, 1)
    assert function.calls == 4
    shared(function, 2)
    assert function.calls == 5

    large = Shared(most_bytes=100_000)
    for number in range(20):
        large(lambda n: pd.DataFrame({"n": range(n, n + 1000)}), number)
        assert large.bytes <= 100_000
    assert 0 < len(large) < 20
    assert len(large(lambda: "x" * 200_000)) == 200_000  # what exceeds the bound is alone
    assert len(large) == 1


def test_weights_grow_with_what_they_weigh() -> None:
    frame = pd.DataFrame({"n": range(1000), "text": ["abc" * 10] * 1000})
    assert 30_000 < weight(frame) < 100_000
    assert weight([frame, frame]) > 2 * weight(frame) - 1
    assert weight({"a": "x" * 100}) > 100 and weight(3.0) > 0


def test_results_live_as_long_as_the_data_stay(workspace: Path) -> None:
    run = workspace / "runs" / "iter5"
    write_run(run, [episode_record(1)])
    data.refresh()
    function = Counted()
    rows = data.rows("termination_reasons", run_ids=["iter5"])
    first = data.shared(function, rows)
    data.refresh()
    assert data.rows("termination_reasons", run_ids=["iter5"]) is rows
    assert data.shared(function, rows) is first and function.calls == 1
    assert data.load_runs() is data.load_runs()
    write_run(run, [episode_record(1), episode_record(2)])
    data.refresh()
    newer = data.rows("termination_reasons", run_ids=["iter5"])
    assert newer["n"].sum() == 2 and rows["n"].sum() == 1
    data.shared(function, newer)
    assert function.calls == 2


def test_workspaces_share_nothing(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_run(workspace / "runs" / "mine", [episode_record(1)])
    function = Counted()
    data.shared(function, "same")
    assert data.load_runs().ids == ["mine"]
    other = workspace / "elsewhere"
    write_run(other / "runs" / "yours", [episode_record(1)])
    monkeypatch.setenv("SHOPSIM_ROOTS", str(other / "runs"))
    data.shared(function, "same")
    assert function.calls == 2
    assert data.load_runs().ids == ["yours"]


def test_a_finished_figure_is_sent_as_the_figure_itself(workspace: Path) -> None:
    bins = pd.DataFrame({"run_id": ["a", "b"], "bin": ["0", "1"], "n": [3, 4], "share": [1.0, 1.0]})
    names, styles = {"a": "A <b>", "b": "B"}, run_styles(["a", "b"])
    plain = bin_figure(bins, names, styles, title="Reward")
    finished = drawn(bin_figure, bins, names, styles, title="Reward")
    assert plotly.io.to_json(finished.to_dict(), validate=False) == plotly.io.to_json(plain)
    assert drawn(bin_figure, bins, dict(names), styles, title="Reward") is finished
    assert drawn(bin_figure, bins, names, styles, title="Other") is not finished
    assert finished.nbytes > len(json.dumps(finished.to_dict()["layout"]))
    assert isinstance(go.Figure(finished.to_dict()), go.Figure)


def test_no_page_run_ends_with_a_collection_of_the_whole_process() -> None:
    folder = Path(__file__).resolve().parents[3]
    told = tomllib.loads((folder / "dashboard" / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert told["runner"]["postScriptGC"] is False
    assert "runner.postScriptGC" in get_config_options()


@pytest.fixture(scope="module")
def review(tmp_path_factory: pytest.TempPathFactory) -> ReviewApp:
    return review_workspace(tmp_path_factory.mktemp("shared"))


@pytest.mark.parametrize(
    "page",
    ["overview", "rewards", "terminations", "options", "failures", "diagnosis", "compare", "behaviour"],
)
def test_pages_change_nothing_that_they_share(
    review: ReviewApp, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[pd.DataFrame, pd.DataFrame]] = []
    original = Shared.__call__

    def watched(self: Shared, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        value = original(self, function, *args, **kwargs)
        parts = value if isinstance(value, tuple) else (value,)
        given.extend((part, part.copy(deep=True)) for part in parts if isinstance(part, pd.DataFrame))
        return value

    st.cache_resource.clear()
    monkeypatch.setattr(Shared, "__call__", watched)
    app = review.open(page)
    assert not app.exception and len(given) > 1
    for frame, before in given:
        pd.testing.assert_frame_equal(frame, before)
