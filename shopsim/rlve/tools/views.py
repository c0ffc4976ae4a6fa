"""How products, lines and orders look in results. Whoever shows a product records that it was shown."""

from __future__ import annotations

from typing import Any

from shopsim.rlve.catalogue import Product, Variant
from shopsim.rlve.world import CartLine, Order, OrderLine, World

__all__ = ["cart_line_view", "cart_view", "order_line_view", "order_view", "product_card", "variant_view"]


def product_card(world: World, product: Product) -> dict[str, Any]:
    """A product in a list of results."""
    world.show([product.id])
    return {
        "product_id": product.id,
        "title": product.title,
        "brand": product.brand,
        "category": list(product.category),
        "price": product.price,
        "rating": product.rating,
        "shipping_days": product.shipping_days,
        "in_stock": world.is_in_stock(product.id),
    }


def variant_view(variant: Variant) -> dict[str, Any]:
    """One variant of a product."""
    return {"variant_id": variant.id, "attribute": variant.attribute, "value": variant.value}


def cart_line_view(world: World, line: CartLine) -> dict[str, Any]:
    """A line of the cart with what it is and costs."""
    product = world.product(line.product_id)
    return {
        "line_id": line.line_id,
        **_item(world, product.id, line.variant_id),
        "quantity": line.quantity,
        "unit_price": product.price,
        "total": round(product.price * line.quantity, 2),
    }


def cart_view(world: World) -> dict[str, Any]:
    """The whole cart."""
    lines = [cart_line_view(world, line) for line in world.cart]
    return {"lines": lines, "total": round(sum(line["total"] for line in lines), 2)}


def order_line_view(world: World, line: OrderLine) -> dict[str, Any]:
    """A line of an order."""
    return {
        "line_id": line.line_id,
        **_item(world, line.product_id, line.variant_id),
        "quantity": line.quantity,
        "unit_price": line.unit_price,
        "total": line.total,
    }


def order_view(world: World, order: Order) -> dict[str, Any]:
    """An order without its status, which has a tool of its own."""
    return {
        "order_id": order.order_id,
        "placed_on": order.placed_on.isoformat(),
        "lines": [order_line_view(world, line) for line in order.lines],
        "total": order.total,
    }


def _item(world: World, product_id: str, variant_id: str | None) -> dict[str, Any]:
    product = world.product(product_id)
    world.show([product_id])
    variant = None
    if variant_id is not None:
        known = world.known_variant(product_id, variant_id)
        variant = variant_view(known) if known else {"variant_id": variant_id}
    return {
        "product_id": product_id,
        "title": product.title,
        "category": list(product.category),
        "variant": variant,
    }
