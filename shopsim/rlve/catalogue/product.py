"""One product of the conversation environments, as the tools and the verifiers see it (spec 06)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

__all__ = ["AttributeValue", "Product"]

AttributeValue = str | float | int | bool


@dataclass(frozen=True, slots=True, eq=True)
class Product:
    """A product; immutable, its attributes too. Two products of one id hash alike."""

    id: str
    title: str
    description: str
    category: tuple[str, ...]
    """Path from the department to the leaf, at least one node."""
    brand: str
    attributes: Mapping[str, AttributeValue]
    price: float
    """Dollars, above zero."""
    rating: float
    """1 to 5."""
    rating_count: int
    shipping_days: int
    stock: int

    def __post_init__(self) -> None:
        if not isinstance(self.attributes, MappingProxyType):
            object.__setattr__(self, "attributes", MappingProxyType(dict(self.attributes)))

    def __hash__(self) -> int:
        return hash(self.id)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles as its fields: a mapping proxy can do neither."""
        values = [getattr(self, field.name) for field in fields(self)]
        return Product, tuple(
            dict(value) if isinstance(value, MappingProxyType) else value for value in values
        )

    def __deepcopy__(self, memo: object) -> Product:
        return self

    @property
    def department(self) -> str:
        """First node of the category path."""
        return self.category[0]

    @property
    def leaf(self) -> str:
        """Last node of the category path."""
        return self.category[-1]

    def to_wire(self) -> dict[str, Any]:
        """The product as a JSON object: the row of a catalogue file, in the order of the fields."""
        wire = {field.name: getattr(self, field.name) for field in fields(self)}
        wire["category"] = list(self.category)
        wire["attributes"] = dict(self.attributes)
        return wire
