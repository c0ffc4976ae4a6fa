"""A small catalogue, worlds on it, and conversations of an oracle with the simulated user."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from random import Random

from shopsim.rlve.action import AgentAction, Answer
from shopsim.rlve.catalogue import Catalogue, CatalogueSearch, Product
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.problem import Outcome, Problem, Task
from shopsim.rlve.tasks import TASKS
from shopsim.rlve.tools import Toolbox, ToolResult
from shopsim.rlve.user import UserSimulator, UserTurn
from shopsim.rlve.world import World

LEAVES = {
    "Electronics": ("Phone Chargers", "Headphones", "Keyboards"),
    "Kitchen": ("Pans", "Kettles", "Knives"),
    "Sports": ("Tents", "Yoga Mats", "Dumbbells"),
    "Home": ("Lamps", "Rugs", "Curtains"),
    "Furniture": ("Desks", "Chairs"),
}
BRANDS = ("Northwind", "Acmera", "Velto", "Brightly")
PER_LEAF = 45


@cache
def small_search() -> CatalogueSearch:
    """Search over 14 leaves of 45 products, each with the attributes that its department is sold by."""
    return CatalogueSearch(Catalogue.from_products(_products()))


def make_world(d: int, seed: int = 0) -> World:
    """A fresh world at difficulty ``d``."""
    search = small_search()
    return World(search.catalogue, search, difficulty=Difficulty.of(d), seed=seed)


@dataclass
class Walk:
    """What a conversation came to; ``calls`` are the tool calls of each turn."""

    world: World
    opening: UserTurn
    user: UserSimulator
    actions: list[AgentAction] = field(default_factory=list)
    replies: list[UserTurn] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)
    shown_before_answer: bool = True

    @property
    def outcome(self) -> Outcome:
        return Outcome(self.actions[-1].answer, self.world, self.user.told)


def walk(task: Task, problem: Problem, world: World, seed: int = 0) -> Walk:
    """The oracle's conversation, one action a turn."""
    return converse(lambda: task.solve(problem, world), problem, task, world, seed)


def converse(
    actions: Callable[[], Iterable[AgentAction]], problem: Problem, task: Task, world: World, seed: int = 0
) -> Walk:
    """Any actions in conversation with the simulated user; every tool call is carried out."""
    user = UserSimulator(
        problem, lambda one: task if one is problem else TASKS[one.env], Random(f"user:{seed}")
    )
    done = Walk(world, user.open(), user)
    toolbox = Toolbox(world)
    for turn, action in enumerate(actions(), start=1):
        if action.answer is not None:
            done.shown_before_answer = set(action.answer.recommended_product_ids) <= world.shown
        results = [toolbox.call(call.name, call.args, turn) for call in action.tool_calls]
        done.results.extend(results)
        done.actions.append(action)
        done.replies.append(user.reply(action, results, world))
    return done


def answered(world: World, ids: Iterable[str], told: Iterable[str], env: str) -> Outcome:
    """The outcome of recommending ``ids`` when the facts ``told`` were told."""
    answer = Answer(env=env, recommended_product_ids=tuple(ids), done=True)
    return Outcome(answer, world, frozenset(told))


def _products() -> Iterable[Product]:
    dice = Random("small catalogue")
    for department, leaves in LEAVES.items():
        for leaf in leaves:
            for number in range(PER_LEAF):
                brand = dice.choice(BRANDS)
                attributes: dict[str, str | float | int | bool] = {
                    "color": dice.choice(("Black", "White", "Blue")),
                    "material": dice.choice(("Steel", "Wood", "Cotton")),
                    "connector": dice.choice(("USB-C", "HDMI", "Lightning")),
                    "weight_kg": round(dice.uniform(0.2, 9.0), 2),
                    "warranty_years": dice.randrange(1, 6),
                    "washable": dice.random() < 0.5,
                }
                yield Product(
                    id=f"{leaf[:3].upper()}{number:03d}",
                    title=f"{brand} {attributes['color']} {leaf} model {number}",
                    description=f"{leaf} for every day.",
                    category=(department, leaf),
                    brand=brand,
                    attributes=attributes,
                    price=round(dice.uniform(5, 120), 2),
                    rating=round(dice.uniform(2.5, 5.0), 1),
                    rating_count=dice.randrange(1, 900),
                    shipping_days=dice.randrange(1, 12),
                    stock=dice.randrange(1, 50),
                )
