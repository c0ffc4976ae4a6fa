"""The search for what only Python may read, against both readers themselves."""

from __future__ import annotations

import json

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.lake import suspects as module
from dashboard.lake.suspects import Suspects, newlines

SPACES = st.text(" \t\r", max_size=3)
LENIENT = st.sampled_from(
    ["nan", "NaN", "NAN", "-nan", "inf", "Inf", "-inf", "Infinity", "-infinity", "INFINITY", "iNfInItY"]
)
PLAIN = st.sampled_from(
    ["null", "true", "1", "-2.5e3", '"x"', '"nan"', '", }"', '"banana, information"', "{}"]
)


@st.composite
def values(draw: st.DrawFn) -> str:
    """JSON as DuckDB takes it, strict or not."""
    inner = draw(st.lists(st.one_of(PLAIN, PLAIN, LENIENT), max_size=4))
    comma = draw(SPACES) + "," + draw(SPACES)
    end = draw(st.sampled_from(["", "", draw(SPACES), draw(SPACES) + "," + draw(SPACES)]))
    if draw(st.booleans()):
        return "[" + comma.join(inner) + (end if inner or "," not in end else "") + "]"
    named = [f'"k{number}":{draw(SPACES)}{value}' for number, value in enumerate(inner)]
    return "{" + comma.join(named) + (end if named or "," not in end else "") + "}"


def is_read_by_duckdb(text: str) -> bool:
    return bool(duckdb.execute("SELECT json_valid($text)", {"text": text}).fetchall()[0][0])


def is_read_by_python(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


@settings(max_examples=300, deadline=None)
@given(st.lists(values(), min_size=1, max_size=5), st.integers(0, 3))
def test_every_line_that_only_duckdb_reads_is_found(lines: list[str], shift: int) -> None:
    data = (" " * shift + "\n".join(lines)).encode()
    places = Suspects().places(memoryview(data))
    ends = newlines(bytearray(data), 0, len(data))
    found = set(np.searchsorted(ends, places).tolist())
    wrong = {
        number for number, text in enumerate(lines) if is_read_by_duckdb(text) and not is_read_by_python(text)
    }
    assert wrong <= found


@pytest.mark.parametrize("text", ['{"a": ", information"}', '{"a": "nan, x"}', '{"name": "a", "b": null}'])
def test_usual_text_is_not_found(text: str) -> None:
    assert not len(Suspects().places(memoryview(text.encode())))


@pytest.mark.parametrize("text", ["[1, ]", "[nan]", '{"a": -inf}'])
@pytest.mark.parametrize("place", range(-8, 3))
def test_what_lies_across_two_pieces_is_found(text: str, place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PIECE", 64)
    data = (b'"' + b"x" * (62 + place) + b'"' + text.encode()).ljust(200, b"y")
    assert len(Suspects().places(memoryview(data)))


@pytest.mark.parametrize("cut", range(1, 12))
def test_what_lies_across_two_windows_is_found(cut: int) -> None:
    text = b'{"a": [1], "b": -nan , "c": [2 , ]}'
    at = 10 + cut
    first = Suspects().places(memoryview(text[:at]))
    both = Suspects().places(memoryview(text), at)
    assert {int(place) for place in (*first, *both)} >= {17, 33}


def test_runs_of_digits_and_brackets_are_found() -> None:
    for run in (b"9" * 5000, b"[" + b"]" * 600):
        assert len(Suspects().places(memoryview(b'{"a": ' + run)))
