"""The simulated user: which act answers which turn, what it tells, and that no turn is won for free."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from shopsim.rlve.action import AgentAction, Answer, ToolCall
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.errors import EpisodeEndedError
from shopsim.rlve.problem import Fact, Problem
from shopsim.rlve.tasks.discovery import DiscoveryTask
from shopsim.rlve.tools import Toolbox, ToolResult
from shopsim.rlve.user import TURNS_FOR_FREE, UserAct, UserSimulator, UserTurn
from shopsim.rlve.world import World
from tests.factories.rlve_walk import make_world

FACTS = (
    Fact("budget", 'It should cost at most "$25".', ("budget", "price")),
    Fact("color", 'The color should be "Blue".', ("color",)),
    Fact("when", "It should arrive within 2 days.", ("delivery", "how fast")),
)
GOOD = ToolResult("catalog.search", True, {})
BAD = ToolResult("catalog.find", False, {}, "there is no tool catalog.find", invalid=True)


class Picky(DiscoveryTask):
    """A task whose user finds fault with every cart that is not empty."""

    wrong = "That one is red."

    def correction(self, problem: Problem, world: World, told: frozenset[str]) -> str | None:
        return self.wrong if len(list(world.cart)) else None


class Talk:
    """A conversation with the user of one problem."""

    def __init__(self, *, omit: bool = True, essential: int = 0, d: int = 0, seed: int = 0) -> None:
        self.world = make_world(d)
        problem = DiscoveryTask().generate(self.world, self.world.difficulty, Random(seed))
        difficulty = replace(Difficulty.of(d), p_missing=1.0 if omit else 0.0)
        facts = tuple(replace(fact, essential=place < essential) for place, fact in enumerate(FACTS))
        problem = replace(problem, facts=facts, difficulty=difficulty, request="I need a lamp.")
        self.task = Picky()
        self.user = UserSimulator(problem, lambda _: self.task, Random(seed))
        self.opening = self.user.open()

    def say(
        self, message: str = "", *results: ToolResult, answer: Answer | None = None, calls: int = 0
    ) -> UserTurn:
        action = AgentAction(
            assistant_message=message,
            tool_calls=tuple(ToolCall(name="cart.view") for _ in range(calls)),
            answer=answer,
        )
        return self.user.reply(action, results, self.world)


def test_opening_tells_the_request_and_the_essential_facts_and_omits_the_others() -> None:
    talk = Talk(essential=1)
    assert "I need a lamp." in talk.opening.text
    assert FACTS[0].text in talk.opening.text
    assert FACTS[1].text not in talk.opening.text
    assert talk.user.told == {"budget"} == set(talk.opening.told)


def test_opening_tells_everything_when_nothing_is_omitted() -> None:
    talk = Talk(omit=False)
    assert all(fact.text in talk.opening.text for fact in FACTS)
    assert talk.user.told == {"budget", "color", "when"}


@pytest.mark.parametrize("d", [0, 3, 12])
def test_details_are_omitted_as_often_as_the_difficulty_says(d: int) -> None:
    world = make_world(d)
    problem = DiscoveryTask().generate(world, world.difficulty, Random(1))
    facts = tuple(Fact(f"f{number}", f"Detail {number}.") for number in range(1000))
    user = UserSimulator(replace(problem, facts=facts), lambda _: DiscoveryTask(), Random(d))
    user.open()
    assert 1 - len(user.told) / 1000 == pytest.approx(world.difficulty.p_missing, abs=0.05)


def test_question_gets_the_facts_that_it_names_and_only_these() -> None:
    talk = Talk()
    turn = talk.say("What is your budget, and which colors do you like?")
    assert turn.act is UserAct.CLARIFY
    assert set(turn.told) == {"budget", "color"} == talk.user.told
    assert FACTS[0].text in turn.text
    assert FACTS[2].text not in turn.text


def test_open_question_gets_one_fact_after_the_other() -> None:
    talk = Talk()
    turns = [talk.say("Is there anything else I should know?") for _ in range(4)]
    assert [turn.told for turn in turns] == [("budget",), ("color",), ("when",), ()]
    assert [turn.act for turn in turns] == [UserAct.CLARIFY] * 3 + [UserAct.CONTINUE]


def test_asking_again_wins_no_turn() -> None:
    talk = Talk()
    first, second = talk.say("What is your budget?"), talk.say("What is your budget?")
    assert (first.act, second.act) == (UserAct.CLARIFY, UserAct.CONTINUE)
    assert FACTS[0].text in second.text


def test_question_about_something_that_does_not_matter_wins_no_turn() -> None:
    talk = Talk()
    turn = talk.say("Which voltage is there at home?")
    assert turn.act is UserAct.CONTINUE
    assert turn.told == ()
    assert turn.text


def test_confirms_once_and_only_when_everything_is_told() -> None:
    talk = Talk(essential=2)
    early = talk.say("Shall I go ahead?")
    assert (early.act, early.told) == (UserAct.ELABORATE, ("when",))
    assert talk.say("Shall I go ahead?").act is UserAct.CONFIRM
    assert talk.say("Shall I go ahead?").act is UserAct.CONTINUE


def test_free_turns_are_bounded_by_what_there_is_to_tell() -> None:
    """An agent that only asks gets at most one free turn for each fact and one for the confirmation."""
    talk = Talk()
    questions = ("Anything else?", "What is your budget?", "Which color?", "How fast?", "Is that right?")
    acts = [talk.say(question).act for question in questions * 6]
    assert sum(act in TURNS_FOR_FREE for act in acts) == len(FACTS) + 1


def test_moving_on_without_a_detail_gets_it_told() -> None:
    talk = Talk(essential=2)
    turn = talk.say("I look for a lamp.", GOOD, calls=1)
    assert (turn.act, turn.told) == (UserAct.ELABORATE, ("when",))
    assert talk.say("I look for a lamp.", GOOD, calls=1).act is UserAct.CONTINUE
    offered = Talk(essential=2).say(answer=Answer(recommended_product_ids=("A",)))
    assert offered.act is UserAct.ELABORATE


def test_silent_tool_calls_get_silence() -> None:
    turn = Talk().say("", GOOD, calls=1)
    assert turn == UserTurn("", UserAct.CONTINUE)


def test_poor_turns_end_the_patience_at_the_third_in_a_row() -> None:
    talk = Talk()
    turns = [talk.say(), talk.say("Hm.", BAD, calls=1), talk.say(" \n")]
    assert [turn.act for turn in turns] == [UserAct.DISSATISFIED, UserAct.DISSATISFIED, UserAct.RAGEQUIT]
    assert len({turn.text for turn in turns}) == 3
    with pytest.raises(EpisodeEndedError):
        talk.say("Sorry!")


def test_a_fair_turn_restores_the_patience() -> None:
    talk = Talk()
    acts = [talk.say().act, talk.say().act, talk.say("", GOOD, calls=1).act, talk.say().act, talk.say().act]
    assert acts[2:] == [UserAct.CONTINUE, UserAct.DISSATISFIED, UserAct.DISSATISFIED]


def test_final_answer_is_taken() -> None:
    talk = Talk()
    turn = talk.say("Here you are.", answer=Answer(done=True))
    assert turn.act is UserAct.DONE
    assert turn.told == ()
    with pytest.raises(EpisodeEndedError):
        talk.say("One more thing?")


def test_wrong_cart_is_corrected_and_a_question_is_answered_along() -> None:
    talk = Talk()
    product_id = talk.world.catalogue.ids[0]
    assert Toolbox(talk.world).call("cart.add", {"product_id": product_id, "quantity": 1}, 1).ok
    turn = talk.say("Which color?", GOOD, calls=1)
    assert turn.act is UserAct.CORRECT
    assert Picky.wrong in turn.text
    assert FACTS[1].text in turn.text
    assert turn.told == ("color",)


def test_fact_that_a_correction_states_counts_as_told() -> None:
    talk = Talk()
    talk.task.wrong = f"That one is red. {FACTS[1].text}"
    Toolbox(talk.world).call("cart.add", {"product_id": talk.world.catalogue.ids[0], "quantity": 1}, 1)
    assert talk.say("", GOOD, calls=1).told == ("color",)
    assert talk.user.told == {"color"}


@pytest.mark.parametrize("d", [0, 12])
def test_same_seed_same_words_other_seed_other_words(d: int) -> None:
    def words(seed: int) -> list[Any]:
        talk = Talk(d=d, seed=seed)
        return [talk.opening, talk.say("Anything else?"), talk.say("Is that right?"), talk.say("Fine.")]

    assert words(3) == words(3)
    assert len({str(words(seed)) for seed in range(8)}) > 4


def test_told_facts_stay_readable_at_the_highest_noise() -> None:
    """Numbers and quoted values of every told fact stand in what the user said."""
    for seed in range(40):
        talk = Talk(omit=False, d=12, seed=seed)
        for kept in ('"$25"', '"Blue"', "2"):
            assert kept in talk.opening.text


def test_catalogue_text_with_braces_is_only_text() -> None:
    world = make_world(0)
    problem = DiscoveryTask().generate(world, world.difficulty, Random(1))
    fact = Fact("odd", 'I mean the "{request} {0} %s".', essential=True)
    user = UserSimulator(replace(problem, facts=(fact,)), lambda _: DiscoveryTask(), Random(1))
    assert '"{request} {0} %s"' in user.open().text
