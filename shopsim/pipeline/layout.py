"""Names of the files in the prepared folder (``settings.prepared_dir``), for its writer and its readers."""

from __future__ import annotations

from typing import Final

__all__ = [
    "ARCHIVE",
    "AUDIT",
    "EVERY_FILE",
    "EXCLUSIONS",
    "INDEX",
    "MANIFEST",
    "PRODUCTS",
    "SOURCE_SPLITS",
    "SPLITS",
    "STATE",
]

PRODUCTS: Final = "products.json"
"""The active catalogue; the SHA-256 of its bytes is *the* product data SHA-256 everywhere."""

ARCHIVE: Final = "products.cleaned.v2.json.gz"
MANIFEST: Final = "dataset_manifest.json"
EXCLUSIONS: Final = "catalog_exclusions.json"
SOURCE_SPLITS: Final = "source_splits.json"
AUDIT: Final = "annotation_audit.json"
SPLITS: Final = "persona_splits.v1.json"
INDEX: Final = "search.sqlite"

STATE: Final = "preparation.json"
"""What was built from what: written last, so that a folder with it is complete."""

EVERY_FILE: Final = (ARCHIVE, MANIFEST, EXCLUSIONS, SOURCE_SPLITS, AUDIT, PRODUCTS, SPLITS, INDEX, STATE)
"""In the order in which they are written."""
