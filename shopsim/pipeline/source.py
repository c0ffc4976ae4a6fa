"""Where a preparation takes its data from, and that it never writes there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shopsim.catalog.corpus import read_content
from shopsim.errors import UsageError
from shopsim.jsonio import FileError, sha256_file
from shopsim.pipeline import layout
from shopsim.pipeline.manifest import read_manifest
from shopsim.settings import Settings, workspace_hint

__all__ = ["RESTORE", "Source", "find_source", "read_raw", "refuse_to_overwrite"]


RESTORE: Final = "Restore the raw archive, or set corpus.raw_archive in configs/shopsim.toml."


@dataclass(frozen=True, slots=True)
class Source:
    """The archive, the recorded annotations, and what identifies both.

    ``archive_sha256`` is that of the raw archive's bytes, also when ``cleaned`` says that ``archive`` is a
    cleaned one made from it. ``annotations_sha256`` is None when there is no annotation file.
    """

    archive: Path
    archive_sha256: str
    annotations: Path
    annotations_sha256: str | None
    cleaned: bool = False


def find_source(settings: Settings) -> Source:
    """The raw archive of ``settings``; without one, the cleaned archive that lies in the prepared folder.

    Raises :class:`~shopsim.jsonio.FileError` when there is neither, :class:`UsageError` when a source is
    also one of the files to be written.
    """
    raw = settings.path(settings.corpus.raw_archive)
    annotations = settings.path(settings.corpus.annotations)
    folder = settings.prepared_dir
    refuse_to_overwrite(folder, raw, annotations)
    if raw.is_file():
        recorded = sha256_file(annotations) if annotations.is_file() else None
        return Source(raw, sha256_file(raw), annotations, recorded)
    if (folder / layout.ARCHIVE).is_file() and (folder / layout.MANIFEST).is_file():
        manifest = read_manifest(folder)
        hashes = manifest.source_sha256, manifest.annotations_sha256
        return Source(folder / layout.ARCHIVE, hashes[0], annotations, hashes[1], cleaned=True)
    mend = workspace_hint(settings) or "Restore it, or set corpus.raw_archive in configs/shopsim.toml."
    raise FileError(f"{raw}: no such file", hint=mend)


def read_raw(source: Source) -> bytes:
    """The uncompressed bytes of a raw archive. Raises :class:`~shopsim.catalog.CorpusError` when damaged."""
    return read_content(source.archive, hint=RESTORE)


def refuse_to_overwrite(folder: Path, *sources: Path) -> None:
    """Raise :class:`UsageError` when a source lies where one of the prepared files in ``folder`` belongs."""
    outputs = {(folder / name).resolve() for name in layout.EVERY_FILE}
    for path in sources:
        if path.resolve() in outputs:
            raise UsageError(
                f"{path}: is both a source and a prepared file, and would be overwritten",
                hint="Set corpus.prepared_dir in configs/shopsim.toml to another folder.",
            )
