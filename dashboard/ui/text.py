"""Text from data made safe for Markdown, HTML and Plotly, and numbers written the same way everywhere.

Pure functions. A missing value (None, NaN) is always :data:`MISSING`, never 0; a negative number has a minus
sign (U+2212) before it.
"""

from __future__ import annotations

import html
import math
import re
from typing import Any

from dashboard.analysis.recorded import printable
from shopsim import wording
from shopsim.wording import minus

__all__ = [
    "MISSING",
    "count",
    "duration",
    "error_text",
    "interval",
    "is_missing",
    "number",
    "percent",
    "plot_text",
    "plural",
    "points",
    "points_interval",
    "printable",
    "safe_html",
    "safe_text",
    "shorten",
    "tokens",
]

MISSING = "–"
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|~$^=\"'/@])")
_ENTITIES = str.maketrans({"<": "&lt;", ">": "&gt;", "&": "&amp;"})
# Replaced by Streamlit after Markdown was parsed, where a backslash no longer helps: emoji, icon and colour
# names (:name:), arrows and dashes (->, <-, --, <=, >=, ~=), addresses (http://x, www.x, a@b).
_LATE = re.compile(r":(?=[A-Za-z_+/-])|[<>~-](?=[<>=-])|@|www(?=\.)", re.IGNORECASE)
_ZERO_WIDTH = "\u200b"
_CODE = re.compile(r"`([^`]+)`")


def safe_text(text: object) -> str:
    """Escape ``text`` for a Markdown context, so that it reads exactly as it was recorded.

    Punctuation gets a backslash, ``<``, ``>`` and ``&`` become entities, and what Streamlit replaces after
    parsing is broken up by a zero-width space. Line breaks and tabs become blanks; lone surrogates (a model
    cut off inside an emoji) become U+FFFD.
    """
    return _escaped(" ".join(printable(text).split()))


def _escaped(line: str) -> str:
    escaped = _MARKDOWN.sub(r"\\\1", _LATE.sub(rf"\g<0>{_ZERO_WIDTH}", line))
    return escaped.translate(_ENTITIES)


def error_text(error: object) -> str:
    """Like :func:`safe_text`, with what stands between backticks (commands) as code."""
    parts = _CODE.split(" ".join(printable(error).split()))
    return "".join(f"`{part}`" if place % 2 else _escaped(part) for place, part in enumerate(parts))


def safe_html(text: object) -> str:
    """Escape ``text`` for HTML; keeps line breaks (show it with ``white-space: pre-wrap``)."""
    return html.escape(printable(text), quote=True)


def plot_text(text: object, limit: int = 80) -> str:
    """Escape and shorten ``text`` for Plotly, which reads ``<b>``, ``<a href>`` and entities in labels."""
    short = shorten(text, limit)
    return short.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def shorten(text: object, limit: int) -> str:
    """``text`` on one line, cut to ``limit`` characters with an ellipsis."""
    line = " ".join(printable(text).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def is_missing(value: Any) -> bool:
    """True for None, NaN and pandas' NA."""
    if value is None:
        return True
    try:
        return math.isnan(value)
    except TypeError:
        return str(value) in ("<NA>", "NaT")


def number(value: Any, digits: int = 3) -> str:
    """A plain number: ``0.542``."""
    return MISSING if is_missing(value) else minus(f"{float(value):,.{digits}f}")


def percent(value: Any, digits: int = 1) -> str:
    """A share in [0, 1] as percent: ``51.8%``."""
    return MISSING if is_missing(value) else minus(f"{100 * float(value):.{digits}f}%")


def points(value: Any, digits: int = 2) -> str:
    """A difference of shares in percentage points: ``+32.50 points``."""
    return MISSING if is_missing(value) else minus(f"{100 * float(value):+.{digits}f} points")


def points_interval(low: Any, high: Any, digits: int = 2) -> str:
    """The interval of a difference of shares: ``[+27.50, +37.50] points``."""
    if is_missing(low) or is_missing(high):
        return MISSING
    return minus(f"[{100 * float(low):+.{digits}f}, {100 * float(high):+.{digits}f}] points")


def count(value: Any) -> str:
    """A whole number with thousands separators: ``1,234``."""
    return MISSING if is_missing(value) else minus(f"{int(value):,}")


def tokens(value: Any) -> str:
    """A token count in three digits: ``812``, ``12.3k``, ``4.56M``."""
    if is_missing(value):
        return MISSING
    size = float(value)
    for limit, divisor, unit in ((999.5, 1, ""), (999_500, 1e3, "k"), (999.5e6, 1e6, "M")):
        if abs(size) < limit:
            return f"{size / divisor:.3g}{unit}" if unit else f"{size:.0f}"
    return f"{size / 1e9:.3g}G"


def duration(milliseconds: Any) -> str:
    """A time span: ``840 ms``, ``3.2 s``, ``4 min 05 s``, ``1 h 04 min``."""
    if is_missing(milliseconds):
        return MISSING
    value = float(milliseconds)
    if value < 999.5:
        return f"{value:.0f} ms"
    if value < 59_950:
        return f"{value / 1000:.1f} s"
    seconds = round(value / 1000)
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60:02d} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60:02d} min"


def interval(low: Any, high: Any, *, as_percent: bool = False, digits: int | None = None) -> str:
    """An interval in brackets: ``[0.494, 0.590]`` or ``[46.9, 56.6]%``."""
    if is_missing(low) or is_missing(high):
        return MISSING
    if as_percent:
        places = 1 if digits is None else digits
        return minus(f"[{100 * float(low):.{places}f}, {100 * float(high):.{places}f}]%")
    places = 3 if digits is None else digits
    return minus(f"[{float(low):.{places}f}, {float(high):.{places}f}]")


def plural(n: Any, noun: str, nouns: str | None = None) -> str:
    """``1 episode``, ``1,234 episodes``."""
    return wording.plural(0 if is_missing(n) else int(n), noun, nouns)
