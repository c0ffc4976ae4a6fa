"""JSON files beside the traces, read for the audit: what is wrong with one is told, never raised."""

from __future__ import annotations

import os
from pathlib import Path

from dashboard.analysis.audit import Document
from shopsim.jsonio import FileError, read_json

__all__ = ["read_document"]


def read_document(path: Path) -> Document:
    """Read a JSON file; one that is not there, or in a folder that cannot be looked into, does not exist.

    What is there under its name and no file (a folder, a link that leads nowhere) is a broken one.
    """
    try:
        if not path.is_file():
            return _no_file(path)
    except OSError:  # in a folder that cannot be looked into, which is a finding of its own
        return Document()
    try:
        return Document(True, read_json(path))
    except FileError as error:
        return Document(True, error=str(error))
    except RecursionError:
        return Document(True, error=f"{path}: nested too deeply")


def _no_file(path: Path) -> Document:
    if not os.path.lexists(path):
        return Document()
    what = "a link that leads nowhere" if path.is_symlink() and not path.exists() else "no file"
    return Document(True, error=f"{path}: {what}")
