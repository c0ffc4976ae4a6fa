"""The transition table: (page, move) -> next session. Pure functions, data in, data out (spec 01 §1-§3).

A move that has no row in the table cannot happen on that page; a refused action leaves everything but
the step count and the feedback as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final

from shopsim.env.actions import Action, Reason, click, click_key, parse_response
from shopsim.env.errors import EpisodeEndedError, TerminationReasonError
from shopsim.env.messages import REFUSALS, TERMINATIONS
from shopsim.env.schema import BUY_NOW, PageType
from shopsim.env.session import Feedback, ResultList, Session, missing_axes, offered_moves
from shopsim.env.shop import Move, MoveKind, Shop
from shopsim.search.text import normalize_search_text

__all__ = ["TRANSITIONS", "Transition", "act", "can_search", "terminate"]

Transition = Callable[[Session, Move, Shop], tuple[Session, str]]
"""Takes the session, the move and the shop; returns the next session and what to tell the agent."""

_REPORTED_REASONS: Final = ("action_limit", "generation_length")
_MAX_ECHO: Final = 500


def act(session: Session, response: object, shop: Shop) -> Session:
    """One step: read the response, execute or refuse it, count it.

    The budget is checked after the action: the last one still executes, and ends the episode with
    ``action_limit`` unless it bought something. Raises :class:`EpisodeEndedError` after the end.
    """
    if session.ended is not None:
        raise EpisodeEndedError(
            f"the episode has ended ({session.ended}) and takes no further step", hint="Call reset first."
        )
    after = _execute(session, response, shop)
    steps = session.steps + 1
    ended = "purchase" if after.page is PageType.TERMINAL else None
    if ended is None and steps >= session.limit:
        ended = "action_limit"
    return replace(after, steps=steps, ended=ended)


def terminate(session: Session, reason: object) -> Session:
    """End the episode for a reason that only the runner can know; the page stays as it is.

    Raises :class:`TerminationReasonError` for any reason but ``action_limit`` and ``generation_length``,
    and :class:`EpisodeEndedError` after the end.
    """
    if not isinstance(reason, str) or reason not in _REPORTED_REASONS:
        raise TerminationReasonError(
            f"termination_reason: {reason!r} is refused", hint=f"Allowed: {', '.join(_REPORTED_REASONS)}."
        )
    if session.ended is not None:
        raise EpisodeEndedError(f"the episode has already ended ({session.ended})", hint="Call reset first.")
    return replace(session, ended=reason)


def can_search(page: PageType) -> bool:
    """Whether the page has the search capability."""
    return (page, MoveKind.SEARCH) in TRANSITIONS


def _execute(session: Session, response: object, shop: Shop) -> Session:
    action = parse_response(response)
    if isinstance(action, Reason):
        return _refuse(session, _echo(response), action)
    move = _search_move(session, action) if action.verb == "search" else _click_move(session, action, shop)
    if isinstance(move, Reason):
        missing = missing_axes(session, shop) if move is Reason.INCOMPLETE_OPTIONS else ()
        return _refuse(session, action.canonical, move, missing)
    done = action.canonical if move.kind is MoveKind.SEARCH else click(move.label)
    after, message = TRANSITIONS[session.page, move.kind](session, move, shop)
    return replace(after, feedback=Feedback(done, Reason.EXECUTED, message))


def _refuse(session: Session, action: str | None, reason: Reason, missing: tuple[str, ...] = ()) -> Session:
    return replace(session, feedback=Feedback(action, reason, REFUSALS[reason], missing))


def _echo(response: object) -> str | None:
    """What the feedback repeats of a response that is no action: its beginning, for the trace."""
    return response.strip()[:_MAX_ECHO] if isinstance(response, str) else None


def _search_move(session: Session, action: Action) -> Move | Reason:
    if not can_search(session.page):
        return Reason.SEARCH_UNAVAILABLE
    return Move(MoveKind.SEARCH, action.argument, "")


def _click_move(session: Session, action: Action, shop: Shop) -> Move | Reason:
    move = _match(offered_moves(session, shop), action.argument)
    if move is not None:
        return move
    if session.page is not PageType.PRODUCT or session.asin is None:
        return Reason.UNAVAILABLE_ACTION
    option = _match(shop.view(session.asin).option_moves, action.argument)
    if option is not None:  # a value that exists but is not offered is the chosen one
        return Reason.ALREADY_SELECTED
    if click_key(action.argument) == BUY_NOW:
        return Reason.INCOMPLETE_OPTIONS
    return Reason.UNAVAILABLE_ACTION


def _match(moves: Iterable[Move], value: str) -> Move | None:
    """The move that was meant: one of exactly this label, else the first that compares equal."""
    key = click_key(value)
    candidates = [move for move in moves if move.key == key]
    return next((move for move in candidates if move.label == value), candidates[0] if candidates else None)


def _search(session: Session, move: Move, shop: Shop) -> tuple[Session, str]:
    asins = shop.find(move.label)
    results = ResultList(move.label, normalize_search_text(move.label), asins, shop.page_size)
    message = "搜索完成，已显示结果。" if asins else "搜索完成，没有找到商品。"
    return replace(session, page=PageType.RESULTS, results=results), message


def _go_home(session: Session, move: Move, shop: Shop) -> tuple[Session, str]:
    return Session(limit=session.limit, steps=session.steps), "已返回搜索首页。"


def _previous_page(session: Session, move: Move, shop: Shop) -> tuple[Session, str]:
    return _turn(session, -1), "已翻到上一页。"


def _next_page(session: Session, move: Move, shop: Shop) -> tuple[Session, str]:
    return _turn(session, 1), "已翻到下一页。"


def _turn(session: Session, pages: int) -> Session:
    results = session.results
    return (
        session if results is None else replace(session, results=replace(results, page=results.page + pages))
    )


def _open_product(session: Session, move: Move, shop: Shop) -> tuple[Session, str]:
    return replace(session, page=PageType.PRODUCT, asin=move.target, selected={}), "已打开商品页面。"


def _back_to_results(session: Session, move: Move, shop: Shop) -> tuple[Session, str]:
    return replace(session, page=PageType.RESULTS, asin=None, selected={}), "已返回搜索结果。"


def _select_option(session: Session, move: Move, shop: Shop) -> tuple[Session, str]:
    return replace(session, selected={**session.selected, move.target: move.value}), "已选择该规格。"


def _buy(session: Session, move: Move, shop: Shop) -> tuple[Session, str]:
    return replace(session, page=PageType.TERMINAL), TERMINATIONS["purchase"]


TRANSITIONS: Final[Mapping[tuple[PageType, MoveKind], Transition]] = {
    (PageType.HOME, MoveKind.SEARCH): _search,
    (PageType.RESULTS, MoveKind.GO_HOME): _go_home,
    (PageType.RESULTS, MoveKind.GO_BACK): _previous_page,
    (PageType.RESULTS, MoveKind.NEXT_PAGE): _next_page,
    (PageType.RESULTS, MoveKind.OPEN_PRODUCT): _open_product,
    (PageType.PRODUCT, MoveKind.GO_HOME): _go_home,
    (PageType.PRODUCT, MoveKind.GO_BACK): _back_to_results,
    (PageType.PRODUCT, MoveKind.SELECT_OPTION): _select_option,
    (PageType.PRODUCT, MoveKind.BUY): _buy,
}
