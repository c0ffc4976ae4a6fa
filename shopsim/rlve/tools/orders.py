"""Tools of the orders."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from shopsim.rlve.tools.base import Arguments, Id, NoArguments, Tool
from shopsim.rlve.tools.views import order_view
from shopsim.rlve.world import (
    ADDRESSES,
    PAYMENT_METHODS,
    Order,
    OrderLine,
    OrderStatus,
    RefusedError,
    World,
    newest_first,
)
from shopsim.rlve.world.history import draw_order_id

__all__ = ["ORDER_TOOLS"]


class _OrderArguments(Arguments):
    order_id: Id


class _CheckoutArguments(Arguments):
    shipping_address_id: Id
    payment_method_id: Id


def _list(world: World, arguments: NoArguments, turn: int) -> dict[str, Any]:
    return {
        "today": world.today.isoformat(),
        "orders": [order_view(world, order) for order in newest_first(world.orders.values())],
    }


def _get_status(world: World, arguments: _OrderArguments, turn: int) -> dict[str, Any]:
    order = world.order(arguments.order_id)
    return {
        "order_id": order.order_id,
        "status": str(order.status),
        "placed_on": order.placed_on.isoformat(),
        "delivered_on": order.delivered_on.isoformat() if order.delivered_on else None,
        "shipping_address_id": order.shipping_address_id,
    }


def _checkout(world: World, arguments: _CheckoutArguments, turn: int) -> dict[str, Any]:
    if not len(world.cart):
        raise RefusedError("the cart is empty")
    if arguments.shipping_address_id not in ADDRESSES:
        raise RefusedError(f"no shipping address {arguments.shipping_address_id}; cart.view lists them")
    if arguments.payment_method_id not in PAYMENT_METHODS:
        raise RefusedError(f"no payment method {arguments.payment_method_id}; cart.view lists them")
    missing = [line.product_id for line in world.cart if not world.is_in_stock(line.product_id)]
    if missing:
        raise RefusedError(f"out of stock: {', '.join(missing)}")
    dice = Random(f"{world.seed}:checkout:{len(world.checked_out)}")
    order_id = draw_order_id(dice, world.orders)
    order = Order(
        order_id,
        world.today,
        OrderStatus.CONFIRMED,
        tuple(
            OrderLine(
                f"{order_id}-{number}",
                line.product_id,
                line.variant_id,
                line.quantity,
                world.product(line.product_id).price,
            )
            for number, line in enumerate(world.cart, start=1)
        ),
        arguments.shipping_address_id,
    )
    world.put_order(order)
    world.checked_out.append(order_id)
    world.cart.clear()
    return {
        "order": {**order_view(world, order), "status": str(order.status)},
        "payment_method_id": arguments.payment_method_id,
    }


ORDER_TOOLS: Final = (
    Tool(
        "order.list",
        "List the customer's orders, newest first, with their lines; the status has a tool of its own.",
        NoArguments,
        _list,
    ),
    Tool(
        "order.get_status",
        "Tell the status of an order and the days on which it was placed and delivered.",
        _OrderArguments,
        _get_status,
    ),
    Tool(
        "order.checkout",
        "Order everything in the cart. cart.view lists the addresses and payment methods.",
        _CheckoutArguments,
        _checkout,
    ),
)
