"""The reward of an episode: the formulas of spec 06 by hand, and what makes everything worth -1."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shopsim.errors import UsageError
from shopsim.rlve.collections import COLLECTIONS, ENVIRONMENTS, collection
from shopsim.rlve.reward import (
    EpisodeReward,
    Violation,
    effective_turns,
    efficiency,
    episode_reward,
    hallucination,
)


def reward(
    task: float = 1.0,
    turns: int = 1,
    user_turns: int = 0,
    recommended: tuple[str, ...] = (),
    shown: frozenset[str] = frozenset(),
    violation: Violation | None = None,
) -> EpisodeReward:
    return episode_reward(
        task=task,
        turns=turns,
        user_turns=user_turns,
        max_turns=5,
        recommended=recommended,
        shown=shown,
        violation=violation,
    )


def test_a_perfect_episode_of_one_turn_is_worth_090() -> None:
    assert reward().total == pytest.approx(0.75 + 0.15)


def test_the_parts_are_weighted_as_the_spec_says() -> None:
    found = reward(0.5, turns=3, user_turns=1, recommended=("a", "b"), shown=frozenset({"a"}))
    assert found.effective_turns == 2
    assert found.efficiency == pytest.approx(1 - 2 * 1 / 4)
    assert found.hallucination == -0.5
    assert found.total == pytest.approx(0.75 * 0.5 + 0.15 * 0.5 + 0.10 * -0.5)


@pytest.mark.parametrize("violation", ["unparsable_action", "invalid_tool_call", "denied_category"])
def test_a_violation_is_worth_minus_one_and_keeps_the_parts(violation: Violation) -> None:
    found = reward(violation=violation)
    assert (found.total, found.task, found.violation) == (-1.0, 1.0, violation)


def test_efficiency_falls_from_one_to_minus_one() -> None:
    assert [efficiency(turn, 5) for turn in range(1, 6)] == pytest.approx([1.0, 0.5, 0.0, -0.5, -1.0])
    assert efficiency(9, 5) == -1.0
    assert efficiency(1, 1) == 1.0


def test_turns_of_the_user_do_not_count_but_one_always_does() -> None:
    assert effective_turns(4, 3) == 1
    assert effective_turns(4, 9) == 1
    assert effective_turns(4, 1) == 3


def test_a_recommendation_given_twice_is_one() -> None:
    assert hallucination(["a", "a", "b"], {"a"}) == -0.5
    assert hallucination([], {"a"}) == 0.0
    assert str(hallucination(["a"], {"a"})) == "0.0"  # not -0.0, which is written otherwise


@settings(max_examples=60)
@given(
    task=st.floats(-3, 3),
    turns=st.integers(1, 30),
    user_turns=st.integers(0, 30),
    recommended=st.lists(st.sampled_from("abcd"), max_size=6),
)
def test_every_reward_is_between_minus_one_and_one(
    task: float, turns: int, user_turns: int, recommended: list[str]
) -> None:
    found = reward(task, turns, user_turns, tuple(recommended), frozenset("ab"))
    assert -1 <= found.total <= 1
    assert -1 <= found.efficiency <= 1
    assert -1 <= found.hallucination <= 0


def test_each_collection_holds_the_one_before() -> None:
    sizes = {name: len(envs) for name, envs in COLLECTIONS.items()}
    assert sizes == {"C1": 1, "C2": 2, "C4": 4, "C8": 8}
    names = list(COLLECTIONS.values())
    assert all(set(small) < set(big) for small, big in pairwise(names))
    assert collection("C8") == ENVIRONMENTS


def test_a_list_of_environments_is_a_collection() -> None:
    assert collection("cart, pd,CART") == ("CART", "PD")


@pytest.mark.parametrize("name", ["", "C3", "PD,SHOP", ","])
def test_an_unknown_collection_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="collection"):
        collection(name)
