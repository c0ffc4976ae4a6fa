"""The recorded annotations that the build reads: all answers of one origin, in task order.

The same answers give the same bytes, whoever came first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shopsim.jsonio import FileError, atomic_path
from shopsim.jsonl import encode_record
from shopsim.storage import storing

__all__ = ["is_recorded", "write_recorded"]


def is_recorded(path: Path, records: Sequence[Mapping[str, Any]]) -> bool:
    """Whether ``path`` holds exactly ``records``. Raises :class:`FileError` when it cannot be read."""
    try:
        return path.read_bytes() == _encoded(records)
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror})") from None


def write_recorded(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Write the file atomically. Raises :class:`~shopsim.storage.StorageError` when it cannot be written."""
    with storing(path), atomic_path(path) as temporary:
        temporary.write_bytes(_encoded(records))


def _encoded(records: Sequence[Mapping[str, Any]]) -> bytes:
    return b"".join(encode_record(record) for record in records)
