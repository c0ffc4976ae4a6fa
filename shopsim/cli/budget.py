"""``shopsim budget``: what the budget parser reads in a file of phrases."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from shopsim.errors import UsageError
from shopsim.jsonio import FileError
from shopsim.tasks.budget import BudgetReading, parse_budget

__all__ = ["read_phrases", "register"]

_COLUMN = "evidence"
_STANDARD_INPUT = Path("-")


def register(app: typer.Typer) -> None:
    """Add ``budget`` to the program."""
    app.command("budget")(budget)


def budget(
    file: Annotated[
        Path,
        typer.Option(
            help="A TSV whose header has a column 'evidence', or plain lines; '-' reads standard input."
        ),
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object a line: {text, price_upper}.")
    ] = False,
) -> None:
    """Read the upper price limit out of every phrase of a file.

    Example: shopsim budget --file phrases.tsv --json
    """
    for text in read_phrases(file):
        reading = parse_budget(text)
        if as_json:
            typer.echo(json.dumps({"text": text, "price_upper": reading.price_upper}, ensure_ascii=False))
        else:
            typer.echo(f"{_limit(reading):>12}  {reading.kind:<18} {text}")


def read_phrases(path: Path) -> Iterator[str]:
    """Yield the phrases of a file in order.

    With ``evidence`` among the tab-separated names of the first line, that column of every further line
    (``""`` where it is missing); else every line that is not blank. Raises
    :class:`~shopsim.jsonio.FileError` when the file is missing, no UTF-8 text, or a table without it.
    """
    lines = _read_lines(path)
    header = lines[0].split("\t") if lines else []
    if len(header) > 1 and _COLUMN not in header:
        raise FileError(
            f"{path}: line 1: no column {_COLUMN!r}", hint=f"Name a column {_COLUMN}, or give plain lines."
        )
    if _COLUMN in header:
        column = header.index(_COLUMN)
        for line in lines[1:]:
            fields = line.split("\t")
            if any(fields):
                yield fields[column] if column < len(fields) else ""
    else:
        yield from (line for line in lines if line.strip())


def _read_lines(path: Path) -> list[str]:
    """The lines of a text file, without their ends (LF or CRLF) and without a byte-order mark."""
    try:
        data = sys.stdin.buffer.read() if path == _STANDARD_INPUT else path.read_bytes()
        text = data.decode("utf-8-sig")
    except FileNotFoundError:
        raise UsageError(f"--file {path}: no such file") from None
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise FileError(f"{path}: line {line}: not UTF-8 text", hint="Save it as UTF-8.") from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror})") from None
    return [line.removesuffix("\r") for line in text.split("\n")]


def _limit(reading: BudgetReading) -> str:
    return "no limit" if reading.price_upper is None else f"{reading.price_upper:g}"
