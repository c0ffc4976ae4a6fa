"""Tools of returns and exchanges."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field

from shopsim.rlve.tools.base import Arguments, Id, Tool
from shopsim.rlve.tools.views import order_line_view, product_card, variant_view
from shopsim.rlve.world import (
    METHOD_FEES,
    Eligibility,
    OrderLine,
    RefusedError,
    ReturnMethod,
    ReturnReason,
    ReturnRecord,
    World,
)

__all__ = ["RETURN_TOOLS"]

_WHY: Final = {
    "cancelled": "the order was cancelled",
    "not_delivered": "the order has not been delivered yet",
    "already_returned": "the line was returned already",
    "never_returnable": "products of this department can never be returned",
    "window_closed": "the return window is over",
}


class _LineArguments(Arguments):
    order_id: Id
    line_id: Id


class _InitiateArguments(_LineArguments):
    # Strict models take no text for an enumeration, but text is what JSON has.
    reason_code: Annotated[ReturnReason, Field(strict=False)]
    method: Annotated[ReturnMethod, Field(strict=False)]


class _ExchangeArguments(_LineArguments):
    new_product_id: Id
    new_variant_id: Id | None = Field(
        default=None, description="One of catalog.get_variants; none: any will do."
    )


def _check(world: World, arguments: _LineArguments, turn: int) -> dict[str, Any]:
    _, line = world.order_line(arguments.order_id, arguments.line_id)
    found = world.eligibility(arguments.order_id, arguments.line_id)
    return {
        "order_id": arguments.order_id,
        "line": order_line_view(world, line),
        "eligible": found.eligible,
        "reason": found.reason,
        "explanation": _WHY.get(found.reason, "the line can be returned"),
        "window_days": found.window_days,
        "days_left": found.days_left,
        "reason_codes": [str(reason) for reason in ReturnReason],
        "methods": [{"method": str(method), "fee": fee} for method, fee in METHOD_FEES.items()],
    }


def _initiate(world: World, arguments: _InitiateArguments, turn: int) -> dict[str, Any]:
    line = _returnable(world, arguments)
    fee = METHOD_FEES[arguments.method]
    record = _record(
        world,
        arguments,
        turn,
        refund=line.total - fee,
        fee=fee,
        reason=arguments.reason_code,
        method=arguments.method,
    )
    return {**_recorded(world, record, line), "refund": record.refund, "fee": record.fee}


def _exchange(world: World, arguments: _ExchangeArguments, turn: int) -> dict[str, Any]:
    line = _returnable(world, arguments)
    product = world.product(arguments.new_product_id)
    variant = None
    if arguments.new_variant_id is not None:
        variant = variant_view(world.variant(product.id, arguments.new_variant_id))
    if not world.is_in_stock(product.id):
        raise RefusedError(f"product {product.id} is out of stock")
    record = _record(
        world,
        arguments,
        turn,
        refund=line.total - product.price * line.quantity,
        new_product_id=product.id,
        new_variant_id=arguments.new_variant_id,
    )
    return {
        **_recorded(world, record, line),
        "new_product": product_card(world, product),
        "new_variant": variant,
        "quantity": line.quantity,
        "refund": record.refund,
    }


def _returnable(world: World, arguments: _LineArguments) -> OrderLine:
    _, line = world.order_line(arguments.order_id, arguments.line_id)
    found: Eligibility = world.eligibility(arguments.order_id, arguments.line_id)
    if not found.eligible:
        raise RefusedError(
            f"line {arguments.line_id} of order {arguments.order_id} cannot be returned: {_WHY[found.reason]}"
        )
    return line


def _record(
    world: World, arguments: _LineArguments, turn: int, *, refund: float, **details: Any
) -> ReturnRecord:
    """Note in the world that the line goes back; ``refund`` in dollars, negative where a rest is to be paid.

    ``details`` are fields of :class:`ReturnRecord`: those of a return, or those of an exchange.
    """
    record = ReturnRecord(
        return_id=f"RET-{len(world.returns) + 1}",
        order_id=arguments.order_id,
        line_id=arguments.line_id,
        turn=turn,
        refund=round(refund, 2),
        **details,
    )
    world.returns[record.order_id, record.line_id] = record
    return record


def _recorded(world: World, record: ReturnRecord, line: OrderLine) -> dict[str, Any]:
    """What the result of a return and that of an exchange begin with."""
    return {
        "return_id": record.return_id,
        "order_id": record.order_id,
        "line": order_line_view(world, line),
    }


RETURN_TOOLS: Final = (
    Tool(
        "return.check_eligibility",
        "Tell whether a line of an order can be returned today, and how. Returns nothing yet.",
        _LineArguments,
        _check,
    ),
    Tool(
        "return.initiate",
        "Return a line of an order for its price, less the fee of the method.",
        _InitiateArguments,
        _initiate,
    ),
    Tool(
        "return.exchange",
        "Return a line of an order and send as many pieces of another product for it.",
        _ExchangeArguments,
        _exchange,
    ),
)
