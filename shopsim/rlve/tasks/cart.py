"""CART: fill the cart with the right products, variants and quantities (spec 06, "The eight").

r_task is 2 F1 - 1 over units of (product, variant); of the product alone where no variant is required. A
right product in a wrong variant is no match. What was checked out counts as what lies in the cart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, ClassVar, Final

from shopsim.rlve.action import AgentAction
from shopsim.rlve.difficulty import Difficulty, sigmoid
from shopsim.rlve.problem import Fact, Outcome, Problem, Verdict
from shopsim.rlve.reward import clip
from shopsim.rlve.tasks._common import call, draw_in_world, final_action, in_turns, plain_persona
from shopsim.rlve.tasks._draws import draw_product, ending

if TYPE_CHECKING:
    from shopsim.rlve.catalogue import Product
    from shopsim.rlve.world import World

__all__ = ["CartTarget", "CartTask", "WantedItem"]

_MAX_ITEMS: Final = 5
_QUANTITIES: Final = (2, 4)

Key = tuple[str, str | None]
"""(product id, variant id); None where the variant does not matter."""


@dataclass(frozen=True, slots=True)
class WantedItem:
    """``quantity`` pieces of a product; ``variant_id`` is None where any variant is right."""

    product_id: str
    title: str
    variant_id: str | None
    variant_fact: str
    quantity: int
    quantity_fact: str


@dataclass(frozen=True, slots=True)
class CartTarget:
    """Everything that belongs into the cart, each product once."""

    items: tuple[WantedItem, ...]


class CartTask:
    """One to five products to put into the cart."""

    id: ClassVar[str] = "CART"

    def generate(self, world: World, difficulty: Difficulty, dice: Random) -> Problem:
        """Draw the products and see to it that they are in stock."""
        return draw_in_world(self.id, world, lambda: self._draw(world, difficulty, dice))

    def verify(self, problem: Problem, outcome: Outcome) -> Verdict:
        """r_task = 2 F1 - 1; correct where F1 = 1, which is every unit and no other.

        A variant that was never told may be any. A quantity that was never told may be anything from one
        piece to what the customer has in mind.
        """
        wanted, found = _compare(problem.target, outcome.world.basket_units(), outcome.told)
        matched = sum(min(count, found[key]) for key, count in wanted.items())
        both = sum(wanted.values()) + sum(found.values())
        score = 2 * matched / both
        parts = {
            "f1": score,
            "matched_units": float(matched),
            "wanted_units": float(sum(wanted.values())),
            "cart_units": float(sum(found.values())),
        }
        return Verdict(clip(2 * score - 1), wanted == found, parts)

    def correction(self, problem: Problem, world: World, told: frozenset[str]) -> str | None:
        """What lies in the cart and should not, line by line; products that lack are no mistake yet.

        The sentence on a wrong variant says which one it is and which one is wanted, so it tells that
        fact if it was not told before.
        """
        target: CartTarget = problem.target
        items = {item.product_id: item for item in target.items}
        texts = {fact.name: fact.text for fact in problem.facts}
        for line in world.cart:
            item = items.get(line.product_id)
            if item is None:
                return f'I did not ask for the "{world.product(line.product_id).title}", please take it out.'
            if item.variant_id not in (None, line.variant_id):
                return f"{_what_it_is(world, item, line.variant_id)} {texts[item.variant_fact]}"
        wanted, found = _compare(target, world.cart.units(), told | _variant_facts(target))
        for key, count in found.items():
            item = items[key[0]]
            if count != wanted[key]:
                there = f'There {"are" if count > 1 else "is"} {count} of the "{item.title}" in the cart.'
                wish = texts.get(item.quantity_fact, f'I need only one of the "{item.title}".')
                return f"{there} {wish}"
        return None

    def solve(self, problem: Problem, world: World) -> Iterator[AgentAction]:
        """Search each product (and look at its variants where one is required), then add them all."""
        target: CartTarget = problem.target
        looks = [call("catalog.search", query=item.title) for item in target.items]
        looks += [
            call("catalog.get_variants", product_id=item.product_id)
            for item in target.items
            if item.variant_id is not None
        ]
        adds = [
            call("cart.add", product_id=item.product_id, variant_id=item.variant_id, quantity=item.quantity)
            for item in target.items
        ]
        yield from in_turns(looks, problem.difficulty)
        yield from ending(in_turns(adds, problem.difficulty), final_action(self.id))

    def _draw(self, world: World, difficulty: Difficulty, dice: Random) -> Problem:
        count = min(_MAX_ITEMS, 1 + difficulty.d // 3)
        items: list[WantedItem] = []
        facts: list[Fact] = []
        for number in range(count):
            product = draw_product(world, dice)  # what is decided about is never drawn again
            world.out_of_stock.discard(product.id)
            item, own = _draw_item(world, product, number, difficulty, dice)
            items.append(item)
            facts += own
        return Problem(
            env=self.id,
            difficulty=difficulty,
            persona=plain_persona(world, dice),
            request=dice.choice(_REQUESTS)[count > 1],
            facts=tuple(facts),
            target=CartTarget(tuple(items)),
        )


_REQUESTS: Final = (
    ("Please put something into my cart for me.", "Please put a few things into my cart for me."),
    ("I would like to have a product in my cart.", "I would like to have some products in my cart."),
    ("Can you fill my cart with what I need?", "Can you fill my cart with what I need?"),
)
"""How the customer begins: (one product, several)."""


def _draw_item(
    world: World, product: Product, number: int, difficulty: Difficulty, dice: Random
) -> tuple[WantedItem, list[Fact]]:
    """The item and the facts about it; its variant and its quantity are wanted with the spec's chances."""
    title = product.title
    facts = [Fact(f"item_{number}", f'I want the "{title}".', ("product", "item", "which"), essential=True)]
    variant_id = None
    variants = world.variants_of(product.id)
    if dice.random() < sigmoid((difficulty.d - 2) / 1.5) and variants:
        variant = dice.choice(variants)
        variant_id = variant.id
        name = variant.attribute.replace("_", " ")
        text = f'I need the "{title}" with {name} "{variant.value}".'
        facts.append(Fact(f"variant_{number}", text, (name, "variant", "version", "option", "kind")))
    quantity = 1
    if dice.random() < min(0.5, 0.1 * difficulty.d):
        quantity = dice.randint(*_QUANTITIES)
        text = f'I need {quantity} of the "{title}".'
        facts.append(Fact(f"quantity_{number}", text, ("quantity", "how many", "pieces", "units", "amount")))
    item = WantedItem(product.id, title, variant_id, f"variant_{number}", quantity, f"quantity_{number}")
    return item, facts


