"""One row of a product file: which column holds what, and what a value must be."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from shopsim.rlve.catalogue.product import AttributeValue, Product
from shopsim.rlve.errors import CatalogueError

__all__ = ["FIELDS", "ColumnMapping", "RowError", "RowReader"]

FIELDS: Final = tuple(entry.name for entry in fields(Product))
_OPTIONAL: Final[dict[str, Any]] = {"description": "", "brand": "", "attributes": {}, "rating_count": 0}
_MAX_WHOLE: Final = 2**31 - 1
_MAX_EXACT: Final = 2**53
"""Whole numbers up to here are exact as a float: attributes are compared with bounds that are floats."""
_LONGEST_ID: Final = 190
"""Tools take ids of 200 characters, those of variants are a few longer than their product's."""
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_SHOWN: Final = 80  # characters of a value in an error
_RESERVED: Final = frozenset(FIELDS)


class RowError(ValueError):
    """A field of a row holds what it must not; ``mend`` says what it may hold."""

    def __init__(self, field_name: str, message: str, mend: str) -> None:
        super().__init__(f"{field_name}: {message}")
        self.mend = mend


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """Source column of each product field, and what a field is where its column is empty or missing.

    Fields without an entry are read from the column of their own name. As TOML::

        category_separator = " > "
        [columns]
        id = "asin"
        [defaults]
        stock = 10
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    category_separator: str = " > "

    def __post_init__(self) -> None:
        for part in (self.columns, self.defaults):
            if unknown := sorted(set(part) - set(FIELDS)):
                raise CatalogueError(
                    f"column mapping: unknown field {unknown[0]!r}",
                    hint=f"The fields are {', '.join(FIELDS)}.",
                )
        if not self.category_separator:
            raise CatalogueError(
                "column mapping: category_separator is empty", hint='The usual one is " > ".'
            )

    @classmethod
    def from_toml(cls, path: Path) -> ColumnMapping:
        """Read a mapping file; raises :class:`CatalogueError` about its first fault."""
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise CatalogueError(f"{path}: cannot be read ({error.strerror or error})") from None
        except ValueError as error:
            raise CatalogueError(f"{path}: not valid TOML ({error})", hint="Mend the file there.") from None
        known = {"columns": dict, "defaults": dict, "category_separator": str}
        for name, value in table.items():
            if name not in known or not isinstance(value, known[name]):
                raise CatalogueError(
                    f"{path}: {name}: not a setting of a column mapping",
                    hint="It has the tables columns and defaults and the text category_separator.",
                )
        if wrong := [
            name for name, column in table.get("columns", {}).items() if not isinstance(column, str)
        ]:
            raise CatalogueError(f"{path}: columns.{wrong[0]}: not the name of a column", hint="Give a text.")
        return cls(**table)

    def source(self, name: str) -> str:
        """The source column of a field."""
        return self.columns.get(name, name)

    def default(self, name: str) -> Any:
        """What stands in for a missing value; None when the field needs one."""
        return self.defaults.get(name, _OPTIONAL.get(name))


class RowReader:
    """Turns raw rows into the arguments of a product. Without a mapping a row may have no other keys."""

    def __init__(self, mapping: ColumnMapping | None) -> None:
        self._exact = mapping is None
        self._mapping = mapping or ColumnMapping()
        self._sources = [(name, self._mapping.source(name)) for name in FIELDS]
        category = _category(self._mapping.category_separator)
        self._checks = {**_CHECKS, "category": category}

    def columns(self, present: list[str], source: str) -> list[str]:
        """The columns to read of those that a table has. Raises :class:`CatalogueError` when a field has
        none, or a column without a mapping is no field."""
        for name, column in self._sources:
            if column not in present and (
                self._mapping.default(name) is None or name in self._mapping.columns
            ):
                raise CatalogueError(
                    f"{source}: no column {column!r} for {name}",
                    hint=f"Map {name} to one of {', '.join(present[:30])}.",
                )
        if self._exact and (unknown := sorted(set(present) - _RESERVED)):
            raise CatalogueError(
                f"{source}: column {unknown[0]!r} is not a field of a product", hint="Give a column mapping."
            )
        return [column for _, column in self._sources if column in present]

    def read(self, raw: Any) -> dict[str, Any]:
        """The product's fields. Raises :class:`RowError`."""
        if not isinstance(raw, Mapping):
            raise RowError("row", "is not an object", "Each row is one product with named fields.")
        if self._exact and (unknown := sorted(str(key) for key in raw if key not in _RESERVED)):
            mend = f"The fields are {', '.join(FIELDS)}; give a column mapping for other files."
            raise RowError(unknown[0], "is not a field of a product", mend)
        read: dict[str, Any] = {}
        for name, source in self._sources:
            value = raw.get(source)
            if value is None:
                value = self._mapping.default(name)
            if value is None:
                place = name if source == name else f"{name} (column {source})"
                raise RowError(place, "is missing", "Fill it, or give the mapping a default for it.")
            read[name] = self._checks[name](name, value)
        return read


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise RowError(name, f"{_shown(value)} is not a text", "Give a text in quotes.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise RowError(name, "holds half of a character", "Save the file as UTF-8.") from None
    return value.strip()


def _line(name: str, value: Any) -> str:
    """A text that users say, on one line: line ends and control characters become a space, so that no title
    can pass for another line of a conversation, or steer a terminal."""
    return _CONTROL.sub(" ", _text(name, value)).strip()


def _filled_text(name: str, value: Any) -> str:
    text = _line(name, value)
    if not text:
        raise RowError(name, "is empty", "Every product needs one.")
    return text


def _id(name: str, value: Any) -> str:
    whole = isinstance(value, int) and not isinstance(value, bool)
    text = _filled_text(name, str(value) if whole else value)
    if not whole and text != value.strip():
        raise RowError(name, f"{_shown(value)} holds a control character", "Give the product another one.")
    if len(text) > _LONGEST_ID:
        raise RowError(name, f"is longer than {_LONGEST_ID} characters", "Give the product a shorter one.")
    return text


def _category(separator: str) -> Callable[[str, Any], tuple[str, ...]]:
    def read(name: str, value: Any) -> tuple[str, ...]:
        nodes = value.split(separator.strip() or separator) if isinstance(value, str) else value
        if not isinstance(nodes, list | tuple) or not nodes:
            mend = f"Give the path as a list, or as a text joined by {separator!r}."
            raise RowError(name, "is not a path of categories", mend)
        return tuple(_filled_text(name, node) for node in nodes)

    return read


def _number(name: str, value: Any) -> float:
    if isinstance(value, str):
        try:
            value = float(value.strip().removeprefix("$").replace(",", ""))
        except ValueError:
            raise RowError(name, f"{_shown(value)} is not a number", "Give a number.") from None
    try:
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            number = float(value)
            if math.isfinite(number):
                return number
    except OverflowError:
        pass  # a whole number of hundreds of digits
    raise RowError(name, f"{_shown(value)} is not a number", "Give a number.")


def _price(name: str, value: Any) -> float:
    price = _number(name, value)
    if price <= 0:
        raise RowError(name, f"{_shown(value)} is not above zero", "Prices are dollars above zero.")
    return price


def _rating(name: str, value: Any) -> float:
    rating = _number(name, value)
    if not 1 <= rating <= 5:
        raise RowError(name, f"{_shown(value)} is not from 1 to 5", "Leave it out where nobody rated.")
    return rating


def _whole(name: str, value: Any) -> int:
    number = _number(name, value)
    if number != int(number) or not 0 <= number <= _MAX_WHOLE:
        raise RowError(
            name, f"{_shown(value)} is not a whole number from 0 to {_MAX_WHOLE}", "Give such a number."
        )
    return int(number)


def _attributes(name: str, value: Any) -> dict[str, AttributeValue]:
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else {}
        except (ValueError, RecursionError) as error:  # also numbers of thousands of digits
            why = getattr(error, "msg", "too large or too deep")
            raise RowError(name, f"not valid JSON ({why})", "Give an object of names and values.") from None
    if isinstance(value, list):
        value = dict(_pairs(name, value))
    if not isinstance(value, Mapping):
        raise RowError(name, "is not an object", "Give an object of names and values.")
    read: dict[str, AttributeValue] = {}
    for key, entry in value.items():
        if entry is not None:
            key = _filled_text(f"{name} key", key)
            if key in _RESERVED:
                raise RowError(f"{name}.{key}", "has the name of a field", "Give the attribute another name.")
            read[key] = _attribute(f"{name}.{key}", entry)
    return read


def _attribute(name: str, value: Any) -> AttributeValue:
    if isinstance(value, list) and all(isinstance(entry, str | int | float) for entry in value):
        value = ", ".join(str(entry) for entry in value)
    if isinstance(value, str):
        return _line(name, value)
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, bool) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, int) and abs(value) <= _MAX_EXACT:
        return value
    raise RowError(name, f"{_shown(value)} is no text, number, yes or no", "Give one of them.")


def _pairs(name: str, value: Iterable[Any]) -> Iterable[tuple[Any, Any]]:
    """Names and values of a list of pairs, or of objects with ``name`` (or ``key``) and ``value``."""
    for entry in value:
        pair = entry
        if isinstance(entry, Mapping) and "value" in entry:
            pair = entry.get("name", entry.get("key")), entry["value"]
        if isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str):
            yield pair[0], pair[1]
        else:
            raise RowError(
                name, f"{_shown(entry)} is no name with a value", "Give an object of names and values."
            )


def _shown(value: Any) -> str:
    """A value of a row for an error: short, on one line."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of thousands of digits
        return "a number"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


_CHECKS: Final[dict[str, Callable[[str, Any], Any]]] = {
    "id": _id,
    "title": _filled_text,
    "description": _text,
    "brand": _line,
    "attributes": _attributes,
    "price": _price,
    "rating": _rating,
    "rating_count": _whole,
    "shipping_days": _whole,
    "stock": _whole,
}
