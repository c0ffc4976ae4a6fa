"""The search index: one read-only SQLite file with an FTS5 table and its manifest (spec 02 "Index")."""

from __future__ import annotations

import json
import sqlite3
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from shopsim.catalog import Product
from shopsim.jsonio import atomic_path
from shopsim.search.documents import SearchDocument, documents_of
from shopsim.search.manifest import COLUMNS, TOKENIZER, SearchIndexError, check_manifest, new_manifest
from shopsim.search.text import search_tokens
from shopsim.search.weights import V3, FieldWeights
from shopsim.storage import FREE_SPACE

__all__ = ["MAX_RESULTS", "SEARCH_SQL", "SearchIndex", "build_search_index", "match_expression"]

MAX_RESULTS: Final = 150

_CREATE = f"""
CREATE VIRTUAL TABLE products USING fts5(
    asin UNINDEXED, {", ".join(COLUMNS[1:])}, tokenize='{TOKENIZER}'
);
CREATE TABLE manifest (document TEXT NOT NULL);
"""
_INSERT = f"INSERT INTO products ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"
_BM25 = f"bm25(products, {', '.join('?' * len(COLUMNS))})"

SEARCH_SQL: Final = f"""
SELECT asin, {_BM25} AS score FROM products WHERE products MATCH ? ORDER BY score, asin LIMIT ?
"""
"""The whole search: parameters are the column weights, the match expression and the limit."""

_CACHE_KIB = 16 << 10  # a tenth faster than the default; a memory map is no faster and can crash the process
_REBUILD = "Build it again with `shopsim prepare --force`."


def build_search_index(
    products: Iterable[Product],
    path: Path,
    *,
    product_data_sha256: str,
    weights: FieldWeights = V3,
) -> dict[str, Any]:
    """Build the index of ``products`` at ``path`` and return its manifest.

    The file appears whole or not at all: it is built beside ``path`` and renamed. The same products,
    weights and versions give the same bytes.
    """
    with atomic_path(path) as temporary:
        try:
            with closing(sqlite3.connect(temporary, isolation_level=None)) as connection:
                return _fill(connection, products, product_data_sha256, weights)
        except sqlite3.Error as error:
            full = isinstance(error, sqlite3.OperationalError)
            raise SearchIndexError(
                f"{path}: cannot be built ({error})", hint=FREE_SPACE if full else None
            ) from None


def _fill(
    connection: sqlite3.Connection, products: Iterable[Product], sha256: str, weights: FieldWeights
) -> dict[str, Any]:
    # Nobody else sees the temporary file and a crash throws it away, so no journal is needed.
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("PRAGMA synchronous = OFF")
    connection.executescript(_CREATE)
    connection.execute("BEGIN")
    connection.executemany(_INSERT, ((asin, *texts) for asin, texts in documents_of(products)))
    (count,) = connection.execute("SELECT count(*) FROM products_docsize").fetchone()
    manifest = new_manifest(count, sha256, weights)
    connection.execute("INSERT INTO manifest VALUES (?)", (json.dumps(manifest, ensure_ascii=False),))
    connection.execute("INSERT INTO products(products) VALUES ('optimize')")
    connection.execute("COMMIT")
    return manifest


def match_expression(tokens: Iterable[str]) -> str:
    """The FTS5 query of some search tokens: each quoted, joined by OR."""
    return " OR ".join(f'"{token}"' for token in tokens)


