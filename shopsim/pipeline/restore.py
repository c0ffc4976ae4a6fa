"""Step 6 without a raw archive: a cleaned archive and its manifest are checked and used as they are."""

from __future__ import annotations

import hashlib
from pathlib import Path

from shopsim.catalog.corpus import parse_records, read_content
from shopsim.jsonio import sha256_file
from shopsim.pipeline import layout
from shopsim.pipeline.dataset import Dataset
from shopsim.pipeline.identity import read_identified
from shopsim.pipeline.manifest import RESTORE_CLEANED, read_manifest
from shopsim.pipeline.state import wrong_hash

__all__ = ["restore_dataset"]


def restore_dataset(prepared_dir: Path) -> Dataset:
    """Check the archive and the JSON inside it against the manifest and read the cleaned records.

    Raises :class:`~shopsim.pipeline.errors.PipelineError` for a wrong hash of either.
    """
    manifest = read_manifest(prepared_dir)
    path = prepared_dir / layout.ARCHIVE
    actual = sha256_file(path)
    if actual != manifest.archive_sha256:
        raise wrong_hash(path, actual, manifest.archive_sha256, RESTORE_CLEANED)
    content = read_content(path, hint=RESTORE_CLEANED)
    content_sha256 = hashlib.sha256(content).hexdigest()
    if content_sha256 != manifest.content_sha256:
        raise wrong_hash(Path(f"{path} (unpacked)"), content_sha256, manifest.content_sha256, RESTORE_CLEANED)
    records = parse_records(content, path, hint=RESTORE_CLEANED)
    tasks = read_identified(records, path.name)
    files = {layout.PRODUCTS: content}
    return Dataset(records, tasks, content_sha256, manifest.counts, manifest.kinds, files)
