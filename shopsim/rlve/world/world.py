"""The world of one episode: what the tools read and change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import date, timedelta
from random import Random
from typing import Any, Final

from shopsim.rlve.catalogue import Catalogue, CatalogueSearch, Product, Variant, variants_of
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.world.articles import general_articles
from shopsim.rlve.world.cart import Cart
from shopsim.rlve.world.errors import RefusedError
from shopsim.rlve.world.history import draw_orders
from shopsim.rlve.world.orders import Order, OrderLine
from shopsim.rlve.world.policies import PolicyStore
from shopsim.rlve.world.returns import Eligibility, ReturnRecord, check_eligibility
from shopsim.rlve.world.stock import OutOfStock

__all__ = ["ADDRESSES", "PAYMENT_METHODS", "World"]

ADDRESSES: Final[Mapping[str, str]] = {"ADDR-1": "home", "ADDR-2": "office"}
"""Where the customer has things sent, by id."""

PAYMENT_METHODS: Final[Mapping[str, str]] = {"PAY-1": "credit card", "PAY-2": "gift card balance"}
"""How the customer pays, by id."""

_FIRST_DAY: Final = date(2026, 1, 1)
_DAYS: Final = 365

LineKey = tuple[str, str]
"""(order id, line id)"""


class _TrialOverError(Exception):
    """Ends a trial; the transaction around it takes everything back."""


class World:
    """A shop and its one customer. Without a clock and without chance of its own: ``seed`` decides all.

    Tasks prepare it (orders, stock, variants, policies), tools act on it, verifiers read it. Changes of an
    episode go through :meth:`transaction`, so that a refused call leaves everything as it was.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        search: CatalogueSearch,
        *,
        difficulty: Difficulty,
        seed: int,
        today: date | None = None,
    ) -> None:
        self.catalogue = catalogue
        self.search = search
        self.difficulty = difficulty
        self.seed = seed
        self.today = today or _FIRST_DAY + timedelta(days=Random(f"{seed}:today").randrange(_DAYS))
        self.cart = Cart()
        self.orders: dict[str, Order] = {}
        """By id, in the order in which they were put in."""
        self.returns: dict[LineKey, ReturnRecord] = {}
        """What went back, by (order id, line id)."""
        self.policies = PolicyStore(general_articles())
        self.out_of_stock = OutOfStock(seed, difficulty.p_out_of_stock)
        self.shown: set[str] = set()
        """Ids of products that a tool's result named."""
        self.checked_out: list[str] = []
        """Ids of the orders that were placed in this episode."""
        self._variants: dict[str, tuple[Variant, ...]] = {}

    def product(self, product_id: str) -> Product:
        """The product of that id. Raises :class:`RefusedError` when there is none."""
        if (product := self.catalogue.get(product_id)) is None:
            raise RefusedError(f"no product {product_id}")
        return product

    def is_in_stock(self, product_id: str) -> bool:
        """Whether the product exists and can be bought now. A task's decision outweighs the catalogue."""
        row = self.catalogue.find(product_id)
        return row is not None and self.is_row_in_stock(row)

    def is_row_in_stock(self, row: int) -> bool:
        """:meth:`is_in_stock` of the product in a row of the catalogue, without looking it up."""
        product_id = self.catalogue.ids[row]
        if product_id in self.out_of_stock:
            return False
        return bool(self.catalogue.stock[row] > 0) or self.out_of_stock.is_decided(product_id)

    def variants_of(self, product_id: str) -> tuple[Variant, ...]:
        """The product's variants: those that a task registered, else the catalogue's.

        Raises :class:`RefusedError` for an unknown product.
        """
        registered = self._variants.get(product_id)
        return variants_of(self.product(product_id)) if registered is None else registered

    def variant(self, product_id: str, variant_id: str) -> Variant:
        """One variant of a product. Raises :class:`RefusedError` when it is none of that product."""
        for variant in self.variants_of(product_id):
            if variant.id == variant_id:
                return variant
        raise RefusedError(f"product {product_id} has no variant {variant_id}")

    def known_variant(self, product_id: str, variant_id: str) -> Variant | None:
        """A variant that the product has or once had: a task may register others after an order was drawn."""
        listed = (*self.variants_of(product_id), *variants_of(self.product(product_id)))
        return next((variant for variant in listed if variant.id == variant_id), None)

    def register_variants(self, product_id: str, variants: Iterable[Variant]) -> None:
        """Let a task decide which variants a product has."""
        self._variants[product_id] = tuple(variants)

    def show(self, product_ids: Iterable[str]) -> None:
        """Record that a result named these products."""
        self.shown.update(product_ids)

    def put_order(self, order: Order) -> None:
        """Put an order in, or in the place of the one of that id.

        Raises :class:`RefusedError` for a product that the catalogue lacks: no tool could show the order.
        """
        for line in order.lines:
            self.product(line.product_id)
        self.orders[order.order_id] = order

    def draw_orders(self, dice: Random, count: int, *, avoid: Iterable[str] = ()) -> list[Order]:
        """Draw ``count`` orders of the past, put them in and return them, newest first.

        No product of theirs is in an order already, nor in ``avoid``, if the catalogue is large enough.
        """
        ordered = {line.product_id for order in self.orders.values() for line in order.lines}
        orders = draw_orders(
            dice,
            self.catalogue,
            count,
            self.today,
            variants_of=self.variants_of,
            addresses=tuple(ADDRESSES),
            taken=self.orders,
            avoid=ordered.union(avoid),
        )
        for order in orders:
            self.put_order(order)
        return orders

    def order(self, order_id: str) -> Order:
        """The order of that id. Raises :class:`RefusedError` when there is none."""
        if (order := self.orders.get(order_id)) is None:
            raise RefusedError(f"no order {order_id}")
        return order

    def order_line(self, order_id: str, line_id: str) -> tuple[Order, OrderLine]:
        """An order and a line of it. Raises :class:`RefusedError` when one of the two does not exist."""
        order = self.order(order_id)
        return order, order.line(line_id)

    def eligibility(self, order_id: str, line_id: str) -> Eligibility:
        """Whether a line can go back today. Raises :class:`RefusedError` for an unknown order or line."""
        order, line = self.order_line(order_id, line_id)
        product = self.catalogue.get(line.product_id)
        return check_eligibility(
            order,
            line,
            department=product.department if product else "",
            today=self.today,
            returned=(order_id, line_id) in self.returns,
        )

    def basket_units(self) -> dict[tuple[str, str | None], int]:
        """Pieces of each (product, variant) that the customer gets: in the cart, or checked out of it."""
        units = self.cart.units()
        for order_id in self.checked_out:
            for line in self.orders[order_id].lines:
                key = (line.product_id, line.variant_id)
                units[key] = units.get(key, 0) + line.quantity
        return units

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Undo every change that is made inside when it ends in an exception, which passes on."""
        cart = self.cart.save()
        policies = self.policies.save()
        decided = self.out_of_stock.decided
        orders, returns, variants = dict(self.orders), dict(self.returns), dict(self._variants)
        shown, checked_out = set(self.shown), list(self.checked_out)
        try:
            yield
        except BaseException:
            self.cart.restore(cart)
            self.policies.restore(policies)
            self.out_of_stock.restore(decided)
            _refill(self.orders, orders)
            _refill(self.returns, returns)
            _refill(self._variants, variants)
            self.shown.clear()
            self.shown.update(shown)
            self.checked_out[:] = checked_out
            raise

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Undo every change that is made inside, however it ends: to see what would come of it."""
        with suppress(_TrialOverError), self.transaction():
            yield
            raise _TrialOverError

    def to_wire(self) -> dict[str, Any]:
        """The whole state as a JSON object, equal for equal worlds (for traces and replays)."""
        return {
            "seed": self.seed,
            "today": self.today.isoformat(),
            "cart": [line.to_wire() for line in self.cart],
            "orders": [order.to_wire() for order in self.orders.values()],
            "returns": [record.to_wire() for record in self.returns.values()],
            "checked_out": list(self.checked_out),
            "out_of_stock_decided": dict(sorted(self.out_of_stock.decided.items())),
            "variants_registered": {
                product_id: [variant.id for variant in variants]
                for product_id, variants in sorted(self._variants.items())
            },
            "policies": [article.id for article in self.policies],
            "shown": sorted(self.shown),
        }


def _refill(target: dict[Any, Any], saved: Mapping[Any, Any]) -> None:
    """Put ``saved`` back into the same dictionary: others hold on to it."""
    target.clear()
    target.update(saved)
