"""The simulated user: fixed rules, seeded dice, texts from templates (spec 06, "User simulator").

Which act answers which turn of the agent, in this order:

1. ``done``: the answer says that it is the last.
2. ``dissatisfied``, the second time in a row with impatient words, the third time ``ragequit``: an
   invalid tool call, or a turn without message, tool call and answer.
3. ``correct``: the task finds something wrong with the world.
4. A question: ``clarify`` tells every untold fact that it names by a keyword, or the next one when it asks
   openly; ``confirm`` when it asks for consent and nothing is untold, once for each subject. A question
   that was answered before, or that there is no fact for, gets ``continue``: no turn is won for free.
5. ``continue`` without a word: tool calls alone.
6. ``elaborate``: the agent moves on though a fact is untold, so the user tells it.
7. ``continue``.

A journey's parts come one after the other: the next one when the current one is answered (its environment
is among ``subgoal_answers``) or confirmed, early with probability p_switch, and at the latest when its
share of the turns begins (part i of n with reply ``i * T_max // n``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TYPE_CHECKING, Final, Protocol

from shopsim.rlve.action import AgentAction
from shopsim.rlve.errors import EpisodeEndedError
from shopsim.rlve.problem import Fact, Problem, Task
from shopsim.rlve.user.acts import UserAct, UserTurn
from shopsim.rlve.user.noise import with_typos
from shopsim.rlve.user.questions import asks_for, asks_openly, asks_to_confirm, questions_in
from shopsim.rlve.user.templates import Templates, bundled_templates
from shopsim.rlve.user.topic import Topic

if TYPE_CHECKING:
    from shopsim.rlve.tools import ToolResult
    from shopsim.rlve.world import World

__all__ = ["UserSimulator", "Verbaliser"]

_POOR_TURNS_UNTIL_QUIT: Final = 3


class Verbaliser(Protocol):
    """Says a template's text in other words, or returns it as it is."""

    def rewrite(self, text: str, act: UserAct) -> str:
        """The same in other words; every number, id and quoted value of ``text`` must be in it."""
        ...


