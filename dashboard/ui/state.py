"""Widgets bound to the URL: the address always reproduces the view, and leaving a page loses nothing.

The URL is the truth. A widget takes its value from the query parameter of its ``key``; without one, from
what the session last chose for that key (on any page); else from its default. Changing the widget writes
the parameter; a default is left out of the URL. Values of the URL that are no longer offered are ignored.

Streamlit's own ``bind="query-params"`` was tried and falls short here: a link that carries the value of a
key that is bound on both pages loses it, a link to another state of the same page is ignored, and going
back in the browser drops values. (``persist_state="session"`` is used: it hands the value over when the
same key is drawn on another page.)

Use one key for one meaning on every page: ``runs`` (several), ``run``, ``task``, ``episode``, ``step``,
``domain``, ``reason``, ``axis`` ... Options are strings or integers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

__all__ = [
    "choice",
    "choices",
    "number",
    "open_page",
    "page_params",
    "peek",
    "put",
    "remember",
    "slider",
    "text",
    "toggle",
]

T = TypeVar("T", str, int)
Look = Literal["selectbox", "radio", "segmented", "pills"]
_MEMORY = "_url_state"
_PAGE = "_url_page"
_PAGE_KEYS = "_url_page_keys"
_WHOLES = "_url_wholes"


def choice(
    label: str,
    options: Sequence[T],
    *,
    key: str,
    default: T | None = None,
    format_func: Callable[[Any], str] = str,
    look: Look = "selectbox",
    help: str | None = None,
    label_visibility: Literal["visible", "hidden", "collapsed"] = "visible",
    on_change: Callable[[], None] | None = None,
    keep: bool = False,
) -> T:
    """One of ``options`` (not empty). ``default`` is the first option when None.

    ``on_change`` is called after a person chose another one, not when a link or a callback did. With
    ``keep`` the URL names even a default: for things (a run, a task) of which another one may be the first
    tomorrow.
    """
    start = options[0] if default is None or default not in options else default
    unwritten = None if keep else start
    by_text = {str(option): option for option in options}
    _settle(key, start, lambda raw: by_text.get(raw[-1], start), lambda value: value in options, keep=keep)
    common: dict[str, Any] = {
        "options": options,
        "key": key,
        "format_func": format_func,
        "help": help,
        "label_visibility": label_visibility,
        "on_change": _changed,
        "args": (key, unwritten, on_change),
        "persist_state": "session",
    }
    value: T
    if look == "radio":
        value = st.radio(label, horizontal=True, **common)
    elif look == "segmented":
        value = st.segmented_control(label, required=True, **common)
    elif look == "pills":
        value = st.pills(label, required=True, **common)
    else:
        value = st.selectbox(label, **common)
    return start if value is None else value


def choices(
    label: str,
    options: Sequence[T],
    *,
    key: str,
    default: Sequence[T] = (),
    format_func: Callable[[Any], str] = str,
    placeholder: str | None = None,
    help: str | None = None,
) -> list[T]:
    """Several of ``options``. By custom an empty answer means "all": say so in ``placeholder``."""
    start = [option for option in default if option in options]
    by_text = {str(option): option for option in options}
    _settle(
        key,
        start,
        lambda raw: list(dict.fromkeys(by_text[part] for part in raw if part in by_text)),
        lambda value: all(part in options for part in value),
    )
    return st.multiselect(
        label,
        options,
        key=key,
        format_func=format_func,
        placeholder=placeholder,
        help=help,
        on_change=_changed,
        args=(key, start),
        persist_state="session",
    )


def text(label: str, *, key: str, default: str = "", placeholder: str | None = None, **kwargs: Any) -> str:
    """A line of text (stripped)."""
    _settle(key, default, lambda raw: raw[-1], lambda value: True)
    value = st.text_input(
        label,
        key=key,
        placeholder=placeholder,
        on_change=_changed,
        args=(key, default),
        persist_state="session",
        **kwargs,
    )
    return (value or "").strip()


def number(label: str, *, key: str, default: int, minimum: int, maximum: int, **kwargs: Any) -> int:
    """A whole number within bounds."""

    def read(raw: list[str]) -> int:
        try:
            return max(minimum, min(maximum, int(raw[-1])))
        except ValueError:
            return default

    _settle(key, default, read, lambda value: minimum <= value <= maximum)
    return int(
        st.number_input(
            label,
            min_value=minimum,
            max_value=maximum,
            step=1,
            key=key,
            on_change=_changed,
            args=(key, default),
            persist_state="session",
            **kwargs,
        )
    )


def slider(
    label: str, *, key: str, default: float, minimum: float, maximum: float, step: float, **kwargs: Any
) -> float:
    """A number between bounds on a slider. Values of the URL need not be multiples of ``step``."""

    def read(raw: list[str]) -> float:
        try:
            return float(raw[-1])
        except ValueError:
            return default

    _settle(key, default, read, lambda value: minimum <= value <= maximum)
    return float(
        st.slider(
            label,
            min_value=minimum,
            max_value=maximum,
            step=step,
            key=key,
            on_change=_changed,
            args=(key, default),
            persist_state="session",
            **kwargs,
        )
    )


def toggle(label: str, *, key: str, default: bool = False, help: str | None = None) -> bool:
    """On or off (``1`` / ``0`` in the URL)."""
    _settle(key, default, lambda raw: raw[-1] in ("1", "true", "True"), lambda value: True)
    return st.toggle(
        label, key=key, help=help, on_change=_changed, args=(key, default), persist_state="session"
    )


def open_page(name: str) -> None:
    """Called by the app before a page runs: which page the keys drawn from now on belong to."""
    st.session_state[_PAGE] = name


def page_params(name: str, **changes: Any) -> dict[str, list[str]]:
    """The query parameters with which a link reopens page ``name`` as it was left, plus ``changes``.

    A link that carries its whole state needs no correction on arrival, so that the browser's history
    holds one entry a visit. ``None`` in ``changes`` means: not in this link.
    """
    params = {}
    for key, default in _page_keys(name).items():
        raw = st.query_params.get_all(key)
        value = _memory().get(key, default)
        if raw:
            params[key] = raw
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


def put(key: str, value: Any) -> None:
    """Set the state of ``key`` from a callback (``on_click=put, args=(...)``) or a table selection.

    ``None`` forgets it. The widget of that key shows it on the next run.
    """
    if value is None:
        _memory().pop(key, None)
        st.session_state.pop(key, None)
        if key in st.query_params:
            del st.query_params[key]
        return
    _memory()[key] = value
    st.query_params[key] = _as_text(value)


def peek(key: str, default: str | None = None) -> str | None:
    """The current value of ``key`` as text, without drawing a widget: URL first, then memory."""
    raw = st.query_params.get_all(key)
    if raw:
        return raw[-1]
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


def _settle(
    key: str,
    default: Any,
    read: Callable[[list[str]], Any],
    valid: Callable[[Any], bool],
    *,
    keep: bool = False,
) -> None:
    """Put the value of ``key`` into the session before its widget is drawn, and into the URL."""
    raw = st.query_params.get_all(key)
    if raw == [""] and isinstance(default, list):
        value: Any = []
    elif raw:
        value = read(raw)
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


def _changed(key: str, default: Any, then: Callable[[], None] | None = None) -> None:
    value = st.session_state[key]
    if value is None:
        value = default
    _memory()[key] = value
    _write(key, value, default)
    if then is not None:
        then()


def _write(key: str, value: Any, default: Any) -> None:
    """Write the URL only where it differs: every write is an entry in the browser's history."""
    if value == default or value is None:
        if key in st.query_params:
            del st.query_params[key]
    elif st.query_params.get_all(key) != (wanted := _as_text(value)):
        st.query_params[key] = wanted


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
