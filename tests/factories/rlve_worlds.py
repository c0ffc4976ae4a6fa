"""A small English catalogue with its real search, and worlds over it, for tests of EcomRLVE."""

from __future__ import annotations

import json
from datetime import date
from functools import cache
from typing import Any

from shopsim.rlve.catalogue import Catalogue, CatalogueSearch, Product
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.tools import Toolbox, ToolResult
from shopsim.rlve.world import Order, OrderLine, OrderStatus, World

__all__ = ["TODAY", "an_order", "call", "content_of", "refusal_of", "small_catalogue", "small_world"]

TODAY = date(2026, 3, 20)

_SHELVES = (
    (("Electronics", "Chargers"), "USB-C wall charger", {"connector": "USB-C", "watts": 65}, 24.5),
    (("Electronics", "Headphones"), "wireless headphones", {"color": "black", "battery_hours": 30}, 79.0),
    (("Clothing", "T-Shirts"), "cotton t-shirt", {"size": "M", "material": "cotton"}, 15.99),
    (("Furniture", "Chairs"), "oak dining chair", {"material": "oak", "weight_kg": 6.5}, 120.0),
    (("Groceries", "Coffee"), "roasted coffee beans", {"roast": "dark"}, 11.25),
    (("Toys", "Puzzles"), "wooden jigsaw puzzle", {"pieces": 500}, 18.0),
)
_BRANDS = ("Acme", "Birch", "Corvo", "Delta")


@cache
def small_catalogue() -> tuple[Catalogue, CatalogueSearch]:
    """24 products: four brands on each of six shelves, ids ``P01`` to ``P24``; ``P24`` has no stock."""
    products = [
        Product(
            id=f"P{shelf * len(_BRANDS) + number + 1:02d}",
            title=f"{brand} {title}",
            description=f"A {title} made by {brand}.",
            category=category,
            brand=brand,
            attributes=attributes,
            price=round(price + number, 2),
            rating=3.0 + number * 0.5,
            rating_count=10 * (number + 1),
            shipping_days=number + 1,
            stock=0 if (shelf, number) == (5, 3) else 5,
        )
        for shelf, (category, title, attributes, price) in enumerate(_SHELVES)
        for number, brand in enumerate(_BRANDS)
    ]
    catalogue = Catalogue.from_products(products)
    return catalogue, CatalogueSearch(catalogue)


def small_world(difficulty: int = 0, seed: int = 7, **changes: Any) -> World:
    """A world over the small catalogue on a fixed day."""
    catalogue, search = small_catalogue()
    changes.setdefault("today", TODAY)
    return World(catalogue, search, difficulty=Difficulty.of(difficulty), seed=seed, **changes)


def an_order(
    *product_ids: str,
    order_id: str = "ORD-1",
    placed_on: date = date(2026, 3, 1),
    delivered_on: date | None = date(2026, 3, 10),
    status: OrderStatus = OrderStatus.DELIVERED,
    quantity: int = 1,
) -> Order:
    """An order with one line for each product, at the catalogue's price."""
    catalogue, _ = small_catalogue()
    lines = []
    for number, product_id in enumerate(product_ids, start=1):
        product = catalogue.get(product_id)
        assert product is not None
        lines.append(OrderLine(f"{order_id}-{number}", product_id, None, quantity, product.price))
    return Order(order_id, placed_on, status, tuple(lines), "ADDR-1", delivered_on)


def call(world: World, name: str, turn: int = 1, **args: Any) -> ToolResult:
    """The result of one call."""
    return Toolbox(world).call(name, args, turn)


def content_of(world: World, name: str, **args: Any) -> dict[str, Any]:
    """The content of a call that must succeed."""
    result = call(world, name, **args)
    assert result.ok, result.error
    assert json.loads(json.dumps(result.content)) == result.content
    return result.content


def refusal_of(world: World, name: str, **args: Any) -> str:
    """Why the shop refused a valid call, which must have changed nothing."""
    before = world.to_wire()
    result = call(world, name, **args)
    assert not result.ok
    assert not result.invalid
    assert result.content == {}
    assert world.to_wire() == before
    assert result.error
    return result.error
