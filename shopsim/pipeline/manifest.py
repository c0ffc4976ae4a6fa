"""What a dataset's manifest promises of its archive: read by whoever starts from a cleaned one (spec 05)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from shopsim.formats import DATASET_SCHEMA
from shopsim.jsonio import read_json
from shopsim.pipeline import layout
from shopsim.pipeline.errors import PipelineError

__all__ = ["RESTORE_CLEANED", "Manifest", "read_manifest"]

RESTORE_CLEANED: Final = "Restore the archive and the manifest that belongs to it."


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
            raise PipelineError(f"{path}: schema_version must be {DATASET_SCHEMA}", hint=RESTORE_CLEANED)
        return Manifest(
            source_sha256=str(document["source"]["sha256"]),
            annotations_sha256=document["annotations"]["sha256"],
            archive_sha256=str(document["archive"]["sha256"]),
            content_sha256=str(document["content"]["sha256"]),
            counts={name: dict(document["counts"][name]) for name in ("products", "tasks")},
            kinds=dict(document["kinds"]),
        )
    except KeyError as error:
        raise PipelineError(f"{path}: {error.args[0]}: missing", hint=RESTORE_CLEANED) from None
    except (TypeError, ValueError):
        raise PipelineError(f"{path}: not a dataset manifest", hint=RESTORE_CLEANED) from None
