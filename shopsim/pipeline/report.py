"""What a preparation found and did, as one typed value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Counts", "PreparationReport"]


@dataclass(frozen=True, slots=True)
class Counts:
    """How much there is.

    ``kinds`` counts persona budgets by kind, ``splits`` tasks by project split, ``exclusions`` products that
    were left out by reason (empty in what earlier versions wrote down).
    """

    products_raw: int
    products_excluded: int
    products_active: int
    tasks_raw: int
    tasks_excluded: int
    tasks_active: int
    tasks_persona: int
    tasks_standard: int
    kinds: Mapping[str, int]
    splits: Mapping[str, int]
    index_products: int
    exclusions: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def from_wire(cls, values: Mapping[str, Any]) -> Counts:
        """Read :meth:`to_wire` again. Raises TypeError for missing or unknown keys."""
        return cls(**values)

    def to_wire(self) -> dict[str, Any]:
        """The counts as one flat JSON object."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class PreparationReport:
    """The prepared folder, its contents, and which files this call wrote or found right."""

    prepared_dir: Path
    product_data_sha256: str
    counts: Counts
    written: tuple[str, ...]
    kept: tuple[str, ...]

    @property
    def nothing_to_do(self) -> bool:
        """Whether everything was there and right."""
        return not self.written

    def to_wire(self) -> dict[str, Any]:
        """The answer of ``shopsim prepare --json``."""
        return {
            "prepared_dir": str(self.prepared_dir),
            "product_data_sha256": self.product_data_sha256,
            "nothing_to_do": self.nothing_to_do,
            "written": list(self.written),
            "kept": list(self.kept),
            **self.counts.to_wire(),
        }
