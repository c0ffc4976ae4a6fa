"""Tools of the cart."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field

from shopsim.rlve.tools.base import Arguments, Id, NoArguments, Tool
from shopsim.rlve.tools.views import cart_line_view, cart_view
from shopsim.rlve.world import ADDRESSES, MAX_QUANTITY, PAYMENT_METHODS, RefusedError, World

__all__ = ["CART_TOOLS"]

_Quantity = Annotated[int, Field(ge=1, le=MAX_QUANTITY)]


class _AddArguments(Arguments):
    product_id: Id
    variant_id: Id | None = Field(default=None, description="One of catalog.get_variants; none: any will do.")
    quantity: _Quantity = 1


class _LineArguments(Arguments):
    line_id: Id


class _QuantityArguments(_LineArguments):
    quantity: _Quantity


def _view(world: World, arguments: NoArguments, turn: int) -> dict[str, Any]:
    return {
        **cart_view(world),
        "shipping_addresses": [{"shipping_address_id": key, "name": name} for key, name in ADDRESSES.items()],
        "payment_methods": [
            {"payment_method_id": key, "name": name} for key, name in PAYMENT_METHODS.items()
        ],
    }


def _add(world: World, arguments: _AddArguments, turn: int) -> dict[str, Any]:
    product = world.product(arguments.product_id)
    if arguments.variant_id is not None:
        world.variant(product.id, arguments.variant_id)
    if not world.is_in_stock(product.id):
        raise RefusedError(f"product {product.id} is out of stock")
    line = world.cart.add(product.id, arguments.variant_id, arguments.quantity)
    return {"line": cart_line_view(world, line), "cart": cart_view(world)}


def _remove(world: World, arguments: _LineArguments, turn: int) -> dict[str, Any]:
    line = world.cart.remove(arguments.line_id)
    return {"removed": cart_line_view(world, line), "cart": cart_view(world)}


def _set_quantity(world: World, arguments: _QuantityArguments, turn: int) -> dict[str, Any]:
    line = world.cart.set_quantity(arguments.line_id, arguments.quantity)
    return {"line": cart_line_view(world, line), "cart": cart_view(world)}


CART_TOOLS: Final = (
    Tool(
        "cart.view",
        "Show the cart, and the addresses and payment methods for a checkout.",
        NoArguments,
        _view,
    ),
    Tool(
        "cart.add",
        "Put a product into the cart, in a variant if one is given. Pieces of the same product and variant "
        "join one line.",
        _AddArguments,
        _add,
    ),
    Tool("cart.remove", "Take a line out of the cart.", _LineArguments, _remove),
    Tool("cart.set_quantity", "Set the quantity of a line of the cart.", _QuantityArguments, _set_quantity),
)
