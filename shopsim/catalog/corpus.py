"""Loading a corpus: one JSON array of products, plain or gzipped, checked before it is used."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from shopsim.catalog.product import Product, parse_product
from shopsim.errors import ShopSimError

__all__ = [
    "Corpus",
    "CorpusError",
    "TaskSource",
    "load_corpus",
    "parse_corpus",
    "parse_records",
    "read_content",
    "read_records",
]

_GZIP_MAGIC = b"\x1f\x8b"


class CorpusError(ShopSimError):
    """The product file is damaged, of another hash, or not a catalogue at all."""

    code = "corpus"


@dataclass(frozen=True, slots=True)
class TaskSource:
    """The task annotations that came with one product, untouched: the tasks room reads them."""

    product: Product
    instructions: Sequence[Mapping[str, Any]]
    user_persona: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Corpus:
    """Every usable product in file order. ``sha256`` is of the uncompressed JSON bytes."""

    products: tuple[Product, ...]
    task_sources: tuple[TaskSource, ...]
    sha256: str
    skipped: Mapping[str, int] = field(default_factory=dict)
    by_asin: Mapping[str, Product] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        index = {product.asin: product for product in self.products}
        object.__setattr__(self, "by_asin", MappingProxyType(index))

    def get(self, asin: str) -> Product | None:
        """The product of that exact ASIN, if any."""
        return self.by_asin.get(asin)


def read_records(path: Path, *, expected_sha256: str | None = None) -> tuple[list[Any], str]:
    """Read the raw records of a product file and the SHA-256 of its uncompressed bytes.

    Raises :class:`CorpusError` when the file is missing, a damaged gzip, of another hash than
    ``expected_sha256``, or no JSON array.
    """
    data = read_content(path)
    digest = hashlib.sha256(data).hexdigest()
    if expected_sha256 is not None and digest != expected_sha256:
        raise CorpusError(
            f"{path}: content has SHA-256 {digest[:12]}..., expected {expected_sha256[:12]}...",
            hint="Restore the file, or run `shopsim prepare --force` to build it again.",
        )
    return parse_records(data, path), digest


def parse_records(data: bytes, path: Path, *, hint: str | None = None) -> list[Any]:
    """Parse the uncompressed bytes of the product file ``path``; ``hint`` says how to mend a damaged one.

    Raises :class:`CorpusError` when they are no JSON array.
    """
    try:
        records = json.loads(data)
    except (ValueError, RecursionError) as error:  # broken JSON, not UTF-8, huge numbers, deep nesting
        where = f"line {error.lineno}: " if isinstance(error, json.JSONDecodeError) else ""
        raise CorpusError(f"{path}: {where}not a JSON product file", hint=hint or _REBUILD) from None
    if not isinstance(records, list):
        raise CorpusError(f"{path}: must hold one JSON array of products", hint=hint or _REBUILD)
    return records


def parse_corpus(records: Iterable[Any], sha256: str) -> Corpus:
    """Build a corpus from raw records; unusable ones are skipped and counted by reason."""
    products: dict[str, Product] = {}
    sources: list[TaskSource] = []
    skipped = {"not_an_object": 0, "invalid_asin": 0, "duplicate_asin": 0}
    for index, record in enumerate(records):
        if not isinstance(record, Mapping):
            skipped["not_an_object"] += 1
            continue
        product = parse_product(record, index)
        if product is None:
            skipped["invalid_asin"] += 1
        elif product.asin in products:
            skipped["duplicate_asin"] += 1
        else:
            products[product.asin] = product
            if (source := _task_source(product, record)) is not None:
                sources.append(source)
    return Corpus(tuple(products.values()), tuple(sources), sha256, skipped)


def load_corpus(path: Path, *, expected_sha256: str | None = None) -> Corpus:
    """Read and check a product file (``.json`` or ``.json.gz``). See :func:`read_records`."""
    records, digest = read_records(path, expected_sha256=expected_sha256)
    return parse_corpus(records, digest)


def _task_source(product: Product, record: Mapping[str, Any]) -> TaskSource | None:
    instructions = record.get("instructions")
    if not isinstance(instructions, list):
        return None
    usable = [entry for entry in instructions if isinstance(entry, Mapping)]
    persona = record.get("user_persona")
    if not usable:
        return None
    return TaskSource(product, usable, persona if isinstance(persona, Mapping) else None)


def read_content(path: Path, *, hint: str | None = None) -> bytes:
    """Read the uncompressed bytes of a product file, plain or gzipped; ``hint`` says how to mend it.

    Raises :class:`CorpusError` when it is missing, unreadable, or a truncated or damaged gzip.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise CorpusError(f"{path}: no such file", hint=hint or _REBUILD) from None
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror})") from None
    if not data.startswith(_GZIP_MAGIC):
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, OSError, zlib.error):
        raise CorpusError(f"{path}: truncated or damaged gzip file", hint=hint or _REBUILD) from None


_REBUILD = "Run `shopsim prepare --force` to build it again, or restore the file."
