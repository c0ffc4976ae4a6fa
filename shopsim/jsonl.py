"""Files with one JSON object a line, appended durably: traces, and answers that were paid for."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

__all__ = ["LineWriter", "encode_record"]


def encode_record(record: Mapping[str, Any]) -> bytes:
    """One record as the UTF-8 bytes of a line, newline included.

    Chinese stays readable. A record with a lone surrogate (a model cut off inside an emoji) cannot be
    UTF-8 and is written with ASCII escapes instead.
    """
    try:
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        return json.dumps(record, separators=(",", ":")).encode("ascii") + b"\n"


class LineWriter:
    """Appends records to a file; each one is flushed and synced before :meth:`append` returns.

    A file that ends inside a line (its writer was killed) is not truncated: the next record starts on a
    fresh line, so that the torn piece stays to be counted and nothing after it is lost.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        created = not path.exists()
        self._file = path.open("ab", buffering=0)
        self._torn = _ends_inside_line(path)
        if created:
            _sync_folder(path.parent)

    def append(self, record: Mapping[str, Any]) -> None:
        """Append one record (see :func:`encode_record`)."""
        self.append_line(encode_record(record))

    def append_line(self, line: bytes) -> None:
        """Append an already encoded record; ``line`` holds exactly one ``\\n``, at its end."""
        data = memoryview(b"\n" + line if self._torn else line)
        self._torn = True  # until every byte is there: a failing disk may stop the write anywhere
        while data:
            data = data[self._file.write(data) or 0 :]
        os.fsync(self._file.fileno())
        self._torn = False

    def close(self) -> None:
        """Close the file; appending afterwards is an error."""
        self._file.close()

    def __enter__(self) -> LineWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _ends_inside_line(path: Path) -> bool:
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


def _sync_folder(folder: Path) -> None:
    """Make a new file's name durable, where the system can sync folders (Windows cannot)."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
