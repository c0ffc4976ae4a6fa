"""What a command that plays runs has to tell: what became of each run, or that somebody stopped it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shopsim.errors import ShopSimError

__all__ = ["RunInterruptedError", "RunReport"]


class RunInterruptedError(ShopSimError):
    """Somebody pressed Ctrl-C; what was finished is on disk."""

    code = "interrupted"


@dataclass(frozen=True, slots=True)
class RunReport:
    """What became of one run. ``played`` episodes ran now, ``kept`` were complete before."""

    experiment: str
    folder: Path
    played: int
    kept: int
    summary: Mapping[str, Any]

    def to_wire(self) -> dict[str, Any]:
        """The report as JSON data."""
        return {
            "experiment": self.experiment,
            "folder": str(self.folder),
            "played": self.played,
            "kept": self.kept,
            "summary": self.summary,
        }
