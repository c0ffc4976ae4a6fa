"""Orders of the past, drawn by their shares of statuses (spec 06, "Tools")."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from datetime import date, timedelta
from random import Random
from typing import Final

from shopsim.errors import UsageError
from shopsim.rlve.catalogue import Catalogue, Product, Variant
from shopsim.rlve.world.orders import STATUS_SHARES, Order, OrderLine, OrderStatus, newest_first

__all__ = ["draw_order_id", "draw_orders"]

_MAX_LINES: Final = 3
_TRIES: Final = 200
_MAX_AGE_DAYS: Final = 75
"""Oldest order; well past every return window, so that histories hold both sides of it."""

_AGES: Final[dict[OrderStatus, tuple[int, int]]] = {
    OrderStatus.CONFIRMED: (0, 2),
    OrderStatus.SHIPPED: (1, 4),
    OrderStatus.IN_TRANSIT: (2, 9),
    OrderStatus.CANCELLED: (1, _MAX_AGE_DAYS),
}
"""Days since an order that has not arrived was placed, first and last possible."""

VariantsOf = Callable[[str], tuple[Variant, ...]]


def draw_orders(
    dice: Random,
    catalogue: Catalogue,
    count: int,
    today: date,
    *,
    variants_of: VariantsOf | None = None,
    addresses: tuple[str, ...] = ("ADDR-1",),
    taken: Container[str] = frozenset(),
    avoid: Iterable[str] = (),
) -> list[Order]:
    """``count`` orders, newest first, whose ids are not in ``taken``.

    No product occurs twice (nor one of ``avoid``) as long as the catalogue is large enough, so that "the
    order with the lamp" means one order. Raises :class:`UsageError` for an empty catalogue.
    """
    if not len(catalogue):
        raise UsageError("the catalogue holds no products, so no order can be drawn")
    used = set(avoid)
    ids: set[str] = set()
    orders = []
    for _ in range(count):
        order_id = draw_order_id(dice, taken, ids)
        ids.add(order_id)
        products = [_draw_product(dice, catalogue, used) for _ in range(dice.randint(1, _MAX_LINES))]
        orders.append(_order(dice, order_id, products, today, variants_of, addresses))
    return newest_first(orders)


def _order(
    dice: Random,
    order_id: str,
    products: list[Product],
    today: date,
    variants_of: VariantsOf | None,
    addresses: tuple[str, ...],
) -> Order:
    status = dice.choices(list(STATUS_SHARES), weights=list(STATUS_SHARES.values()))[0]
    travel = max(1, max(product.shipping_days for product in products))
    if status is OrderStatus.DELIVERED:
        age = dice.randint(travel, max(travel, _MAX_AGE_DAYS))
    else:
        age = dice.randint(*_AGES[status])
    placed_on = today - timedelta(days=age)
    lines = []
    for number, product in enumerate(products, start=1):
        variants = variants_of(product.id) if variants_of else ()
        variant = dice.choice(variants).id if variants else None
        quantity = dice.choices((1, 2, 3), weights=(8, 1, 1))[0]
        lines.append(OrderLine(f"{order_id}-{number}", product.id, variant, quantity, product.price))
    return Order(
        order_id,
        placed_on,
        status,
        tuple(lines),
        dice.choice(addresses),
        placed_on + timedelta(days=travel) if status is OrderStatus.DELIVERED else None,
    )


def draw_order_id(dice: Random, taken: Container[str], also: Container[str] = frozenset()) -> str:
    """An order id that is in neither of the two. Raises :class:`UsageError` when none is found."""
    for _ in range(_TRIES):
        order_id = f"ORD-{dice.randint(100_000, 999_999)}"
        if order_id not in taken and order_id not in also:
            return order_id
    raise UsageError(f"no free order id after {_TRIES} draws", hint="A world holds a few orders, not all.")


def _draw_product(dice: Random, catalogue: Catalogue, used: set[str]) -> Product:
    """A product outside ``used`` (joined to it), or any at all once the catalogue seems used up."""
    for _ in range(_TRIES):
        product = catalogue.product(dice.randrange(len(catalogue)))
        if product.id not in used:
            break
    used.add(product.id)
    return product
