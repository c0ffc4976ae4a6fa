"""The adaptive window: when it moves, how wide it grows, and that its state survives a file."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shopsim.errors import UsageError
from shopsim.rlve.curriculum import AdaptiveWindow, Curriculum, CurriculumError


def after(window: AdaptiveWindow, passes: int, failures: int = 0) -> AdaptiveWindow:
    for passed in [True] * passes + [False] * failures:
        window = window.record(window.high, passed)
    return window


def test_29_of_32_move_the_window_and_28_do_not() -> None:
    assert after(AdaptiveWindow(), 29, 3) == AdaptiveWindow(0, 1)
    assert after(AdaptiveWindow(), 28, 4) == AdaptiveWindow(0, 0)


def test_nothing_is_decided_before_the_32nd_episode() -> None:
    assert after(AdaptiveWindow(), 31) == AdaptiveWindow(0, 0, 31, 31)


def test_episodes_below_the_top_do_not_count() -> None:
    window = AdaptiveWindow(0, 3, 5, 2)
    assert window.record(2, True) == window
    assert window.record(4, True) == window


def test_the_window_never_spans_more_than_five_difficulties() -> None:
    window = AdaptiveWindow()
    seen = []
    for _ in range(8):
        window = after(window, 32)
        seen.append((window.low, window.high))
    assert seen == [(0, 1), (0, 2), (0, 3), (0, 4), (1, 5), (2, 6), (3, 7), (4, 8)]


def test_the_window_stops_at_the_highest_difficulty() -> None:
    assert after(AdaptiveWindow(96, 100), 32) == AdaptiveWindow(96, 100)


def test_difficulties_are_drawn_from_the_whole_window() -> None:
    dice = Random(1)
    drawn = [AdaptiveWindow(2, 6).draw(dice) for _ in range(500)]
    assert {value: drawn.count(value) > 60 for value in set(drawn)} == dict.fromkeys(range(2, 7), True)


def test_environments_are_drawn_alike_and_climb_apart() -> None:
    curriculum, dice = Curriculum(("PD", "CART")), Random(3)
    drawn = [curriculum.draw(dice)[0] for _ in range(400)]
    assert 150 < drawn.count("PD") < 250
    for _ in range(32):
        curriculum.record("PD", 0, True)
    assert (curriculum.window("PD").high, curriculum.window("CART").high) == (1, 0)
    assert curriculum.draw(Random(0), "CART") == ("CART", 0)
    assert curriculum.episodes == 32


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(["PD", "SUB"]), st.booleans()), max_size=150))
def test_a_saved_curriculum_goes_on_where_it_stopped(outcomes: list[tuple[str, bool]]) -> None:
    whole = Curriculum(("PD", "SUB"))
    saved = Curriculum.from_wire(whole.to_wire())
    for env, passed in outcomes:
        whole.record(env, whole.window(env).high, passed)
        saved = Curriculum.from_wire(json.loads(json.dumps(saved.to_wire())))
        saved.record(env, saved.window(env).high, passed)
        window = whole.window(env)
        assert 0 <= window.high - window.low <= 4
    assert saved.to_wire() == whole.to_wire()


def test_a_file_keeps_the_state(tmp_path: Path) -> None:
    curriculum = Curriculum(("PD",))
    curriculum.record("PD", 0, True)
    curriculum.save(tmp_path / "state.json")
    assert Curriculum.load(tmp_path / "state.json").to_wire() == curriculum.to_wire()


def state(**window: Any) -> dict[str, Any]:
    wire = Curriculum(("PD",)).to_wire()
    wire["windows"]["PD"].update(window)
    return wire


@pytest.mark.parametrize(
    ("wire", "complaint"),
    [
        (None, "schema_version"),
        ({**state(), "schema_version": "x"}, "schema_version"),
        ({**state(), "more": 1}, "more: no such field"),
        ({**state(), "episodes": -1}, "episodes"),
        ({**state(), "episodes": True}, "episodes"),
        ({**state(), "windows": {}}, "windows"),
        ({**state(), "windows": {"PD": {"low": 0}}}, "windows.PD"),
        (state(low=3), "windows.PD.window"),
        (state(high=5), "windows.PD.window"),
        (state(low=200, high=201), "windows.PD.window"),
        (state(high="1"), "windows.PD.high"),
        (state(high=1.0), "windows.PD.high"),
        (state(attempts=32), "windows.PD.passes"),
        (state(attempts=1, passes=2), "windows.PD.passes"),
    ],
)
def test_a_broken_state_names_its_field(wire: Any, complaint: str) -> None:
    with pytest.raises(CurriculumError, match=complaint):
        Curriculum.from_wire(wire)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text("{}")
    with pytest.raises(CurriculumError, match=r"state\.json: schema_version"):
        Curriculum.load(path)


def test_unknown_environments_are_refused() -> None:
    with pytest.raises(UsageError, match="SHOP"):
        Curriculum(("PD",)).window("SHOP")
    for envs in ((), ("PD", "PD")):
        with pytest.raises(UsageError, match="at least one"):
            Curriculum(envs)
