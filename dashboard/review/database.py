"""The SQLite file of the reviews: opening it safely, its schema version, its errors in one line each.

WAL mode lets readers go on while one writes; writers wait for each other up to :data:`BUSY_SECONDS`.
Every use opens its own connection, so that threads and processes share nothing but the file.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Final
from urllib.parse import quote

from dashboard.lake.sql import load_sql
from dashboard.review.errors import ReviewError

__all__ = ["BUSY_SECONDS", "SCHEMA_VERSION", "file_identity", "reading", "statements", "writing"]

BUSY_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.02
APPLICATION_ID: Final = 0x53535256  # "SSRV": tells our files from any other SQLite database
MIGRATIONS: Final = ("triage_store_schema_1",)
"""Step n brings a database from version n to n + 1."""
SCHEMA_VERSION: Final = len(MIGRATIONS)

_REASONS: Final = {
    "SQLITE_BUSY": ("is held by another process", "Try again; close programs that keep it open."),
    "SQLITE_LOCKED": ("is held by another process", "Try again; close programs that keep it open."),
    "SQLITE_READONLY": ("cannot be written", "Give write permission to the file and its folder."),
    "SQLITE_CANTOPEN": ("cannot be opened", "Give permission to the file and its folder."),
    "SQLITE_FULL": ("cannot grow: the disk is full", "Free some space; what was saved before is safe."),
    "SQLITE_IOERR": (
        "cannot be read or written: the disk is full or failing",
        "Free some space and try again; what was saved before is safe.",
    ),
    "SQLITE_NOTADB": ("is no SQLite database", "Move it away, or point `[review] database` elsewhere."),
    "SQLITE_CORRUPT": ("is damaged", "Restore a copy, or move it away to begin a new one."),
}


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection | None]:
    """A connection for reading, None when there is no database yet. Nothing is created.

    Raises :class:`ReviewError` for a damaged, foreign or newer database.
    """
    with _told(path):
        if not path.exists() or path.stat().st_size == 0:
            yield None
            return
        with closing(_connect(path)) as connection:
            if _checked_version(connection, path) == 0:
                yield None
            else:
                _check_content(path, file_identity(path))
                yield connection


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection inside one write transaction: committed at the end, rolled back when anything is raised.

    The database is created, or brought to :data:`SCHEMA_VERSION`, first. Raises :class:`ReviewError`.
    """
    with _told(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(_connect(path, create=True)) as connection:
            if _checked_version(connection, path) > 0:
                _check_content(path, file_identity(path))
            _into_wal_mode(connection)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN IMMEDIATE")
            try:
                _migrate(connection, path)
                yield connection
            except BaseException:
                connection.rollback()
                raise
            connection.commit()


def file_identity(path: Path) -> tuple[int, int]:
    """Device and inode: another file under the same name is another database. (0, 0) without one."""
    try:
        status = path.stat()
    except OSError:
        return (0, 0)
    return (status.st_dev, status.st_ino)


def statements(script: str) -> Iterator[str]:
    """The statements of a script, one by one (Python's ``executescript`` would end our transaction).

    Each must end with a semicolon.
    """
    pending = ""
    for part in script.split(";")[:-1]:
        pending += f"{part};"
        if sqlite3.complete_statement(pending):
            yield pending.strip()
            pending = ""


def _into_wal_mode(connection: sqlite3.Connection) -> None:
    """Switch the file to WAL mode, once for good; SQLite does not wait for others here, so this does."""
    deadline = time.monotonic() + BUSY_SECONDS
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > deadline:
                raise
            time.sleep(_POLL_SECONDS)


def _connect(path: Path, *, create: bool = False) -> sqlite3.Connection:
    address = f"file:{quote(str(path.absolute()))}?mode={'rwc' if create else 'rw'}"
    connection = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    connection.row_factory = sqlite3.Row
    return connection


def _checked_version(connection: sqlite3.Connection, path: Path) -> int:
    """The schema version; 0 for a file that is still empty. Raises for what is not ours or too new."""
    ours, version, used = _identity(connection)
    if ours == APPLICATION_ID:
        if version > SCHEMA_VERSION:
            raise ReviewError(
                f"{path}: review database of version {version}; this program knows up to {SCHEMA_VERSION}",
                hint="Update the program, or point `[review] database` at another file.",
            )
        return version
    if ours or version or used:
        raise ReviewError(
            f"{path}: a database of another program, not one of reviews",
            hint="Point `[review] database` in configs/shopsim.toml at another file.",
        )
    return 0


def _identity(connection: sqlite3.Connection) -> tuple[int, int, int]:
    """Application id, version and number of tables of one moment: another process may just create them."""
    alone = not connection.in_transaction
    if alone:
        connection.execute("BEGIN")
    queries = ("SELECT count(*) FROM sqlite_master", "PRAGMA application_id", "PRAGMA user_version")
    used, ours, version = (int(connection.execute(query).fetchone()[0]) for query in queries)
    if alone:
        connection.execute("COMMIT")
    return ours, version, used


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the database to the current version; call inside a write transaction.

    Asked again here, under the lock: another process may have done it meanwhile.
    """
    version = _checked_version(connection, path)
    if version == SCHEMA_VERSION:
        return
    for step in MIGRATIONS[version:]:
        for statement in statements(load_sql(step)):
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


@lru_cache(maxsize=16)
def _check_content(path: Path, identity: tuple[int, int]) -> None:
    """SQLite's own check, once a process and file. Raises :class:`ReviewError` for a damaged file."""
    with closing(_connect(path)) as connection:
        found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        reason, hint = _REASONS["SQLITE_CORRUPT"]
        raise ReviewError(f"{path}: {reason} ({found})", hint=hint)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the file system into one line with a mend."""
    try:
        yield
    except sqlite3.Error as error:
        name = str(getattr(error, "sqlite_errorname", "") or "")
        known = next((value for key, value in _REASONS.items() if name.startswith(key)), None)
        reason, hint = known or _REASONS["SQLITE_CORRUPT"]
        raise ReviewError(f"{path}: {reason} ({error})", hint=hint) from None
    except OSError as error:
        raise ReviewError(f"{path}: cannot be used ({error.strerror})") from None
