"""JSON files beside the traces, read for the audit: what is wrong with one is told, never raised."""

from __future__ import annotations

from pathlib import Path

from dashboard.analysis.audit import Document
from shopsim.jsonio import FileError, read_json

__all__ = ["read_document"]


def read_document(path: Path) -> Document:
    """Read a JSON file; one that is not there, or in a folder that cannot be looked into, does not exist."""
    try:
        if not path.is_file():
            return Document()
    except OSError:  # in a folder that cannot be looked into, which is a finding of its own
        return Document()
    try:
        return Document(True, read_json(path))
    except FileError as error:
        return Document(True, error=str(error))
    except RecursionError:
        return Document(True, error=f"{path}: nested too deeply")
