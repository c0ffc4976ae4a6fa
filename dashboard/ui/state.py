"""Widgets bound to the URL: the address always reproduces the view, and leaving a page loses nothing.

The URL is the truth. A widget takes its value from the query parameter of its ``key``; without one, from
what the session last chose for that key (on any page); else from its default. Changing the widget writes
the parameter; a default is left out of the URL. Of values of the URL that are not offered, the page says so
and what it shows instead (:mod:`dashboard.ui.missing`).

Streamlit's own ``bind="query-params"`` was tried and falls short here: a link that carries the value of a
key that is bound on both pages loses it, a link to another state of the same page is ignored, and going
back in the browser drops values. (``persist_state="session"`` is used: it hands the value over when the
same key is drawn on another page.)

Use one key for one meaning on every page: ``runs`` (several), ``run``, ``task``, ``episode``, ``step``,
``domain``, ``reason``, ``axis`` ... Options are strings or integers. All that one action changes is one
entry in the browser's history (:mod:`dashboard.ui.address`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import streamlit as st

from dashboard.ui.address import (
    changed,
    open_page,
    page_params,
    peek,
    put,
    raw,
    remember,
    settle,
    stop,
    write_address,
)
from dashboard.ui.missing import quoted, say_missing
from dashboard.ui.text import count

__all__ = [
    "choice",
    "choices",
    "counted",
    "number",
    "open_page",
    "page_params",
    "peek",
    "put",
    "raw",
    "remember",
    "slider",
    "stop",
    "text",
    "toggle",
    "write_address",
]

T = TypeVar("T", str, int)
Missing = Callable[[list[str]], str]
"""What to say, as a clause, of values of the URL that are not offered."""
Look = Literal["selectbox", "radio", "segmented", "pills"]


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
    missing: Missing | None = None,
) -> T:
    """One of ``options`` (not empty). ``default`` is the first option when None.

    ``on_change`` is called after a person chose another one, not when a link or a callback did. With
    ``keep`` the URL names even a default: for things (a run, a task) of which another one may be the first
    tomorrow. ``missing`` words what is said when the URL asks for what is not offered.
    """
    start = options[0] if default is None or default not in options else default
    unwritten = None if keep else start
    by_text = {str(option): option for option in options}

    def read(written: list[str]) -> tuple[T, list[str]]:
        known = written[-1] in by_text
        return by_text.get(written[-1], start), [] if known else written[-1:]

    unknown = settle(key, start, read, lambda value: value in options, keep=keep)
    if unknown:
        say_missing(_clause(label, unknown, missing), format_func(start))
    common: dict[str, Any] = {
        "options": options,
        "key": key,
        "format_func": format_func,
        "help": help,
        "label_visibility": label_visibility,
        "on_change": changed,
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


def counted(label: str, labels: Mapping[str, str], counts: Mapping[str, int], *, key: str) -> str:
    """The name of one kind of several; ``labels`` says what each is called, ``counts`` how many there are."""
    return choice(
        label,
        list(labels),
        key=key,
        look="segmented",
        format_func=lambda name: f"{labels[name]} ({count(counts[name])})",
        label_visibility="collapsed",
    )


def choices(
    label: str,
    options: Sequence[T],
    *,
    key: str,
    default: Sequence[T] = (),
    format_func: Callable[[Any], str] = str,
    placeholder: str | None = None,
    help: str | None = None,
    missing: Missing | None = None,
) -> list[T]:
    """Several of ``options``. By custom an empty answer means "all": say so in ``placeholder``."""
    start = [option for option in default if option in options]
    by_text = {str(option): option for option in options}

    def read(written: list[str]) -> tuple[list[T], list[str]]:
        known = list(dict.fromkeys(by_text[part] for part in written if part in by_text))
        unknown = [part for part in dict.fromkeys(written) if part not in by_text]
        return known if known or not unknown else start, unknown

    unknown = settle(key, start, read, lambda value: all(part in options for part in value))
    if unknown:
        left = ", ".join(format_func(part) for part in st.session_state[key])
        say_missing(_clause(label, unknown, missing), left or placeholder or "none")
    return st.multiselect(
        label,
        options,
        key=key,
        format_func=format_func,
        placeholder=placeholder,
        help=help,
        on_change=changed,
        args=(key, start),
        persist_state="session",
    )


def text(label: str, *, key: str, default: str = "", placeholder: str | None = None, **kwargs: Any) -> str:
    """A line of text (stripped)."""
    settle(key, default, lambda written: (written[-1], []), lambda value: True)
    value = st.text_input(
        label,
        key=key,
        placeholder=placeholder,
        on_change=changed,
        args=(key, default),
        persist_state="session",
        **kwargs,
    )
    return (value or "").strip()


def number(label: str, *, key: str, default: int, minimum: int, maximum: int, **kwargs: Any) -> int:
    """A whole number within bounds."""

    def read(written: list[str]) -> tuple[int, list[str]]:
        try:
            asked = int(written[-1])
        except ValueError:
            return default, written[-1:]
        value = max(minimum, min(maximum, asked))
        return value, [] if value == asked else written[-1:]

    if unknown := settle(key, default, read, lambda value: minimum <= value <= maximum):
        reason = f"{label} is a whole number from {minimum} to {maximum}, not {quoted(unknown)}"
        say_missing(reason, str(st.session_state[key]))
    return int(
        st.number_input(
            label,
            min_value=minimum,
            max_value=maximum,
            step=1,
            key=key,
            on_change=changed,
            args=(key, default),
            persist_state="session",
            **kwargs,
        )
    )


def slider(
    label: str, *, key: str, default: float, minimum: float, maximum: float, step: float, **kwargs: Any
) -> float:
    """A number between bounds on a slider. Values of the URL need not be multiples of ``step``.

    The caller says what is wrong with a value of the URL that is none.
    """

    def read(written: list[str]) -> tuple[float, list[str]]:
        try:
            return float(written[-1]), []
        except ValueError:
            return default, []

    settle(key, default, read, lambda value: minimum <= value <= maximum)
    return float(
        st.slider(
            label,
            min_value=minimum,
            max_value=maximum,
            step=step,
            key=key,
            on_change=changed,
            args=(key, default),
            persist_state="session",
            **kwargs,
        )
    )


def toggle(label: str, *, key: str, default: bool = False, help: str | None = None) -> bool:
    """On or off (``1`` / ``0`` in the URL)."""
    settle(key, default, lambda written: (written[-1] in ("1", "true", "True"), []), lambda value: True)
    return st.toggle(
        label, key=key, help=help, on_change=changed, args=(key, default), persist_state="session"
    )


def _clause(label: str, unknown: list[str], missing: Missing | None) -> str:
    if missing is not None:
        return missing(unknown)
    return f"{label.split(' (')[0]}: {quoted(unknown)} is not offered here"
