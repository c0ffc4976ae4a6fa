"""A complete, prepared workspace over the tiny catalogue: what the engine opens, in any process."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from shopsim.catalog import load_corpus
from shopsim.catalog.tiny import tiny_records
from shopsim.formats import DATASET_SCHEMA, SPLITS_SCHEMA
from shopsim.pipeline import layout
from shopsim.search import build_search_index
from shopsim.settings import Settings, load_settings

__all__ = ["TINY_SPLITS", "tiny_workspace"]

#: Task 4 cannot be satisfied (the price of 500g is unknown), nor task 6 (two price axes).
TINY_SPLITS = {"train": [2, 3], "val": [1], "test": [0, 4, 5, 6, 7]}


def tiny_workspace(folder: Path) -> Settings:
    """Write settings and prepared data into ``folder`` and return the loaded settings."""
    (folder / "configs").mkdir(parents=True)
    (folder / "configs" / "shopsim.toml").write_text("", encoding="utf-8")
    prepared = folder / "data" / "prepared"
    prepared.mkdir(parents=True)
    data = json.dumps(tiny_records(), ensure_ascii=False).encode()
    (prepared / layout.PRODUCTS).write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    manifest = {"schema_version": DATASET_SCHEMA, "content": {"sha256": digest}}
    (prepared / layout.MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    splits = {name: {"task_ids": ids, "count": len(ids)} for name, ids in TINY_SPLITS.items()}
    (prepared / layout.SPLITS).write_text(
        json.dumps({"schema_version": SPLITS_SCHEMA, "splits": splits}), encoding="utf-8"
    )
    corpus = load_corpus(prepared / layout.PRODUCTS)
    build_search_index(corpus.products, prepared / layout.INDEX, product_data_sha256=digest)
    return load_settings(folder)
