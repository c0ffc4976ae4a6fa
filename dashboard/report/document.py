"""Rendering a report: Jinja with escaping on, figures as data, Plotly's script inside.

Everything recorded enters as text. Figures are embedded as JSON in which no character could end the script
element, and the document's content security policy allows nothing from elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

import plotly.graph_objects as go
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from dashboard.ui import text

__all__ = ["Figure", "Table", "Tile", "render"]

_FONT: Final = "Source Sans 3, Noto Sans SC, Noto Sans CJK SC, PingFang SC, Microsoft YaHei, sans-serif"
_INK: Final = "#1a202c"
_ESCAPES: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


@dataclass(frozen=True, slots=True)
class Figure:
    """A Plotly figure; ``alt`` says in words what it shows, ``note`` stands below it."""

    figure: go.Figure
    alt: str
    note: str = ""

    @property
    def data(self) -> Markup:
        """The figure as JSON that may stand inside a script element."""
        figure = go.Figure(self.figure)
        figure.update_layout(font={"family": _FONT, "color": _INK})
        json = str(figure.to_json())
        for character, escape in _ESCAPES.items():
            json = json.replace(character, escape)
        return Markup(json)

    @property
    def height(self) -> int:
        """Pixels that it takes, kept free before the script has drawn it."""
        return int(self.figure.layout.height or 360)


@dataclass(frozen=True, slots=True)
class Table:
    """Headings and rows of texts; columns of ``numbers`` stand on the right."""

    heads: tuple[str, ...]
    rows: list[tuple[str, ...]]
    numbers: frozenset[int] = frozenset()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Tile:
    """A figure in large type with what it rests on."""

    label: str
    value: str
    note: str = ""


def render(template: str, **content: Any) -> bytes:
    """The finished document as UTF-8. ``content`` fills ``templates/<template>.html``."""
    made_at = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    page = _environment().get_template(f"{template}.html")
    document = page.render(**content, made_at=made_at, plotly=Markup(get_plotlyjs()))
    return document.encode("utf-8", "replace")


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("dashboard.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else text.printable(value),
    )
    environment.globals["plural"] = text.plural
    return environment
