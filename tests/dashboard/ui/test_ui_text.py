"""Escaping and number formats."""

from __future__ import annotations

import html
import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.ui import text


@pytest.mark.parametrize("character", list("\\`*_{}[]()#+-.!|~$"))
def test_markdown_punctuation_is_escaped(character: str) -> None:
    assert f"\\{character}" in text.safe_text(f"a{character}b")


@pytest.mark.parametrize(
    "hostile",
    [":smile:", ":material/home:", ":red[x]", "->", "<-", "--", ">=", "www.a.b", "a@b.c", "http://a"],
)
def test_what_streamlit_replaces_after_parsing_is_broken_up(hostile: str) -> None:
    escaped = text.safe_text(hostile)
    assert "\u200b" in escaped
    assert rendered(escaped) == hostile


def rendered(escaped: str) -> str:
    """What a Markdown renderer shows of escaped text."""
    return html.unescape(escaped.replace("\u200b", "").replace("\\", ""))


def test_no_tag_survives() -> None:
    assert "<" not in text.safe_text("<script>alert(1)</script>")
    assert rendered(text.safe_text("<b>&amp;</b>")) == "<b>&amp;</b>"


@given(st.text())
def test_escaped_text_reads_as_recorded(recorded: str) -> None:
    plain = text.safe_text(recorded.replace("\\", "").replace("\u200b", ""))
    shown = rendered(plain)
    clean = recorded.replace("\\", "").replace("\u200b", "").replace("\x00", "\ufffd")
    assert shown.split() == " ".join(clean.split()).split()


@given(st.text())
def test_html_round_trips_and_holds_no_tag(recorded: str) -> None:
    escaped = text.safe_html(recorded)
    assert not set(escaped) & set("<>\"'")
    assert html.unescape(escaped) == recorded.replace("\x00", "\ufffd")


def test_ordinary_names_stay_copyable() -> None:
    assert "\u200b" not in text.safe_text("demo-iter00 at 12:30, 颜色分类=红色")


def test_lone_surrogates_can_be_sent_to_the_browser() -> None:
    for function in (text.safe_text, text.safe_html, text.plot_text):
        function("cut \ud83d off").encode("utf-8")


def test_plotly_labels_hold_no_markup() -> None:
    assert text.plot_text('<a href="x">&b</a>') == '&lt;a href="x"&gt;&amp;b&lt;/a&gt;'
    assert text.plot_text("长" * 200, 10) == "长" * 9 + "…"


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA, pd.NaT])
@pytest.mark.parametrize("write", [text.number, text.percent, text.count, text.tokens, text.duration])
def test_what_is_missing_is_never_zero(write: object, missing: object) -> None:
    assert write(missing) == text.MISSING  # type: ignore[operator]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (text.number(0.5421666), "0.542"),
        (text.number(1234.5, 1), "1,234.5"),
        (text.percent(0.5175), "51.7%"),
        (text.percent(0), "0.0%"),
        (text.count(12345.0), "12,345"),
        (text.tokens(812), "812"),
        (text.tokens(12_345), "12.3k"),
        (text.tokens(999_600), "1M"),
        (text.tokens(4_560_000), "4.56M"),
        (text.tokens(2.5e9), "2.5G"),
        (text.duration(840), "840 ms"),
        (text.duration(3210), "3.2 s"),
        (text.duration(245_000), "4 min 05 s"),
        (text.duration(3_840_000), "1 h 04 min"),
        (text.interval(0.494, 0.59), "[0.494, 0.590]"),
        (text.interval(0.469, 0.566, as_percent=True), "[46.9, 56.6]%"),
        (text.interval(None, 1), "–"),
        (text.number(-0.75), "−0.750"),
        (text.percent(-0.05), "−5.0%"),
        (text.count(-1234), "−1,234"),
        (text.points(-0.0312), "−3.12 points"),
        (text.points_interval(-0.05, 0.01), "[−5.00, +1.00] points"),
        (text.interval(-0.75, -0.5), "[−0.750, −0.500]"),
        (text.interval(-0.05, 0.1, as_percent=True), "[−5.0, 10.0]%"),
        (text.plural(1, "episode"), "1 episode"),
        (text.plural(1234, "episode"), "1,234 episodes"),
        (text.plural(0, "entry", "entries"), "0 entries"),
    ],
)
def test_formats(written: str, expected: str) -> None:
    assert written == expected


def test_commands_in_errors_are_code_and_the_rest_is_text() -> None:
    told = text.error_text("a_b.json: <b> not found. Run `shopsim prepare --force` to *build* it.")
    assert told == ("a\\_b\\.json: &lt;b&gt; not found\\. Run `shopsim prepare --force` to \\*build\\* it\\.")
    assert text.error_text("one ` alone") == "one \\` alone"
    assert text.error_text("`a\nb` and ``") == "`a b` and \\`\\`"
