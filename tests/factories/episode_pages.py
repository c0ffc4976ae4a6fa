"""Pages about single episodes in Streamlit's own test harness: what was sent to the browser, links."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

import dashboard
from dashboard.ui.workspace import LAKE_VARIABLE, ROOTS_VARIABLE, WORKSPACE_VARIABLE

__all__ = ["go_to", "links", "no_exception", "open_page", "sent_text", "shown_html", "table", "use_workspace"]

_APP = Path(dashboard.__file__).parent / "app.py"
_EMPTY = tempfile.TemporaryDirectory(prefix="shopsim-no-runs-", ignore_cleanup_errors=True)


def use_workspace(monkeypatch: pytest.MonkeyPatch, home: Path, *roots: Path) -> None:
    """Point the pages at the workspace ``home`` (settings are made when missing) and at ``roots``."""
    config = home / "configs" / "shopsim.toml"
    if not config.is_file():
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text("", encoding="utf-8")
    monkeypatch.setenv(WORKSPACE_VARIABLE, str(home))
    monkeypatch.setenv(LAKE_VARIABLE, str(home / "lake"))
    monkeypatch.setenv(ROOTS_VARIABLE, os.pathsep.join(str(root) for root in roots or (home / "runs",)))


def open_page(name: str, **query: str | list[str]) -> AppTest:
    """Open page ``name`` at an address in a new session; fails when the page raised something."""
    app = AppTest.from_file(str(_APP), default_timeout=60)
    with pytest.MonkeyPatch.context() as patch:
        # The app must run once to know its pages; without runs the first of them costs nothing.
        patch.setenv(ROOTS_VARIABLE, str(Path(_EMPTY.name, "runs")))
        patch.setenv(LAKE_VARIABLE, str(Path(_EMPTY.name, "lake")))
        app.run()
    app.switch_page(f"pages/{name}.py")
    for key, value in query.items():
        app.query_params[key] = value
    return no_exception(app.run())


def go_to(app: AppTest, **query: str) -> AppTest:
    """Follow a link that changes these parts of the address, in the same session."""
    for key, value in query.items():
        app.query_params[key] = value
    return no_exception(app.run())


def no_exception(app: AppTest) -> AppTest:
    """The app, after checking that its last run raised nothing."""
    assert not app.exception, app.exception[0].message
    return app


def sent_text(app: AppTest) -> str:
    """Everything that was sent to the browser for the main part - tables, frames and options of widgets
    included - as one text.
    """
    parts = [
        node.proto.SerializeToString().decode("utf-8", "ignore")
        for node in _nodes(app.main)
        if hasattr(getattr(node, "proto", None), "SerializeToString")
    ]
    text = "\n".join(parts)
    escapes = [part[:4] for part in text.split("\\u")[1:]]
    return text + json.loads('"' + "".join(f"\\u{part}" for part in escapes if _is_hex(part)) + '"')


def links(app: AppTest) -> list[tuple[str, dict[str, list[str]]]]:
    """Every link of the main part to another page: its name and the state in its address."""
    return [(link.proto.page, parse_qs(link.proto.query_string)) for link in app.main.get("page_link")]


def shown_html(app: AppTest) -> list[str]:
    """The bodies of all ``st.html`` elements of the main part."""
    return [element.proto.body for element in app.main.get("html")]


def table(app: AppTest, key: str) -> pd.DataFrame:
    """The table drawn with that key."""
    return next(element.value for element in app.dataframe if element.key == key)


def _is_hex(text: str) -> bool:
    return len(text) == 4 and all(character in "0123456789abcdef" for character in text)


def _nodes(block: Block) -> Iterator[Any]:
    for child in block.children.values():
        yield child
        if isinstance(child, Block):
            yield from _nodes(child)
