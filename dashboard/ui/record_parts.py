"""A recorded episode, or a part of it, as it was written: JSON on the page, and the whole to download."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import streamlit as st

from dashboard.ui.text import count, printable
from shopsim.jsonl import encode_record

__all__ = ["download_record", "draw_json"]

_MOST_CHARACTERS: Final = 20_000


def draw_json(value: Any, *, height: int, short: int = 0, rest: str = "") -> None:
    """``value`` as JSON, cut after 20,000 characters (then the note ends with ``rest``).

    The block is ``height`` pixels high, but only as high as its lines where they are at most ``short``.
    """
    text = printable(json.dumps(value, ensure_ascii=False, indent=2))
    shown = text[:_MOST_CHARACTERS]
    fits = shown.count("\n") < short
    st.code(shown, language="json", wrap_lines=True, height="content" if fits else height)
    if len(text) > _MOST_CHARACTERS:
        st.caption(f"The first {count(_MOST_CHARACTERS)} of {count(len(text))} characters{rest}.")


def download_record(label: str, record: Mapping[str, Any], episode_id: str) -> None:
    """A button that gives ``record`` as one line of JSON, encoded only when it is asked for."""
    st.download_button(
        label,
        data=lambda: encode_record(record),
        file_name=f"{episode_id[:80]}.json",
        mime="application/json",
        icon=":material/download:",
        on_click="ignore",
    )
