"""The world of an episode: cart, orders, returns, stock, policies (spec 06, "Tools")."""

from __future__ import annotations

from shopsim.rlve.world.cart import MAX_QUANTITY, Cart, CartLine
from shopsim.rlve.world.errors import RefusedError
from shopsim.rlve.world.history import draw_orders
from shopsim.rlve.world.orders import (
    STATUS_SHARES,
    Order,
    OrderLine,
    OrderStatus,
    delivered_days_ago,
    newest_first,
)
from shopsim.rlve.world.policies import PolicyArticle, PolicyHit, PolicyStore, make_article
from shopsim.rlve.world.returns import (
    METHOD_FEES,
    Eligibility,
    ReturnMethod,
    ReturnReason,
    ReturnRecord,
    return_window_days,
)
from shopsim.rlve.world.world import ADDRESSES, PAYMENT_METHODS, World

__all__ = [
    "ADDRESSES",
    "MAX_QUANTITY",
    "METHOD_FEES",
    "PAYMENT_METHODS",
    "STATUS_SHARES",
    "Cart",
    "CartLine",
    "Eligibility",
    "Order",
    "OrderLine",
    "OrderStatus",
    "PolicyArticle",
    "PolicyHit",
    "PolicyStore",
    "RefusedError",
    "ReturnMethod",
    "ReturnReason",
    "ReturnRecord",
    "World",
    "delivered_days_ago",
    "draw_orders",
    "make_article",
    "newest_first",
    "return_window_days",
]
