"""Reading a trace line by line with bounded memory: the lowest layer of the reading rules (spec 04 A).

A line ends at ``\\n`` and nothing else, so that a record may hold any other line separator of Unicode.
What decides validity is Python's ``json``: ``NaN``, ``Infinity``, a lone surrogate in an escape, a key
given twice (the last counts), a byte-order mark and CRLF are all fine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from shopsim.errors import ShopSimError

__all__ = ["MAX_LINE_BYTES", "TraceError", "TraceLine", "iter_lines", "parse_line"]

#: A longer line is no episode (the longest real ones hold a few MiB) but a damaged file; it is counted
#: as invalid and skipped in pieces, so that no file can exhaust the reader's memory.
MAX_LINE_BYTES = 256 << 20

_PIECE = 1 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class TraceError(ShopSimError):
    """A trace file is missing, cannot be read, or does not hold what is asked for."""

    code = "trace"


@dataclass(frozen=True, slots=True)
class TraceLine:
    """One non-blank line: a record, or the ``reason`` why it is none.

    ``offset`` is the byte where the line starts, ``length`` its bytes without the final ``\\n``,
    ``number`` counts all lines from 1, ``terminated`` tells whether the ``\\n`` is there.
    """

    number: int
    offset: int
    length: int
    terminated: bool
    record: dict[str, Any] | None
    reason: str | None


def iter_lines(path: Path, *, max_line_bytes: int = MAX_LINE_BYTES) -> Iterator[TraceLine]:
    """Yield the non-blank lines of a trace in file order, holding one line at a time.

    Raises :class:`TraceError` when the file is missing or cannot be read.
    """
    try:
        with path.open("rb") as file:
            yield from _lines(file, max_line_bytes)
    except FileNotFoundError:
        raise TraceError(f"{path}: no such file") from None
    except OSError as error:
        raise TraceError(f"{path}: cannot be read ({error.strerror})") from None


def parse_line(data: bytes, *, terminated: bool = True) -> tuple[dict[str, Any] | None, str | None]:
    """Parse the bytes of one line into ``(record, None)`` or ``(None, reason)``."""
    try:
        text = data.removeprefix(_BYTE_ORDER_MARK).decode("utf-8")
    except UnicodeDecodeError:
        return None, "not valid UTF-8" if terminated else "torn last line (not valid UTF-8)"
    try:
        value = json.loads(text)
    except RecursionError:
        return None, "nested too deeply"
    except ValueError as error:  # also integers beyond Python's conversion limit
        message = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        return None, f"not JSON ({message})" if terminated else f"torn last line ({message})"
    if not isinstance(value, dict):
        return None, "not a JSON object"
    if not isinstance(value.get("episode_id"), str):
        return None, "no text episode_id"
    return value, None


def _lines(file: BinaryIO, limit: int) -> Iterator[TraceLine]:
    offset, number = 0, 0
    while data := file.readline(limit + 1):
        number += 1
        start, size = offset, len(data)
        terminated = data.endswith(b"\n")
        if not terminated and size > limit:
            del data  # the rest is skipped in pieces: do not keep the start of it meanwhile
            rest, terminated = _skip_line(file)
            offset = start + size + rest
            reason = f"longer than {limit} bytes"
            yield TraceLine(number, start, offset - start - terminated, terminated, None, reason)
            continue
        offset += size
        content = data.removesuffix(b"\n")
        if content.removeprefix(_BYTE_ORDER_MARK).strip():
            record, reason_or_none = parse_line(content, terminated=terminated)
            yield TraceLine(number, start, len(content), terminated, record, reason_or_none)


def _skip_line(file: BinaryIO) -> tuple[int, bool]:
    """Read to the end of the current line; return the bytes passed over and whether it was ended."""
    passed = 0
    while piece := file.readline(_PIECE):
        passed += len(piece)
        if piece.endswith(b"\n"):
            return passed, True
    return passed, False
