"""JSON and file helpers that every room shares: canonical text, hashes, atomic writes."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from shopsim.errors import ShopSimError, UsageError

__all__ = [
    "FileError",
    "atomic_path",
    "canonical_json",
    "nests_deeper",
    "read_json",
    "require_portable",
    "sha256_file",
    "sha256_text",
    "write_json",
]

_CHUNK = 1 << 20


class FileError(ShopSimError):
    """A file is missing, unreadable or not what its name promises."""

    code = "file"


def canonical_json(value: Any) -> str:
    """Return ``value`` as JSON with sorted keys, no spaces and no ASCII escapes (spec 04 A)."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def sha256_text(text: str) -> str:
    """Return the hex SHA-256 of ``text`` in UTF-8."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def sha256_file(path: Path) -> str:
    """Return the hex SHA-256 of a file's bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def read_json(path: Path, *, mend: str = "Mend the file there, or write it again.") -> Any:
    """Read one JSON document. ``mend`` says what to do when it is none.

    Raises :class:`FileError` with one line that names the file and, for broken JSON, line and column.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise FileError(f"{path}: no such file") from None
    except json.JSONDecodeError as error:
        raise FileError(
            f"{path}: line {error.lineno} column {error.colno}: not valid JSON ({error.msg})", hint=mend
        ) from None
    except RecursionError:
        raise FileError(f"{path}: is nested too deeply", hint=mend) from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise FileError(f"{path}: cannot be read ({reason})") from None


def require_portable(value: Any, what: str) -> None:
    """Raise :class:`UsageError` naming ``what`` unless files can keep ``value`` and every server reads it.

    Python reads and writes ``NaN``, ``Infinity`` and a lone surrogate; hashes, UTF-8 and others do not.
    """
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError(f"{what}: holds half a character, which is no UTF-8") from None
    except ValueError:
        raise UsageError(f"{what}: holds NaN or Infinity, which is no JSON") from None


def nests_deeper(value: Any, levels: int) -> bool:
    """Whether ``value`` holds lists or objects within each other more than ``levels`` deep."""
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list):
        return False
    return levels <= 0 or any(nests_deeper(inner, levels - 1) for inner in value)


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path`` that replaces it on success and vanishes on failure.

    Readers see the old file or the whole new one, never a part: the data is synced before the rename. An
    :class:`OSError` met inside names ``path`` when it names no file (a full disk does not say where).
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: Path, value: Any, *, indent: int | None = 2) -> None:
    """Write one JSON document atomically, UTF-8, with a final newline."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, sort_keys=False)
    with atomic_path(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")
