"""The state behind the widgets of :mod:`dashboard.ui.state`: the address, the session's memory, links.

Every write of ``st.query_params`` is an entry in the browser's history. What callbacks and the page change in
a run is therefore collected, and :func:`write_address` sends it at the end of the run as one entry, so that
one step back undoes one action. Read the address by :func:`raw`, which knows what is still to be sent. A run
that is cut short by the next action leaves its changes to that one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, cast

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

__all__ = [
    "arrived",
    "changed",
    "open_page",
    "page_params",
    "peek",
    "put",
    "raw",
    "remember",
    "settle",
    "stop",
    "write_address",
]

_MEMORY = "_url_state"
_PAGE = "_url_page"
_PAGE_KEYS = "_url_page_keys"
_WHOLES = "_url_wholes"
_PENDING = "_url_pending"
_LEFT = "_url_left"
_ARRIVED = "_url_arrived"


def open_page(name: str) -> None:
    """Called by the app before a page runs: which page the keys drawn from now on belong to."""
    if st.session_state.get(_PAGE) != name:
        st.session_state.pop(_PENDING, None)  # of a run of another page that was cut short
    st.session_state[_PAGE] = name
    st.session_state[_ARRIVED] = st.session_state.get(_LEFT) != (name, _shown())


def arrived() -> bool:
    """Whether this run answers an address from outside: a link, a bookmark, the menu, going back."""
    return bool(st.session_state.get(_ARRIVED))


def raw(key: str) -> list[str]:
    """The values of ``key`` in the address, with what this run changed; empty when it is absent."""
    pending = _pending()
    return pending[key] or [] if key in pending else st.query_params.get_all(key)


def write_address() -> None:
    """Send what callbacks and the page changed since the run began as one entry of the browser's history.

    The app calls it after the page.
    """
    if changes := _pending():
        _send_now(changes)
    st.session_state[_LEFT] = (st.session_state.get(_PAGE), _shown())


def _send_now(changes: dict[str, list[str] | None]) -> None:
    params = {key: st.query_params.get_all(key) for key in st.query_params}
    for key, value in changes.items():
        params.pop(key, None)
        if value is not None:
            params[key] = value
    st.query_params.from_dict(params)
    st.session_state.pop(_PENDING, None)


def page_params(name: str, **changes: Any) -> dict[str, list[str]]:
    """The query parameters with which a link reopens page ``name`` as it was left, plus ``changes``.

    A link that carries its whole state needs no correction on arrival, so that the browser's history
    holds one entry a visit. ``None`` in ``changes`` means: not in this link.
    """
    params = {}
    for key, default in _page_keys(name).items():
        written = raw(key)
        value = _memory().get(key, default)
        if written:
            params[key] = written
        elif value != default and value is not None:
            params[key] = _as_text(value)
    for key, whole in _wholes().items():
        if whole in changes:
            params.pop(key, None)
    for key, value in changes.items():
        params.pop(key, None)
        if value is not None:
            params[key] = _as_text(list(value) if isinstance(value, tuple) else value)
    return params


def stop() -> NoReturn:
    """End the page here, as ``st.stop()`` does, after which the address could no longer be written."""
    write_address()
    st.stop()


def put(key: str, value: Any) -> None:
    """Set the state of ``key`` from a callback (``on_click=put, args=(...)``) or a table selection.

    ``None`` forgets it. The widget of that key shows it on the next run.
    """
    if value is None:
        _memory().pop(key, None)
        st.session_state.pop(key, None)
        _send(key, None)
        return
    _memory()[key] = value
    _send(key, _as_text(value))


def peek(key: str, default: str | None = None) -> str | None:
    """The current value of ``key`` as text, without drawing a widget: URL first, then memory."""
    written = raw(key)
    if written:
        return written[-1]
    if _came_by_history() or key not in _memory():
        return default
    parts = _as_text(_memory()[key])
    return parts[-1] if parts else default


def remember(key: str, value: Any, default: Any = None, *, of: str | None = None) -> None:
    """Note what a page resolved ``key`` to and write it to the URL unless it is the default.

    For values without a widget (the episode shown, the row selected in a table). ``of`` names the key that
    this one is a part of (the step of an episode): a link to another one of those leaves it out.
    """
    if of is not None:
        _wholes()[key] = of
    _memory()[key] = value
    _note(key, default)
    _write(key, value, default)


def settle(
    key: str,
    default: Any,
    read: Callable[[list[str]], tuple[Any, list[str]]],
    valid: Callable[[Any], bool],
    *,
    keep: bool = False,
) -> list[str]:
    """Put the value of ``key`` into the session before its widget is drawn, and into the URL.

    ``read`` gives the value and what of the address is not among what can be chosen; the latter is returned.
    """
    written = raw(key)
    missing: list[str] = []
    if written == [""] and isinstance(default, list):
        value: Any = []
    elif written:
        value, missing = read(written)
    elif _came_by_history() or key not in _memory():
        value = default
    else:
        value = _memory()[key]
    if type(value) is not type(default) or not valid(value):
        value = default
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value
    _memory()[key] = value
    unwritten = None if keep else default
    _note(key, unwritten)
    if not (keep and _came_by_history()):  # going back must not lead forward again
        _write(key, value, unwritten)
    return missing


def changed(key: str, default: Any, then: Callable[[], None] | None = None) -> None:
    """Callback of a widget: note its new value and write it to the URL, then call ``then``."""
    value = st.session_state[key]
    if value is None:
        value = default
    _memory()[key] = value
    _write(key, value, default)
    if then is not None:
        then()


def _write(key: str, value: Any, default: Any) -> None:
    _send(key, None if value == default or value is None else _as_text(value))


def _send(key: str, wanted: list[str] | None) -> None:
    """Have the end of the run write ``key`` where the address differs."""
    if (st.query_params.get_all(key) or None) == wanted:
        _pending().pop(key, None)
    else:
        _pending()[key] = wanted


def _pending() -> dict[str, list[str] | None]:
    """What is still to be sent, None for a key to remove: changes of the address that the browser shows."""
    shown = _shown()
    base, changes = st.session_state.get(_PENDING, (None, {}))
    if base != shown:  # nothing yet, or the reader moved on to another address in between
        changes = {}
        st.session_state[_PENDING] = (shown, changes)
    return cast(dict[str, list[str] | None], changes)


def _shown() -> str:
    """The query string that the browser shows."""
    return str(getattr(get_script_run_ctx(), "query_string", ""))


def _as_text(value: Any) -> list[str]:
    if isinstance(value, bool):
        return ["1" if value else "0"]
    if isinstance(value, list):
        return [str(part) for part in value] or [""]
    return [str(value)]


def _note(key: str, default: Any) -> None:
    _page_keys(st.session_state.get(_PAGE, ""))[key] = default


def _page_keys(name: str) -> dict[str, Any]:
    pages: dict[str, dict[str, Any]] = st.session_state.setdefault(_PAGE_KEYS, {})
    return pages.setdefault(name, {})


def _wholes() -> dict[str, str]:
    wholes: dict[str, str] = st.session_state.setdefault(_WHOLES, {})
    return wholes


def _memory() -> dict[str, Any]:
    memory: dict[str, Any] = st.session_state.setdefault(_MEMORY, {})
    return memory


def _came_by_history() -> bool:
    """True on the run that answers the browser's back or forward button: an absent key is a default."""
    return bool(getattr(get_script_run_ctx(), "is_history_navigation", False))
