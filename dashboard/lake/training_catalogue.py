"""What the cache knows of one training round: which segment holds which group, replaced as a whole.

Segments are immutable Parquet files, named by the catalogue that counts. A crash leaves files that no
catalogue names, which are swept later.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from shopsim.jsonio import FileError, read_json, write_json

__all__ = ["TRAINING_FORMAT", "RoundCatalogue", "load_round", "round_folder"]

TRAINING_FORMAT: Final = "training-2"
_FILE: Final = "catalogue.json"


@dataclass(slots=True)
class RoundCatalogue:
    """Ingested groups of one round: folder name -> (signature when it was read, segment)."""

    path: str
    groups: dict[str, tuple[str, str]] = field(default_factory=dict)
    version: str = ""

    @property
    def segments(self) -> list[str]:
        """Names of the segments that hold a group."""
        return sorted({segment for _, segment in self.groups.values()})

    def save(self, folder: Path) -> None:
        """Replace the catalogue of ``folder`` in one step, as a new version."""
        self.version = secrets.token_hex(8)
        write_json(folder / _FILE, {"format": TRAINING_FORMAT, **asdict(self)}, indent=None)


def round_folder(cache_dir: Path, path: Path) -> Path:
    """Folder in the cache of the round at ``path``."""
    key = hashlib.sha256(str(path.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:24]
    return cache_dir / TRAINING_FORMAT / key


def load_round(folder: Path) -> RoundCatalogue | None:
    """Read a catalogue; None when there is none that can be used (then the round is ingested again)."""
    try:
        value = read_json(folder / _FILE)
        if value.pop("format") != TRAINING_FORMAT:
            return None
        value["groups"] = {name: (entry[0], entry[1]) for name, entry in value["groups"].items()}
        return RoundCatalogue(**value)
    except (FileError, KeyError, TypeError, AttributeError, IndexError):
        return None
