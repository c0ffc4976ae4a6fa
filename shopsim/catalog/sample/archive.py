"""Writing a sample corpus: the same corpus always gives the same bytes."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from shopsim.catalog.sample.generate import SampleCorpus
from shopsim.jsonio import FileError, atomic_path

__all__ = ["annotation_bytes", "archive_bytes", "product_bytes", "write_sample"]


def product_bytes(corpus: SampleCorpus) -> bytes:
    """The product file: one JSON array, one record a line, UTF-8."""
    return ("[\n" + ",\n".join(_line(record) for record in corpus.records) + "\n]\n").encode("utf-8")


def archive_bytes(corpus: SampleCorpus) -> bytes:
    """The gzipped product file, without a time or a name inside."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, compresslevel=9, mtime=0) as file:
        file.write(product_bytes(corpus))
    return buffer.getvalue()


def annotation_bytes(corpus: SampleCorpus) -> bytes:
    """The recorded persona budgets, one JSON object a line."""
    return _lines(corpus.annotations)


def write_sample(corpus: SampleCorpus, out: Path, annotations: Path | None, *, force: bool = False) -> None:
    """Write the archive (gzipped when ``out`` ends in ``.gz``) and, if asked, the annotations.

    Raises :class:`FileError` when a file is there already and ``force`` is not set.
    """
    contents = {out: archive_bytes(corpus) if out.suffix == ".gz" else product_bytes(corpus)}
    if annotations is not None:
        contents[annotations] = annotation_bytes(corpus)
    for path in contents:
        if path.exists() and not force:
            raise FileError(f"{path}: exists already", hint="Add --force to replace it.")
    for path, content in contents.items():
        with atomic_path(path) as temporary:
            temporary.write_bytes(content)


def _lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(_line(record) + "\n" for record in records).encode("utf-8")


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))
