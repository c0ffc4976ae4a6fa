"""The SQL files of ``dashboard/queries``: one question each, loaded by name."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Final

import duckdb

from dashboard.lake.errors import LakeError

__all__ = ["JSON_REFUSED", "QUERIES", "load_sql"]

QUERIES: Final = Path(__file__).resolve().parent.parent / "queries"
JSON_REFUSED: Final = (duckdb.InvalidInputException, duckdb.ConversionException, UnicodeDecodeError)
"""What DuckDB raises when its JSON reader refuses a line. The message quotes the line and may cut a character
in two: then Python cannot even make the error."""
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


@lru_cache(maxsize=256)
def _read(path: Path, modified_ns: int) -> str:
    return path.read_text(encoding="utf-8")


def load_sql(name: str) -> str:
    """Return the text of ``dashboard/queries/<name>.sql`` (read again when the file changed).

    Raises :class:`LakeError` when there is no such query.
    """
    path = QUERIES / f"{name}.sql"
    if not _NAME.fullmatch(name) or not path.is_file():
        raise LakeError(f"no query named {name!r}", hint="Queries are the SQL files in dashboard/queries.")
    return _read(path, path.stat().st_mtime_ns)
