"""What the eight tasks share: drawing again, told facts of a journey's parts, steps of an oracle."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, Final, TypeVar

from shopsim.rlve.action import AgentAction, Answer, ToolCall
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.errors import RlveError
from shopsim.rlve.persona import Persona, draw_persona
from shopsim.rlve.problem import Fact, Problem

if TYPE_CHECKING:
    from shopsim.rlve.world import World

__all__ = [
    "CORRECT_SHARE",
    "AnswerAlone",
    "Unsolvable",
    "ask_all",
    "call",
    "draw_in_world",
    "draw_solvable",
    "final_action",
    "in_turns",
    "plain_persona",
    "show_products",
    "told_of_part",
]

CORRECT_SHARE: Final = 0.95
"""An episode is correct from this share of the reward that the task can give at most (spec 06)."""

_DRAWS: Final = 200
_LONGEST_QUERY: Final = 1000

Drawn = TypeVar("Drawn")


class AnswerAlone:
    """Base of the tasks whose outcome is the answer alone (PD, SUB, STATUS, POLICY, BUNDLE).

    Nothing that the agent does in the world can be wrong, so the user has nothing to correct.
    """

    def correction(self, problem: Problem, world: World, told: frozenset[str]) -> str | None:
        """None, whatever the world is like."""
        return None


class Unsolvable(Exception):
    """A draw that no agent could solve, with the reason; :func:`draw_solvable` draws again."""


def draw_solvable(env: str, draw: Callable[[], Drawn], draws: int = _DRAWS) -> Drawn:
    """What ``draw()`` returns the first time that it does not raise :class:`Unsolvable`.

    ``draw`` must leave the world alone when it raises. Raises :class:`RlveError` that names the last
    reason when all ``draws`` were unsolvable.
    """
    reason = ""
    for _ in range(draws):
        try:
            return draw()
        except Unsolvable as error:
            reason = str(error)
    raise RlveError(
        f"{env}: {draws} problems drawn, none can be solved ({reason})",
        hint="Use a larger catalogue or a lower difficulty.",
    )


def draw_in_world(env: str, world: World, draw: Callable[[], Drawn]) -> Drawn:
    """:func:`draw_solvable` for a ``draw`` that changes ``world``: what a failed one changed is undone."""

    def attempt() -> Drawn:
        with world.transaction():
            return draw()

    return draw_solvable(env, attempt)


def plain_persona(world: World, dice: Random) -> Persona:
    """A persona for a task that is not about preferences; it compares all prices of the catalogue."""
    prices = world.catalogue.price
    return draw_persona(dice, price_low=float(prices.min()), price_high=float(prices.max()))


# -- told facts ----------------------------------------------------------------------------------------


def told_of_part(told: Collection[str], part: Problem) -> frozenset[str] | None:
    """Names of the facts of a journey's ``part`` that were told; None when the part was never brought up.

    ``told`` is what the user simulator of the journey gives: "STATUS" for a part that was brought up and
    "STATUS/order" for a fact of it.
    """
    if part.env not in told:
        return None
    prefix = f"{part.env}/"
    return frozenset(name.removeprefix(prefix) for name in told if name.startswith(prefix))


# -- what an oracle does -------------------------------------------------------------------------------


def call(name: str, **args: Any) -> ToolCall:
    """A tool call; arguments that are None are left out."""
    return ToolCall(name=name, args={key: value for key, value in args.items() if value is not None})


def final_action(env: str, message: str = "", **fields: Any) -> AgentAction:
    """The action that answers and ends the episode; ``fields`` are those of :class:`Answer`."""
    return AgentAction(assistant_message=message, answer=Answer(env=env, done=True, **fields))


def ask_all(facts: Iterable[Fact]) -> str:
    """One question that names a keyword of each fact, so that all are told; empty without facts."""
    asked = dict.fromkeys(fact.keywords[0] for fact in facts if fact.keywords and not fact.essential)
    return f"Could you tell me about these: {', '.join(asked)}?" if asked else ""


def in_turns(calls: Sequence[ToolCall], difficulty: Difficulty, message: str = "") -> Iterator[AgentAction]:
    """``calls`` in as few turns as the tool budget allows; ``message`` goes with the first turn.

    Without calls there is one turn with the message, or none when that is empty too.
    """
    if not calls and message:
        yield AgentAction(assistant_message=message)
    for start in range(0, len(calls), difficulty.tool_calls):
        yield AgentAction(
            assistant_message=message if start == 0 else "",
            tool_calls=tuple(calls[start : start + difficulty.tool_calls]),
        )


def show_products(
    world: World, ids: Sequence[str], difficulty: Difficulty, *, message: str, leaf: str | None = None
) -> Iterator[AgentAction]:
    """Turns after which every product of ``ids`` was shown by a tool; one turn is left for the answer.

    The first one says ``message`` and searches all titles at once (in the category ``leaf``); what that did
    not show is looked at one by one.
    """
    titles = " ".join(world.product(product_id).title for product_id in ids)
    yield AgentAction(
        assistant_message=message,
        tool_calls=(
            call(
                "catalog.search",
                query=titles[:_LONGEST_QUERY],
                filters=None if leaf is None else {"category": leaf},
                top_k=difficulty.top_k,
            ),
        ),
    )
    unseen = [product_id for product_id in ids if product_id not in world.shown]
    looks = [call("catalog.get_product", product_id=product_id) for product_id in unseen]
    yield from in_turns(looks[: difficulty.tool_calls * (difficulty.max_turns - 2)], difficulty)