def _compare(
    target: CartTarget, units: Mapping[tuple[str, str | None], int], told: frozenset[str]
) -> tuple[Counter[Key], Counter[Key]]:
    """Units wanted and units found, by the key that matters for each product."""
    strict = {i.product_id for i in target.items if i.variant_id is not None and i.variant_fact in told}
    found: Counter[Key] = Counter()
    for (product_id, variant_id), count in units.items():
        found[product_id, variant_id if product_id in strict else None] += count
    wanted: Counter[Key] = Counter()
    for item in target.items:
        key = (item.product_id, item.variant_id if item.product_id in strict else None)
        told_quantity = item.quantity == 1 or item.quantity_fact in told
        wanted[key] = item.quantity if told_quantity else min(max(found[key], 1), item.quantity)
    return wanted, +found


def _variant_facts(target: CartTarget) -> frozenset[str]:
    return frozenset(item.variant_fact for item in target.items)


def _what_it_is(world: World, item: WantedItem, variant_id: str | None) -> str:
    """Which variant lies in the cart, said in the customer's words."""
    if variant_id is None:
        return f'The "{item.title}" in the cart comes in no particular variant.'
    variant = world.variant(item.product_id, variant_id)
    name = variant.attribute.replace("_", " ")
    return f'The "{item.title}" in the cart is the one with {name} "{variant.value}".'
