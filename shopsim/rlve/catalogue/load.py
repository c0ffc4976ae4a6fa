"""Reads catalogues of any size from JSONL (also gzipped) or Parquet through one column mapping."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from shopsim.rlve.catalogue.builder import ColumnsBuilder
from shopsim.rlve.catalogue.catalogue import Catalogue
from shopsim.rlve.catalogue.rows import ColumnMapping, RowError, RowReader
from shopsim.rlve.catalogue.stored import is_stored, open_stored
from shopsim.rlve.errors import CatalogueError

__all__ = ["KEPT_PROBLEMS", "LoadReport", "load_catalogue", "read_catalogue"]

KEPT_PROBLEMS: Final = 20
_SUFFIXES: Final = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".parquet")
_BATCH_ROWS: Final = 4096


@dataclass(slots=True)
class LoadReport:
    """What a reading that skips bad rows left out: never silent, so it comes with the catalogue."""

    rows: int = 0
    skipped: int = 0
    problems: list[str] = field(default_factory=list)
    """The first :data:`KEPT_PROBLEMS` of them, one line each."""

    def skip(self, problem: str) -> None:
        """Count one row that was left out."""
        self.skipped += 1
        if len(self.problems) < KEPT_PROBLEMS:
            self.problems.append(problem)


def load_catalogue(
    path: Path | str, mapping: ColumnMapping | Mapping[str, str] | Path | None = None, *, strict: bool = True
) -> Catalogue:
    """The catalogue of a file, or of all product files of a folder; see :func:`read_catalogue`."""
    return read_catalogue(path, mapping, strict=strict)[0]


def read_catalogue(
    path: Path | str, mapping: ColumnMapping | Mapping[str, str] | Path | None = None, *, strict: bool = True
) -> tuple[Catalogue, LoadReport]:
    """The catalogue and what was skipped.

    ``mapping`` is a :class:`ColumnMapping`, only its columns, or the path of its TOML file. Without one the
    fields have their own names and no others are allowed. The first bad row raises :class:`CatalogueError`
    with file, row, field and mend; with ``strict=False`` bad rows are skipped and counted. A file that cannot
    be read to its end is an error in either case, as is one without a single product. A folder written by
    :func:`~shopsim.rlve.catalogue.stored.store_catalogue` is opened as it is, search arrays included.

    Rows are read in batches into packed columns, a :class:`Product` is made when one is asked for. Two
    million generated products take 0.47 GiB as columns, 5.6 times less than as objects, and their search
    0.36 GiB (measured by ``benchmarks/bench_rlve_catalogue.py``).
    """
    if is_stored(Path(path)):
        if mapping is not None:
            raise CatalogueError(f"{path}: is stored and takes no mapping", hint="Leave the mapping out.")
        stored = open_stored(Path(path))
        return stored, LoadReport(rows=len(stored))
    reader = RowReader(_mapping(mapping))
    builder, report = ColumnsBuilder(), LoadReport()
    for file in _files(Path(path)):
        for number, raw in _rows(file, reader, strict, report):
            report.rows += 1
            try:
                builder.add(**reader.read(raw), origin=number)
            except RowError as error:
                problem = CatalogueError(f"{file}: row {number}: {error}", hint=error.mend)
                if strict:
                    raise problem from None
                report.skip(str(problem))
    columns = builder.build(str(path), on_repeat=None if strict else report.skip)
    if not len(columns.ids):
        raise CatalogueError(f"{path}: no product in it", hint="See that it is the right file and mapping.")
    return Catalogue(columns), report


def _mapping(mapping: ColumnMapping | Mapping[str, str] | Path | None) -> ColumnMapping | None:
    if isinstance(mapping, Path):
        return ColumnMapping.from_toml(mapping)
    return ColumnMapping(columns=mapping) if isinstance(mapping, Mapping) else mapping


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.name.endswith(_SUFFIXES))
        if files:
            return files
    elif not path.exists():
        raise CatalogueError(f"{path}: no such file", hint="See the path of the catalogue.")
    elif path.name.endswith(_SUFFIXES):
        return [path]
    raise CatalogueError(f"{path}: no product file", hint=f"Known are {', '.join(_SUFFIXES)}.")


def _rows(file: Path, reader: RowReader, strict: bool, report: LoadReport) -> Iterator[tuple[int, Any]]:
    if file.name.endswith(".parquet"):
        return _parquet_rows(file, reader)
    return _json_rows(file, strict, report)


def _json_rows(file: Path, strict: bool, report: LoadReport) -> Iterator[tuple[int, Any]]:
    """Line number and content of each line that is not blank."""
    number = 0
    try:
        with gzip.open(file) if file.name.endswith(".gz") else file.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                try:
                    raw = _json_row(file, number, line)
                except CatalogueError as problem:
                    if strict:
                        raise
                    report.rows += 1
                    report.skip(str(problem))
                else:
                    yield number, raw
    except (EOFError, OSError, zlib.error) as error:
        raise CatalogueError(
            f"{file}: broken after row {number} ({error})", hint="Fetch or write the file again."
        ) from None


def _json_row(file: Path, number: int, line: bytes) -> Any:
    """The content of one line, the first of which may begin with a byte order mark."""
    try:
        return json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "not UTF-8 text, or too deep"
        raise CatalogueError(
            f"{file}: row {number}: not valid JSON ({reason})", hint="Each line is one JSON object."
        ) from None


def _parquet_rows(file: Path, reader: RowReader) -> Iterator[tuple[int, Any]]:
    """Row number, from 1, and content; only the columns that a field is read from."""
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(file) as table:
            columns = reader.columns(list(table.schema_arrow.names), str(file))
            number = 0
            for batch in table.iter_batches(batch_size=_BATCH_ROWS, columns=columns):
                for raw in batch.to_pylist():
                    number += 1
                    yield number, raw
    except (pyarrow.ArrowException, OSError) as error:
        raise CatalogueError(
            f"{file}: cannot be read ({error})", hint="Fetch or write the file again."
        ) from None