class UserSimulator:
    """The user of one episode. ``told`` grows as it talks; nothing else of the problem ever leaves it.

    ``told`` holds names of facts. In a journey a fact of a part is ``"STATUS/order"`` (environment of
    the part, a slash, name of the fact) and ``"STATUS"`` says that the part was brought up at all:
    :func:`shopsim.rlve.tasks._common.told_of_part` takes that apart.
    """

    def __init__(
        self,
        problem: Problem,
        task_of: Callable[[Problem], Task],
        dice: Random,
        templates: Templates | None = None,
        verbaliser: Verbaliser | None = None,
    ) -> None:
        self._difficulty = problem.difficulty
        self._dice = dice
        self._templates = templates or bundled_templates()
        self._verbaliser = verbaliser
        self._topics = _topics_of(problem, task_of, dice)
        self._marked: list[str] = []
        self._replies = 0
        self._poor_in_a_row = 0
        self._ended = False

    @property
    def told(self) -> frozenset[str]:
        """Names of the facts that were told so far (and of the parts brought up, in a journey)."""
        facts = {topic.prefix + name for topic in self._topics for name in topic.told}
        return frozenset(facts.union(self._marked))

    def open(self) -> UserTurn:
        """The first message: request, essential facts, and each other fact unless it is omitted."""
        topic = self._topics[0]
        details, told = self._bring(topic)
        values = {"request": topic.problem.request, "details": details}
        if len(self._topics) > 1:
            text = self._templates.say("open_journey", self._dice, count=str(len(self._topics)), **values)
        else:
            text = self._templates.say("open", self._dice, **values)
        greeting = self._templates.say("greeting", self._dice)
        return self._turn(f"{greeting} {text}".strip(), UserAct.ELABORATE, told)

    def reply(self, action: AgentAction, tool_results: Sequence[ToolResult], world: World) -> UserTurn:
        """What the user says to a turn of the agent (``world`` as the turn's tool calls left it).

        Raises :class:`EpisodeEndedError` after a ``done`` or a ``ragequit``.
        """
        if self._ended:
            raise EpisodeEndedError("the user has left the conversation", hint="Start another episode.")
        self._replies += 1
        if action.answer is not None and action.answer.done:
            self._ended = True
            return self._turn(self._templates.say("done", self._dice), UserAct.DONE, ())
        if _is_poor(action, tool_results):
            return self._complain()
        self._poor_in_a_row = 0
        self._note_answers(action)
        text, act, told = self._react(action, world)
        more_text, more_told = self._bring_up_next(act)
        return self._turn(" ".join(filter(None, (text, more_text))), act, (*told, *more_told))

    # -- what the user does ------------------------------------------------------------------------

    def _react(self, action: AgentAction, world: World) -> tuple[str, UserAct, tuple[str, ...]]:
        question = questions_in(action.assistant_message)
        asked = self._asked(question) if question else []
        wrong = self._wrong(world)
        if wrong is not None:
            details = " ".join((wrong, *(fact.text for _, fact in asked)))
            told = (*self._tell(asked), *self._tell(self._said_in(wrong)))
            return self._say("correct", details), UserAct.CORRECT, told
        if question:
            return self._answer(question, asked)
        if not action.assistant_message.strip() and action.answer is None:
            return "", UserAct.CONTINUE, ()
        if untold := self._untold():
            return self._tell_one("elaborate", UserAct.ELABORATE, untold[0])
        return self._say("continue"), UserAct.CONTINUE, ()

    def _answer(self, question: str, asked: list[tuple[Topic, Fact]]) -> tuple[str, UserAct, tuple[str, ...]]:
        if asked:
            details = " ".join(fact.text for _, fact in asked)
            return self._say("clarify", details), UserAct.CLARIFY, self._tell(asked)
        untold = self._untold()
        if untold and asks_openly(question):
            return self._tell_one("clarify", UserAct.CLARIFY, untold[0])
        if asks_to_confirm(question):
            if untold:
                return self._tell_one("elaborate", UserAct.ELABORATE, untold[0])
            return self._confirm()
        known = asks_for(question, (fact for topic in self._open_topics() for fact in topic.problem.facts))
        if known:
            return self._say("again", " ".join(fact.text for fact in known)), UserAct.CONTINUE, ()
        situation = "nothing_more" if asks_openly(question) else "no_preference"
        return self._say(situation), UserAct.CONTINUE, ()

    def _confirm(self) -> tuple[str, UserAct, tuple[str, ...]]:
        unconfirmed = [topic for topic in self._open_topics() if not topic.confirmed]
        if not unconfirmed:
            return self._say("confirm_again"), UserAct.CONTINUE, ()
        unconfirmed[0].confirmed = True
        return self._say("confirm"), UserAct.CONFIRM, ()

    def _complain(self) -> UserTurn:
        self._poor_in_a_row += 1
        if self._poor_in_a_row >= _POOR_TURNS_UNTIL_QUIT:
            self._ended = True
            return self._turn(self._say("ragequit"), UserAct.RAGEQUIT, ())
        situation = "dissatisfied" if self._poor_in_a_row == 1 else "impatient"
        return self._turn(self._say(situation), UserAct.DISSATISFIED, ())

    # -- subjects of a journey ---------------------------------------------------------------------

    def _open_topics(self) -> list[Topic]:
        """Subjects brought up so far, the latest first: that is the one being talked about."""
        return [topic for topic in reversed(self._topics) if topic.opened]

    def _note_answers(self, action: AgentAction) -> None:
        if action.answer is None:
            return
        answered = {part.env for part in action.answer.subgoal_answers}
        for topic in self._open_topics():
            topic.answered = topic.answered or topic.problem.env in answered

    def _bring_up_next(self, act: UserAct) -> tuple[str, tuple[str, ...]]:
        waiting = [topic for topic in self._topics if not topic.opened]
        if not waiting:
            return "", ()
        following, current = waiting[0], self._open_topics()[0]
        finished = current.answered or act is UserAct.CONFIRM
        if not (finished or following.early or self._replies >= following.latest):
            return "", ()
        details, told = self._bring(following)
        situation = "next_part" if finished else "switch"
        text = self._templates.say(situation, self._dice, request=following.problem.request, details=details)
        return text, told

    def _bring(self, topic: Topic) -> tuple[str, tuple[str, ...]]:
        """Open ``topic``: its details in one text, and what they tell."""
        topic.opened = True
        told: list[str] = []
        if topic.prefix:
            self._marked.append(topic.problem.env)
            told.append(topic.problem.env)
        texts: list[str] = []
        for fact in topic.problem.facts:
            if fact.essential or self._dice.random() >= self._difficulty.p_missing:
                texts.append(fact.text)
                told.append(topic.tell(fact))
        return " ".join(texts), tuple(told)

    # -- facts -------------------------------------------------------------------------------------

    def _untold(self) -> list[tuple[Topic, Fact]]:
        return [(topic, fact) for topic in self._open_topics() for fact in topic.untold()]

    def _asked(self, question: str) -> list[tuple[Topic, Fact]]:
        return [(topic, fact) for topic in self._open_topics() for fact in asks_for(question, topic.untold())]

    def _said_in(self, text: str) -> list[tuple[Topic, Fact]]:
        """Untold facts that a correction has told in passing."""
        return [(topic, fact) for topic, fact in self._untold() if fact.text in text]

    def _wrong(self, world: World) -> str | None:
        for topic in self._open_topics():
            wrong = topic.task.correction(topic.problem, world, frozenset(topic.told))
            if wrong is not None:
                return wrong
        return None

    @staticmethod
    def _tell(facts: list[tuple[Topic, Fact]]) -> tuple[str, ...]:
        return tuple(topic.tell(fact) for topic, fact in facts)

    def _tell_one(
        self, situation: str, act: UserAct, one: tuple[Topic, Fact]
    ) -> tuple[str, UserAct, tuple[str, ...]]:
        return self._say(situation, one[1].text), act, self._tell([one])

    # -- words -------------------------------------------------------------------------------------

    def _say(self, situation: str, details: str | None = None) -> str:
        if details is None:
            return self._templates.say(situation, self._dice)
        return self._templates.say(situation, self._dice, details=details)

    def _turn(self, text: str, act: UserAct, told: tuple[str, ...]) -> UserTurn:
        if text and self._verbaliser is not None:
            text = self._verbaliser.rewrite(text, act)
        return UserTurn(with_typos(text, self._difficulty.p_noise, self._dice), act, told)


def _topics_of(problem: Problem, task_of: Callable[[Problem], Task], dice: Random) -> list[Topic]:
    if not problem.parts:
        return [Topic(problem, task_of(problem))]
    count, turns = len(problem.parts), problem.difficulty.max_turns
    return [
        Topic(
            part,
            task_of(part),
            prefix=f"{part.env}/",
            early=place > 0 and dice.random() < problem.difficulty.p_switch,
            latest=max(1, place * turns // count),
        )
        for place, part in enumerate(problem.parts)
    ]


def _is_poor(action: AgentAction, tool_results: Sequence[ToolResult]) -> bool:
    if any(result.invalid for result in tool_results):
        return True
    return not action.assistant_message.strip() and not action.tool_calls and action.answer is None
