"""What file permissions do to a reader: tests run as root are continued as somebody else."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["open_folder", "unprivileged"]

_NOBODY = 65534


@contextmanager
def unprivileged() -> Iterator[None]:
    """Go on as an ordinary user when this one is root, to whom nothing is unreadable.

    Import and warm up everything before: the new user may not be allowed to read the interpreter's files.
    """
    user = os.geteuid()
    if user == 0:
        os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)


@contextmanager
def open_folder() -> Iterator[Path]:
    """A temporary folder that every user may write into (pytest's own are closed to others)."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    try:
        yield folder
    finally:
        for path in folder.rglob("*"):
            if path.is_dir():
                path.chmod(0o755)
        shutil.rmtree(folder)
