"""Where one episode stands: immutable data, and what its page offers (spec 01 §3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from shopsim.env.actions import Reason, click_key
from shopsim.env.schema import BACK_TO_SEARCH, BUY_NOW, NEXT_PAGE, PREVIOUS, PageType
from shopsim.env.shop import Move, MoveKind, Shop

__all__ = ["Feedback", "ResultList", "Session", "missing_axes", "offered_moves"]


@dataclass(frozen=True, slots=True)
class Feedback:
    """What became of one action. ``action`` is None when the response was not even text."""

    action: str | None
    reason: Reason
    message: str
    missing_option_axes: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether the action was executed."""
        return self.reason is Reason.EXECUTED

    def to_wire(self) -> dict[str, Any]:
        """The ``action_feedback`` object (spec 01 §2)."""
        wire: dict[str, Any] = {
            "action": self.action,
            "valid": self.valid,
            "reason": self.reason.value,
            "message": self.message,
        }
        if self.missing_option_axes:
            wire["missing_option_axes"] = list(self.missing_option_axes)
        return wire


@dataclass(frozen=True, slots=True)
class ResultList:
    """The ranked ASINs of one search and the page of it that is open."""

    query: str
    normalized_query: str
    asins: tuple[str, ...]
    page_size: int
    page: int = 1

    @property
    def total_pages(self) -> int:
        """Number of pages, at least 1."""
        return max(1, -(-len(self.asins) // self.page_size))

    @property
    def offset(self) -> int:
        """How many results stand before this page."""
        return (self.page - 1) * self.page_size

    @property
    def shown(self) -> tuple[str, ...]:
        """The ASINs of this page in rank order."""
        return self.asins[self.offset : self.offset + self.page_size]


@dataclass(frozen=True, slots=True)
class Session:
    """The state of one episode. Every step makes a new one; nothing here is ever changed in place.

    ``limit`` is the action budget, ``selected`` maps axis names to values as shown, ``ended`` is the
    termination reason once there is one.
    """

    limit: int
    page: PageType = PageType.HOME
    results: ResultList | None = None
    asin: str | None = None
    selected: Mapping[str, str] = field(default_factory=dict)
    steps: int = 0
    feedback: Feedback | None = None
    ended: str | None = None


def missing_axes(session: Session, shop: Shop) -> tuple[str, ...]:
    """The axes of the open product that have no value yet, in catalogue order."""
    if session.asin is None:
        return ()
    return tuple(name for name in shop.view(session.asin).axis_names if name not in session.selected)


def offered_moves(session: Session, shop: Shop) -> list[Move]:
    """Every click that the page offers, in the order of the wire format. Searching is not among them."""
    offer = _OFFERS.get(session.page)
    return offer(session, shop) if offer else []


def _results_moves(session: Session, shop: Shop) -> list[Move]:
    results = session.results
    if results is None:
        return [_HOME_MOVE]
    moves = [_HOME_MOVE]
    if results.page > 1:
        moves.append(_BACK_MOVE)
    if results.page < results.total_pages:
        moves.append(_NEXT_MOVE)
    moves.extend(shop.view(asin).open_move for asin in results.shown)
    return moves


def _product_moves(session: Session, shop: Shop) -> list[Move]:
    moves = [_HOME_MOVE, _BACK_MOVE]
    if session.asin is None:
        return moves
    if not missing_axes(session, shop):
        moves.append(_BUY_MOVE)
    chosen = session.selected
    options = shop.view(session.asin).option_moves
    moves.extend(move for move in options if chosen.get(move.target) != move.value)
    return moves


def _navigation(kind: MoveKind, label: str) -> Move:
    return Move(kind, label, click_key(label))


_HOME_MOVE: Final = _navigation(MoveKind.GO_HOME, BACK_TO_SEARCH)
_BACK_MOVE: Final = _navigation(MoveKind.GO_BACK, PREVIOUS)
_NEXT_MOVE: Final = _navigation(MoveKind.NEXT_PAGE, NEXT_PAGE)
_BUY_MOVE: Final = _navigation(MoveKind.BUY, BUY_NOW)

_OFFERS: Final[Mapping[PageType, Callable[[Session, Shop], list[Move]]]] = {
    PageType.RESULTS: _results_moves,
    PageType.PRODUCT: _product_moves,
}
