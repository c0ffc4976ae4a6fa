"""Step 6 without a raw archive: a cleaned archive and its manifest are checked and used as they are."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shopsim.catalog.corpus import parse_records, read_content
from shopsim.formats import DATASET_SCHEMA
from shopsim.jsonio import read_json, sha256_file
from shopsim.pipeline import layout
from shopsim.pipeline.dataset import Dataset
from shopsim.pipeline.errors import PipelineError
from shopsim.pipeline.identity import read_identified
from shopsim.pipeline.state import wrong_hash

__all__ = ["Manifest", "read_manifest", "restore_dataset"]


@dataclass(frozen=True, slots=True)
class Manifest:
    """What ``dataset_manifest.json`` promises."""

    source_sha256: str
    annotations_sha256: str | None
    archive_sha256: str
    content_sha256: str
    counts: Mapping[str, Any]
    kinds: Mapping[str, int]


def read_manifest(prepared_dir: Path) -> Manifest:
    """Read and check the dataset manifest. Raises :class:`PipelineError` naming what it lacks."""
    path = prepared_dir / layout.MANIFEST
    document = read_json(path)
    try:
        if document["schema_version"] != DATASET_SCHEMA:
            raise PipelineError(f"{path}: schema_version must be {DATASET_SCHEMA}", hint=_RESTORE)
        return Manifest(
            source_sha256=str(document["source"]["sha256"]),
            annotations_sha256=document["annotations"]["sha256"],
            archive_sha256=str(document["archive"]["sha256"]),
            content_sha256=str(document["content"]["sha256"]),
            counts={name: dict(document["counts"][name]) for name in ("products", "tasks")},
            kinds=dict(document["kinds"]),
        )
    except KeyError as error:
        raise PipelineError(f"{path}: {error.args[0]}: missing", hint=_RESTORE) from None
    except (TypeError, ValueError):
        raise PipelineError(f"{path}: not a dataset manifest", hint=_RESTORE) from None


def restore_dataset(prepared_dir: Path) -> Dataset:
    """Check the archive and the JSON inside it against the manifest and read the cleaned records.

    Raises :class:`PipelineError` for a wrong hash of either.
    """
    manifest = read_manifest(prepared_dir)
    path = prepared_dir / layout.ARCHIVE
    actual = sha256_file(path)
    if actual != manifest.archive_sha256:
        raise wrong_hash(path, actual, manifest.archive_sha256, _RESTORE)
    content = read_content(path, hint=_RESTORE)
    content_sha256 = hashlib.sha256(content).hexdigest()
    if content_sha256 != manifest.content_sha256:
        raise wrong_hash(Path(f"{path} (unpacked)"), content_sha256, manifest.content_sha256, _RESTORE)
    records = parse_records(content, path, hint=_RESTORE)
    tasks = read_identified(records, path.name)
    files = {layout.PRODUCTS: content}
    return Dataset(records, tasks, content_sha256, manifest.counts, manifest.kinds, files)


_RESTORE = "Restore the archive and the manifest that belongs to it."
