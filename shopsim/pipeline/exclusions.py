"""Step 2: products whose price cannot be known leave the catalogue, each with its reason (spec 05).

The snapshot prices every axis by itself. With two axes that change the price no combination has a price
that anyone could verify, so the product goes, tasks included. Products that the engine could never look up
(no usable ASIN, the ASIN of a product that stays) go as well: their tasks must not end up in a split.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from shopsim.catalog.axes import parse_axes
from shopsim.catalog.product import valid_asin
from shopsim.pipeline.identity import RawTask

__all__ = ["DUPLICATE_ASIN", "INVALID_ASIN", "PRICE_AXES", "Exclusion", "exclude_products"]

PRICE_AXES: Final = "multiple_price_affecting_axes"
INVALID_ASIN: Final = "invalid_asin"
DUPLICATE_ASIN: Final = "duplicate_asin"


@dataclass(frozen=True, slots=True)
class Exclusion:
    """One product that was left out; ``axes`` names its price axes where they are the reason."""

    product_index: int
    asin: str
    task_ids: tuple[int, ...]
    reason: str
    axes: tuple[str, ...]

    def to_wire(self) -> dict[str, Any]:
        """One entry of ``catalog_exclusions.json``."""
        return {
            "product_index": self.product_index,
            "asin": self.asin,
            "task_ids": list(self.task_ids),
            "reason": self.reason,
            "price_axes": list(self.axes),
        }


def exclude_products(records: Sequence[Mapping[str, Any]], tasks: Iterable[RawTask]) -> tuple[Exclusion, ...]:
    """Decide which of the raw ``records`` leave, in archive order."""
    task_ids: dict[int, list[int]] = defaultdict(list)
    for task in tasks:
        task_ids[task.product_index].append(task.task_id)
    excluded = []
    seen: set[str] = set()
    for index, record in enumerate(records):
        asin = valid_asin(record.get("asin"))
        axes = _price_axes(record)
        reason = _reason(asin, seen, axes)
        if reason is None:
            seen.add(asin or "")
        else:
            shown = asin if asin is not None else str(record.get("asin"))
            named = axes if reason == PRICE_AXES else ()
            excluded.append(Exclusion(index, shown, tuple(task_ids[index]), reason, named))
    return tuple(excluded)


def _reason(asin: str | None, seen: set[str], axes: tuple[str, ...]) -> str | None:
    if asin is None:
        return INVALID_ASIN
    if len(axes) >= 2:
        return PRICE_AXES
    return DUPLICATE_ASIN if asin in seen else None


def _price_axes(record: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(axis.name for axis in parse_axes(record.get("customization_options")) if axis.is_price_axis)