class SearchIndex:
    """An opened index. Any number of threads may search: each borrows a connection of its own."""

    def __init__(self, path: Path, manifest: dict[str, Any], weights: FieldWeights) -> None:
        self.path = path
        self.manifest = manifest
        self.weights = weights
        self._idle: deque[sqlite3.Connection] = deque()
        self._closed = False

    @classmethod
    def open(cls, path: Path, *, product_data_sha256: str | None = None) -> SearchIndex:
        """Open the index at ``path`` read-only after checking it.

        Raises :class:`SearchIndexError` (one line; the file is closed again) when it is missing, no SQLite
        file or truncated, or when its version, columns, weights mapping or - unless None -
        ``product_data_sha256`` are not the expected ones.
        """
        if not path.is_file():
            raise SearchIndexError(f"{path}: no such file", hint="Build it with `shopsim prepare`.")
        connection = None
        try:
            _check_length(path)
            connection = _connect(path)
            manifest, columns, rows = _describe(connection)
            weights = check_manifest(
                manifest, columns=columns, rows=rows, product_data_sha256=product_data_sha256
            )
        except (sqlite3.Error, ValueError) as error:
            raise SearchIndexError(f"{path}: not a usable search index ({error})", hint=_REBUILD) from None
        except SearchIndexError as error:
            raise SearchIndexError(f"{path}: {error}", hint=_REBUILD) from None
        finally:
            if connection is not None:
                connection.close()
        return cls(path, manifest, weights)

    def search(self, text: str, limit: int = MAX_RESULTS) -> list[str]:
        """The ASINs that match ``text``, best first, at most ``limit`` (never more than 150)."""
        return [asin for asin, _ in self.ranked(text, limit)]

    def ranked(
        self, text: str, limit: int = MAX_RESULTS, *, weights: FieldWeights | None = None
    ) -> list[tuple[str, float]]:
        """Pairs of ASIN and FTS5 score (lower is better), by score then ASIN.

        ``weights`` replaces the index's own set for this query: FTS5 stores none, it is given them. A text
        without tokens finds nothing.
        """
        tokens = search_tokens(text)
        count = min(limit, MAX_RESULTS)
        if not tokens or count <= 0:
            return []
        arguments = (*(weights or self.weights).column_weights(), match_expression(tokens), count)
        with self._connection() as connection:
            return connection.execute(SEARCH_SQL, arguments).fetchall()

    def documents(self) -> Iterator[SearchDocument]:
        """The ASIN and field token texts of every indexed product, as they were indexed, in row order."""
        columns = ", ".join(COLUMNS)
        with self._connection() as connection:
            for asin, *texts in connection.execute(f"SELECT {columns} FROM products ORDER BY rowid"):
                yield asin, tuple(texts)

    def close(self) -> None:
        """Close every connection; a search that is still running closes its own when it ends."""
        self._closed = True
        while True:
            try:
                self._idle.popleft().close()
            except IndexError:
                return

    def __enter__(self) -> SearchIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Lend an idle connection, or a new one; no two threads ever hold the same."""
        if self._closed:
            raise SearchIndexError(f"{self.path}: the index was closed", hint="Open it again.")
        try:
            connection = self._idle.pop() if self._idle else _connect(self.path)
        except IndexError:  # another thread took the last one in between
            connection = _connect(self.path)
        try:
            yield connection
        except sqlite3.Error as error:
            connection.close()
            raise SearchIndexError(f"{self.path}: search failed ({error})", hint=_REBUILD) from None
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)
        if self._closed:
            with suppress(IndexError):
                self._idle.popleft().close()


def _connect(path: Path) -> sqlite3.Connection:
    # The file never changes once it has its name, which spares SQLite all locking.
    uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    return connection


def _check_length(path: Path) -> None:
    """Refuse a file whose length is not what its SQLite header says: SQLite may read it until it breaks."""
    with path.open("rb") as file:
        header = file.read(32)
    page_size = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big")
    size = path.stat().st_size
    if not header.startswith(b"SQLite format 3\0"):
        raise SearchIndexError("no SQLite file")
    if size != pages * (65536 if page_size == 1 else page_size):
        raise SearchIndexError(
            f"truncated or damaged: {size:,} bytes, its header says {pages} pages of {page_size}"
        )


def _describe(connection: sqlite3.Connection) -> tuple[Any, tuple[str, ...], int]:
    """The stored manifest, the FTS5 table's columns in order, and its number of rows."""
    row = connection.execute("SELECT document FROM manifest").fetchone()
    manifest = json.loads(row[0]) if row else None
    columns = tuple(name for _, name, *_ in connection.execute("PRAGMA table_info(products)"))
    (rows,) = connection.execute("SELECT count(*) FROM products_docsize").fetchone()
    return manifest, columns, rows
