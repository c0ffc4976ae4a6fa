"""The manifest inside an index file: what the index was built from and how it must be searched (spec 02)."""

from __future__ import annotations

import platform
import sqlite3
from collections.abc import Mapping
from typing import Any, Final

from shopsim.errors import ShopSimError
from shopsim.formats import OPTION_DOCUMENT_VERSION, SEARCH_VERSION
from shopsim.search.documents import FIELDS
from shopsim.search.text import NORMALIZER_VERSION
from shopsim.search.weights import FieldWeights, WeightsError

__all__ = ["COLUMNS", "TIE_BREAK", "TOKENIZER", "SearchIndexError", "check_manifest", "new_manifest"]

INDEX_SCHEMA_VERSION: Final = 1
COLUMNS: Final = ("asin", *FIELDS)
TOKENIZER: Final = "unicode61 remove_diacritics 2"
TIE_BREAK: Final = "asin ascending"

_FIXED: Final[Mapping[str, Any]] = {
    "search_version": SEARCH_VERSION,
    "schema_version": INDEX_SCHEMA_VERSION,
    "fts_columns": list(COLUMNS),
    "option_document_version": OPTION_DOCUMENT_VERSION,
    "normalizer": NORMALIZER_VERSION,
    "tokenizer": TOKENIZER,
    "tie_break": TIE_BREAK,
}


class SearchIndexError(ShopSimError):
    """The index file is missing, damaged, of another version or of another corpus."""

    code = "search_index"


def new_manifest(product_count: int, product_data_sha256: str, weights: FieldWeights) -> dict[str, Any]:
    """The manifest of an index that is being built."""
    return {
        **_FIXED,
        "product_count": product_count,
        "product_data_sha256": product_data_sha256,
        "weights": weights.as_mapping(),
        "bm25_column_weights": list(weights.column_weights()),
        "python_version": platform.python_version(),
        "sqlite_version": sqlite3.sqlite_version,
    }


def check_manifest(
    manifest: object,
    *,
    columns: tuple[str, ...],
    rows: int,
    product_data_sha256: str | None,
) -> FieldWeights:
    """Compare a stored manifest with this program, the file's own table and the expected corpus.

    ``columns`` and ``rows`` are those of the FTS5 table. Returns the weights to search with; the first
    difference is raised as a :class:`SearchIndexError` without the file name.
    """
    if not isinstance(manifest, Mapping):
        raise SearchIndexError("holds no manifest")
    for key, expected in _FIXED.items():
        if manifest.get(key) != expected:
            raise SearchIndexError(f"{key} is {_short(manifest.get(key))}, expected {_short(expected)}")
    if columns != COLUMNS:
        raise SearchIndexError(f"the table's columns are {_short(list(columns))}, expected {list(COLUMNS)}")
    if manifest.get("product_count") != rows:
        raise SearchIndexError(f"holds {rows} products, its manifest says {manifest.get('product_count')}")
    stored = manifest.get("product_data_sha256")
    if product_data_sha256 is not None and stored != product_data_sha256:
        raise SearchIndexError(
            f"was built from products {_short(stored, 12)}, the corpus is {product_data_sha256[:12]}"
        )
    return _checked_weights(manifest)


def _checked_weights(manifest: Mapping[str, Any]) -> FieldWeights:
    try:
        weights = FieldWeights.from_mapping(manifest.get("weights"))
    except WeightsError as error:
        raise SearchIndexError(str(error)) from None
    mapping = manifest.get("bm25_column_weights")
    if mapping != list(weights.column_weights()):
        raise SearchIndexError(
            f"bm25_column_weights is {_short(mapping)}, expected {list(weights.column_weights())}"
        )
    return weights


def _short(value: object, length: int = 120) -> str:
    text = str(value)
    return text if len(text) <= length else f"{text[:length]}..."
