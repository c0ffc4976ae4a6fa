"""Hypothesis strategies for trace files with every kind of dirt that the reading rules name (spec 04 A)."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

from tests.factories.traces import OUTCOMES, episode_record

__all__ = ["dirty_file", "odd_values", "repeat_key"]

_RECORDS = [
    episode_record(task, sample, outcome, budget=None if task == 20 else 100.0)
    for task in (0, 10, 20)
    for sample in (0, 1)
    for outcome in OUTCOMES
]
_NOT_RECORDS = [
    b"[]",
    b"5",
    b"null",
    b'"text"',
    b"true",
    b"NaN",
    b"{}",
    b'{"episode_id": 7, "status": "completed"}',
    b'{"episode_id": null}',
    b'{"status": "completed"}',
    b"not json at all",
    b'{"episode_id": "a"',
    b'{"episode_id": "a",}',
    b'{"episode_id": "a", "x": [1, ]}',
    b'{"episode_id": "a", "x": nan}',
    b'{"episode_id": "a", "x": -inf}',
    b'{"episode_id": "a", "x": [inf]}',
    b'{"episode_id": "a"} {"episode_id": "b"}',
    b'{"episode_id": "a"}x',
    b'{"episode_id": "a\tb"}',
    b"{'episode_id': 'a'}",
    b'{"episode_id": "a", "n": 01}',
    b'{"episode_id": "\xff\xfe"}',
    b'{"episode_id": "a", "text": "\xed\xa0\xbd"}',
    b'{"episode_id": "a", "text": "\xc3"}',
    b"\x00",
    b'{"episode_id": "\x00"}',
    b'{"episode_id": "a", "n": ' + b"9" * 5000 + b"}",
]
_BLANK = [b"", b" ", b"\t \t", b"\r", b"\x0b", b"\xef\xbb\xbf", b" " * 40]
_WRITERS: list[dict[str, Any]] = [
    {"ensure_ascii": False},
    {"ensure_ascii": True},
    {"ensure_ascii": False, "separators": (",", ":")},
    {"ensure_ascii": False, "separators": (" , ", " : ")},
]

odd_values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 2**40),
    st.sampled_from([2**63, 10**30, 10**400, -(10**400)]),
    st.floats(allow_nan=True, allow_infinity=True, min_value=None, width=32),
    st.sampled_from(["", "0.5", "true", "completed", "NaN", "\ud83d", "断\ude00", "a\u0000b", "buy ,] now"]),
    st.sampled_from([[], {}, [1, None], {"code": "x"}, [[]], {"a": {"b": [1]}}, [{}], ["x"], [5, {"x": 1}]]),
)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of all values below ``value`` that the summary may depend on (bulk like products left out)."""
    found = [path] if path else []
    if isinstance(value, dict):
        items = [(k, v) for k, v in value.items() if k not in ("products", "available_options", "tools")]
    elif isinstance(value, list):
        items = list(enumerate(value[:3]))
    else:
        items = []
    for key, inner in items:
        found += _paths(inner, (*path, key))
    return found


_PATHS = [_paths(record) for record in _RECORDS]


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _serialize(value: Any, repeated: dict[int, tuple[str, Any]], writer: dict[str, Any]) -> str:
    """JSON in which objects named by identity in ``repeated`` give one key an earlier, losing value too."""
    comma, colon = writer.get("separators", (", ", ": "))
    if isinstance(value, dict):
        pairs = list(value.items())
        if id(value) in repeated:
            pairs.insert(0, repeated[id(value)])
        inner = [
            json.dumps(key, ensure_ascii=writer["ensure_ascii"]) + colon + _serialize(item, repeated, writer)
            for key, item in pairs
        ]
        return "{" + comma.join(inner) + "}"
    if isinstance(value, list):
        return "[" + comma.join(_serialize(item, repeated, writer) for item in value) + "]"
    return json.dumps(value, ensure_ascii=writer["ensure_ascii"])


def repeat_key(record: dict[str, Any], path: tuple[Any, ...], loser: Any) -> str:
    """The record as JSON in which the key at the end of ``path`` is given twice, ``loser`` first."""
    parent = _at(record, path[:-1])
    return _serialize(record, {id(parent): (path[-1], loser)}, {"ensure_ascii": False})


@st.composite
def _record_line(draw: st.DrawFn) -> bytes:
    number = draw(st.integers(0, len(_RECORDS) - 1))
    record, paths = deepcopy(_RECORDS[number]), _PATHS[number]
    for _ in range(draw(st.integers(0, 2))):
        path = draw(st.sampled_from(paths))
        try:
            parent = _at(record, path[:-1])
            parent[path[-1]] = draw(odd_values)
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change removed what this one wanted to change
    if draw(st.integers(0, 4)) == 0:
        record["unknown"] = draw(odd_values)
    repeated: dict[int, tuple[str, Any]] = {}
    if draw(st.integers(0, 2)) == 0:
        path = draw(st.sampled_from([p for p in paths if isinstance(p[-1], str)]))
        try:
            parent = _at(record, path[:-1])
            if isinstance(parent, dict):
                repeated[id(parent)] = (path[-1], draw(odd_values))
        except (KeyError, IndexError, TypeError):
            pass
    writer = draw(st.sampled_from(_WRITERS))
    text = _serialize(record, repeated, writer)
    try:
        line = text.encode("utf-8")
    except UnicodeEncodeError:
        line = _serialize(record, repeated, writer | {"ensure_ascii": True}).encode("ascii")
    if draw(st.integers(0, 9)) == 0:
        line = line[: draw(st.integers(0, len(line)))]  # torn
    before = draw(st.sampled_from([b""] * 6 + [b"\xef\xbb\xbf", b" ", b"\xef\xbb\xbf\xef\xbb\xbf"]))
    return before + line + draw(st.sampled_from([b""] * 4 + [b"\r", b"  "]))


_line = st.one_of(_record_line(), _record_line(), _record_line(), st.sampled_from(_NOT_RECORDS + _BLANK))


@st.composite
def dirty_file(draw: st.DrawFn, max_lines: int = 8) -> bytes:
    """The bytes of a trace file; the last line may lack its newline."""
    lines = draw(st.lists(_line, max_size=max_lines))
    return b"\n".join(lines) + draw(st.sampled_from([b"\n", b""]))
