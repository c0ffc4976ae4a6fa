"""A catalogue and its postings as a folder of arrays: opened by memory map, shared by every process.

Two million products take minutes to read and index from JSONL, and well under a second to open from here. The
postings depend on how words are cut and fields weighted: whoever changes that raises the format's version.
"""

from __future__ import annotations

import json
import mmap
import shutil
import tempfile
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from shopsim.formats import RLVE_CATALOGUE_SCHEMA
from shopsim.jsonio import FileError, read_json, write_json
from shopsim.rlve.catalogue.builder import CatalogueColumns
from shopsim.rlve.catalogue.catalogue import Catalogue
from shopsim.rlve.catalogue.columns import AttributeColumn, SortedTextColumn, TextColumn
from shopsim.rlve.catalogue.postings import WordPostings, build_postings
from shopsim.rlve.errors import CatalogueError
from shopsim.storage import storing

__all__ = ["MANIFEST", "is_stored", "open_stored", "store_catalogue"]

MANIFEST: Final = "catalogue.json"
_NAMES: Final = "names.json"
_TEXTS: Final = ("ids", "titles", "descriptions")
_NUMBERS: Final = (
    "category_codes",
    "brand_codes",
    "price",
    "rating",
    "rating_count",
    "shipping_days",
    "stock",
)
_POSTINGS: Final = ("first", "rows", "impacts", "idf")
_MEND: Final = "Store the catalogue again."


def store_catalogue(
    catalogue: Catalogue, folder: Path, *, postings: WordPostings | None = None, replace: bool = False
) -> None:
    """Write ``catalogue`` and its postings (made when not given) to ``folder``, whole or not at all.

    An existing folder is only replaced with ``replace``, and only when it is a stored catalogue, else
    :class:`CatalogueError`; :class:`~shopsim.storage.StorageError` when the disk refuses.
    """
    if folder.exists() and not (replace and is_stored(folder)):
        raise CatalogueError(
            f"{folder}: is there already", hint="Name a new folder, or replace a stored one."
        )
    with storing(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            _write(catalogue, postings or catalogue.postings or build_postings(catalogue.columns), made)
            made.chmod(0o755)
            before = made.with_suffix(".before")
            if folder.exists():
                folder.rename(before)
            made.rename(folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)
        shutil.rmtree(before, ignore_errors=True)


def is_stored(folder: Path) -> bool:
    """Whether ``folder`` is what :func:`store_catalogue` writes."""
    return (folder / MANIFEST).is_file()


def open_stored(folder: Path) -> Catalogue:
    """The stored catalogue, its postings with it; arrays stay on the disk until they are read.

    Raises :class:`CatalogueError` when a file is missing, cut or of another version.
    """
    manifest = _manifest(folder)
    try:
        names = json.loads((folder / _NAMES).read_text(encoding="utf-8"))
        texts = {name: (_bytes(folder / f"{name}.bin"), _array(folder, f"{name}.ends")) for name in _TEXTS}
        attributes = AttributeColumn(
            tuple((name, value) for name, value in names["pairs"]),
            _array(folder, "attributes.starts"),
            _array(folder, "attributes.codes"),
        )
        columns = CatalogueColumns(
            ids=SortedTextColumn(*texts["ids"]),
            titles=TextColumn(*texts["titles"]),
            descriptions=TextColumn(*texts["descriptions"]),
            attributes=attributes,
            categories=tuple(tuple(path) for path in names["categories"]),
            brands=tuple(names["brands"]),
            **{name: _array(folder, name) for name in _NUMBERS},
        )
        terms = {term: number for number, term in enumerate(names["terms"])}
        postings = WordPostings(terms, **{name: _array(folder, f"postings.{name}") for name in _POSTINGS})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CatalogueError(f"{folder}: cannot be opened ({error})", hint=_MEND) from None
    catalogue = Catalogue(columns, postings=postings)
    if len(catalogue) != manifest["products"]:
        raise CatalogueError(f"{folder}: holds {len(catalogue)} products, not those it names", hint=_MEND)
    return catalogue


def _write(catalogue: Catalogue, postings: WordPostings, folder: Path) -> None:
    columns = catalogue.columns
    for name in _TEXTS:
        data, ends = getattr(columns, name).buffers
        (folder / f"{name}.bin").write_bytes(data)
        np.save(folder / f"{name}.ends.npy", ends)
    np.save(folder / "attributes.starts.npy", columns.attributes.starts)
    np.save(folder / "attributes.codes.npy", columns.attributes.codes)
    for name in _NUMBERS:
        np.save(folder / f"{name}.npy", getattr(columns, name))
    for name in _POSTINGS:
        np.save(folder / f"postings.{name}.npy", getattr(postings, name))
    names = {
        "categories": columns.categories,
        "brands": columns.brands,
        "pairs": columns.attributes.pairs,
        "terms": list(postings.terms),
    }
    write_json(folder / _NAMES, names, indent=None)
    sizes = {file.name: file.stat().st_size for file in sorted(folder.iterdir())}
    manifest = {"schema_version": RLVE_CATALOGUE_SCHEMA, "products": len(catalogue), "files": sizes}
    write_json(folder / MANIFEST, manifest)


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = read_json(folder / MANIFEST, mend=_MEND)
    except FileError as error:
        raise CatalogueError(str(error)) from None
    version = manifest.get("schema_version") if isinstance(manifest, dict) else None
    if version != RLVE_CATALOGUE_SCHEMA:
        raise CatalogueError(
            f"{folder / MANIFEST}: version {version!r}, not {RLVE_CATALOGUE_SCHEMA}", hint=_MEND
        )
    files = manifest.get("files")
    if not isinstance(files, dict) or not isinstance(manifest.get("products"), int):
        raise CatalogueError(f"{folder / MANIFEST}: names no files or products", hint=_MEND)
    for name, size in files.items():
        path = folder / name
        if not path.is_file() or path.stat().st_size != size:
            raise CatalogueError(f"{path}: is missing or not {size} bytes long", hint=_MEND)
    return dict(manifest)


def _array(folder: Path, name: str) -> NDArray[Any]:
    path = folder / f"{name}.npy"
    mapped: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return mapped.view(np.ndarray)


def _bytes(path: Path) -> bytes | mmap.mmap:
    if not path.stat().st_size:
        return b""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
