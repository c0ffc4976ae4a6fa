"""The page of a state as HTML, for people: the sandbox and debugging. Agents never read it (spec 01 §1).

Self-contained documents in Chinese: no scripts, no pictures or fonts from elsewhere, every value escaped.
Each element that the state offers carries its canonical action in ``data-action``.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from jinja2 import Environment, PackageLoader

from shopsim.env.actions import click
from shopsim.env.schema import PageType
from shopsim.env.state_check import check_state

__all__ = ["render_page_html"]

_TEMPLATES: Final[Mapping[PageType, str]] = {
    PageType.HOME: "home.html",
    PageType.RESULTS: "results.html",
    PageType.PRODUCT: "product.html",
    PageType.INFORMATION: "information.html",
    PageType.TERMINAL: "terminal.html",
}


def render_page_html(
    state: Mapping[str, Any], *, instruction: str | None = None, steps_left: int | None = None
) -> str:
    """Render a public state as one HTML document.

    ``instruction`` and ``steps_left`` are shown in the header when given. Raises
    :class:`~shopsim.env.errors.ObservationStateError` for a state that must not be shown.
    """
    checked = check_state(state)
    page_type = PageType(checked["page_type"])
    offered = frozenset(checked.get("actions", ()))
    template = _environment().get_template(_TEMPLATES[page_type])
    return template.render(
        state=checked,
        offered=offered,
        axes=_axes(checked, offered),
        instruction=instruction,
        steps_left=steps_left,
    )


def _axes(state: Mapping[str, Any], offered: frozenset[str]) -> list[dict[str, Any]]:
    """Each option axis with its chosen value and its chips; a chip that can be clicked has its action."""
    selected = state.get("selected_options", {})
    return [
        {
            "name": axis,
            "selected": selected.get(axis),
            "chips": [
                {
                    "text": value,
                    "selected": selected.get(axis) == value,
                    "action": click(f"{axis}={value}") if f"{axis}={value}" in offered else None,
                }
                for value in values
            ],
        }
        for axis, values in state.get("available_options", {}).items()
    ]


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("shopsim.env"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["hue"] = _hue
    environment.filters["price"] = _price
    environment.filters["initial"] = _initial
    environment.globals["click"] = click
    return environment


def _hue(text: object) -> int:
    """A colour angle (degrees) that a text always keeps: the picture tile of products of one category."""
    return zlib.crc32(str(text or "").encode("utf-8", "surrogatepass")) % 360


def _price(tag: object) -> str:
    """A price tag for people: ``12.0 to 30.0`` -> ``¥12 - 30``."""
    if tag is None or not str(tag).strip():  # an undefined template value reads as empty text
        return "暂无报价"
    parts = (part.removesuffix(".0") for part in str(tag).split(" to "))
    return "¥" + " - ".join(parts)


def _initial(title: object) -> str:
    """The character that stands on a product's picture tile."""
    return str(title or "").strip()[:1] or "商"
