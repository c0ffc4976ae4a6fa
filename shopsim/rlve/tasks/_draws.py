"""What several tasks draw: a product that can be named, an order history; and an oracle's last turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import TYPE_CHECKING, Final

from shopsim.rlve.action import AgentAction
from shopsim.rlve.catalogue.sentences import LONGEST_TITLE, can_be_quoted
from shopsim.rlve.tasks._common import Unsolvable
from shopsim.rlve.world import newest_first

if TYPE_CHECKING:
    from shopsim.rlve.catalogue import Product
    from shopsim.rlve.difficulty import Difficulty
    from shopsim.rlve.world import Order, World

__all__ = ["can_be_named", "draw_product", "ending", "history"]

_TRIES: Final = 50


def can_be_named(world: World, product: Product) -> bool:
    """Whether the title in quotes means this product: no quote in it, and no other product has it.

    Longer titles than a search takes for a query are left out, too.
    """
    if not can_be_quoted(product.title, LONGEST_TITLE):
        return False
    return len(world.catalogue.columns.titles.rows_of(product.title)) == 1


def draw_product(
    world: World, dice: Random, accept: Callable[[Product], bool] = lambda product: True
) -> Product:
    """A product that ``accept`` takes, that can be named, and whose stock no task has decided about.

    Raises :class:`Unsolvable` when none of many draws is.
    """
    for _ in range(_TRIES):
        product = world.catalogue.product(dice.randrange(len(world.catalogue)))
        undecided = not world.out_of_stock.is_decided(product.id)
        if undecided and accept(product) and can_be_named(world, product):
            return product
    raise Unsolvable(f"none of {_TRIES} products drawn is suitable")


def history(world: World, difficulty: Difficulty, dice: Random) -> list[Order]:
    """The customer's H orders: those that are there, and drawn ones up to H. Newest first.

    A world has one history, whichever tasks share it.
    """
    if (missing := difficulty.orders - len(world.orders)) > 0:
        world.draw_orders(dice, missing)
    return newest_first(world.orders.values())


def ending(turns: Iterable[AgentAction], last: AgentAction) -> Iterator[AgentAction]:
    """``turns`` with the answer of ``last`` in the last of them (for calls whose results nobody needs)."""
    held: AgentAction | None = None
    for action in turns:
        if held is not None:
            yield held
        held = action
    if held is None:
        yield last
    else:
        yield held.model_copy(update={"answer": last.answer})
