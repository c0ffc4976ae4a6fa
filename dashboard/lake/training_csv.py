"""CSV files of a published bundle, read by declared columns: an empty cell is not recorded, never 0."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import pandas as pd

from shopsim.rollout.summary import finite_number

__all__ = ["CsvColumns", "CsvTable", "read_csv"]

Kind = Literal["number", "whole", "text"]
_MOST_ROWS: Final = 1_000_000
_MOST_EXAMPLES: Final = 3
_DTYPES: Final[Mapping[Kind, str]] = {"number": "float64", "whole": "Int64", "text": "object"}


@dataclass(frozen=True, slots=True)
class CsvColumns:
    """What is read of a file: ``columns`` maps a column of the file to its name here and its kind.

    A row without a value in a ``required`` column (a name here) is left out, and that is a problem. So is a
    missing column, unless the names are ``assumed``: guesses at a file that no specification describes.
    """

    columns: Mapping[str, tuple[str, Kind]]
    required: tuple[str, ...] = ()
    assumed: bool = False


@dataclass(slots=True)
class CsvTable:
    """A file as a frame. All declared columns are there, without a value where the file has none.

    ``rest`` holds the file's other columns as text, row by row. ``present`` is False without a file.
    """

    frame: pd.DataFrame
    rest: pd.DataFrame = field(default_factory=pd.DataFrame)
    present: bool = False
    missing: tuple[str, ...] = ()


def read_csv(path: Path, declared: CsvColumns, problems: list[str]) -> CsvTable:
    """Read a CSV file. A missing file is an absent table; whatever else is wrong goes to ``problems``."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header, rows = _rows(csv.reader(file), path, problems)
    except FileNotFoundError:
        return CsvTable(_frame([], declared))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        problems.append(f"{path}: cannot be read ({reason}). Restore the file.")
        return CsvTable(_frame([], declared))
    missing = tuple(name for name in declared.columns if name not in header)
    if missing and not declared.assumed:
        shown = ", ".join(missing[:_MOST_EXAMPLES]) + (" …" if len(missing) > _MOST_EXAMPLES else "")
        problems.append(f"{path}: without the columns {shown}; what they would tell is not recorded")
    kept = list(_kept(rows, declared, path, problems))
    values = [_read(row, declared, path, problems) for row in kept]
    rest = pd.DataFrame(
        [{k: v for k, v in row.items() if k not in declared.columns} for row in kept], dtype=object
    )
    return CsvTable(_frame(values, declared), rest, True, missing)


def _rows(
    reader: Iterator[list[str]], path: Path, problems: list[str]
) -> tuple[list[str], list[dict[str, str]]]:
    header = next(reader, [])
    rows = []
    for number, cells in enumerate(reader, 2):
        if not any(cells):
            continue
        if len(cells) != len(header):
            problems.append(f"{path}: row {number}: {len(cells)} cells, the header has {len(header)}")
        rows.append({"": str(number), **dict(zip(header, cells, strict=False))})
        if len(rows) >= _MOST_ROWS:
            problems.append(f"{path}: more than {_MOST_ROWS} rows; the rest is left out")
            break
    return header, rows


def _kept(
    rows: list[dict[str, str]], declared: CsvColumns, path: Path, problems: list[str]
) -> Iterator[dict[str, str]]:
    required = [(name, kind) for name, (here, kind) in declared.columns.items() if here in declared.required]
    for row in rows:
        lacking = [name for name, kind in required if _value(row.get(name, ""), kind) is None]
        if lacking:
            problems.append(f"{path}: row {row['']}: no valid {lacking[0]}; left out")
        else:
            yield row


def _read(row: dict[str, str], declared: CsvColumns, path: Path, problems: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, (here, kind) in declared.columns.items():
        cell = row.get(name, "").strip()
        values[here] = _value(cell, kind)
        if cell and values[here] is None and cell.lower() != "nan":
            problems.append(f"{path}: row {row['']}: {name}: {cell[:40]!r} is no finite number")
    return values


def _value(cell: str, kind: Kind) -> Any:
    cell = cell.strip()
    if kind == "text":
        return cell or None
    try:
        number = finite_number(float(cell))
    except ValueError:
        return None
    if kind == "number" or number is None:
        return number
    return int(number) if number == int(number) and abs(number) < 2**53 else None


def _frame(rows: list[dict[str, Any]], declared: CsvColumns) -> pd.DataFrame:
    names = [here for here, _ in declared.columns.values()]
    frame = pd.DataFrame(rows, columns=names)
    return frame.astype({here: _DTYPES[kind] for here, kind in declared.columns.values()})
