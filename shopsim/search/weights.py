"""Field weights: seven positive numbers, the presets, and the named sets of ``configs/search_weights``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from shopsim.errors import ShopSimError
from shopsim.jsonio import read_json, write_json
from shopsim.search.documents import FIELDS

__all__ = [
    "PRESETS",
    "V3",
    "WEIGHTS_FOLDER",
    "FieldWeights",
    "WeightsError",
    "check_name",
    "load_weights",
    "save_weights",
    "weight_names",
]

WEIGHTS_FOLDER: Final = Path("configs/search_weights")
"""Where a workspace keeps its named sets, one ``<name>.json`` each."""

_LARGEST = 1e9  # far above any use, far below where sums of weights overflow
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


class WeightsError(ShopSimError):
    """A weight set is unknown, incomplete or holds a number that is no weight."""

    code = "search_weights"
    http_status = 400
    exit_code = 2


@dataclass(frozen=True, slots=True)
class FieldWeights:
    """The bm25 weight of each field. All are above zero and finite (:class:`WeightsError` otherwise)."""

    title: float
    brand: float
    category: float
    model: float
    attributes: float
    options: float
    bullets: float

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, _checked(field.name, getattr(self, field.name)))

    @classmethod
    def from_mapping(cls, values: object, *, source: str = "weights") -> FieldWeights:
        """Read a ``{field: weight}`` mapping; missing or unknown fields are refused, ``source`` is named."""
        if not isinstance(values, Mapping):
            raise WeightsError(f"{source}: must be an object of field weights", hint=_FIELDS_HINT)
        if missing := [field for field in FIELDS if field not in values]:
            raise WeightsError(f"{source}: no weight for {', '.join(missing)}", hint=_FIELDS_HINT)
        if unknown := [str(key) for key in values if key not in FIELDS]:
            raise WeightsError(f"{source}: unknown field {', '.join(unknown)}", hint=_FIELDS_HINT)
        try:
            return cls(**{field: values[field] for field in FIELDS})
        except WeightsError as error:
            raise WeightsError(f"{source}: {error}") from None

    @classmethod
    def from_values(cls, values: Iterable[float]) -> FieldWeights:
        """A set from seven numbers in field order."""
        return cls(**dict(zip(FIELDS, values, strict=True)))

    def as_mapping(self) -> dict[str, float]:
        """The weights by field name, in field order."""
        return {field: getattr(self, field) for field in FIELDS}

    def values(self) -> tuple[float, ...]:
        """The seven weights in field order."""
        return tuple(self.as_mapping().values())

    def column_weights(self) -> tuple[float, ...]:
        """The arguments of FTS5's ``bm25()``: 0.0 for the UNINDEXED ``asin``, then the seven fields.

        bm25() maps its arguments to the declared columns from the left *including* UNINDEXED ones; without
        the leading 0.0 every weight would shift by one column, as it did in version 2 (spec 02).
        """
        return (0.0, *self.values())


def _checked(field: str, value: object) -> float:
    number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    if not 0 < number <= _LARGEST:
        raise WeightsError(
            f"weight of {field} is {value!r}", hint=f"A weight is above zero and at most {_LARGEST:g}."
        )
    return number


_FIELDS_HINT = f"Fields: {', '.join(FIELDS)}."

V3: Final = FieldWeights(
    title=3.0, brand=2.0, category=2.0, model=2.5, attributes=1.5, options=1.2, bullets=0.8
)

_NEARLY_NOTHING = 1e-6  # a weight must be above zero; this one only breaks ties between equal titles

PRESETS: Final[Mapping[str, FieldWeights]] = MappingProxyType(
    {
        "v3": V3,
        # What version 2 really searched with: seven weights handed to eight columns, so that the title's
        # fell on asin and each field got its right neighbour's; bullets was left with bm25's default 1.0.
        "v2-misaligned": FieldWeights.from_values((*V3.values()[1:], 1.0)),
        "uniform": FieldWeights.from_values([1.0] * len(FIELDS)),
        "title-only": FieldWeights.from_values([1.0] + [_NEARLY_NOTHING] * (len(FIELDS) - 1)),
    }
)


def weight_names(folder: Path | None = None) -> list[str]:
    """The names that :func:`load_weights` knows: the presets, then the sets saved in ``folder``, sorted."""
    saved = sorted(path.stem for path in folder.glob("*.json")) if folder and folder.is_dir() else []
    return [*PRESETS, *(name for name in saved if name not in PRESETS)]


def load_weights(name: str, folder: Path | None = None) -> FieldWeights:
    """Return the preset or saved set called ``name``.

    ``folder`` is the workspace's ``configs/search_weights``. Raises :class:`WeightsError` when the name is
    unknown or its file holds no complete set.
    """
    if name in PRESETS:
        return PRESETS[name]
    path = folder / f"{name}.json" if folder and _NAME.fullmatch(name) else None
    if path is None or not path.is_file():
        known = ", ".join(weight_names(folder))
        raise WeightsError(f"no weight set is called {name!r}", hint=f"Known: {known}.")
    record = read_json(path)
    values = record.get("weights") if isinstance(record, Mapping) else None
    return FieldWeights.from_mapping(values, source=f"{path}: weights")


def save_weights(
    name: str, weights: FieldWeights, folder: Path, *, notes: Mapping[str, Any] | None = None
) -> Path:
    """Save a set as ``folder/<name>.json`` and return the path.

    ``notes`` (how the set came about) is stored beside the weights. Presets cannot be overwritten.
    """
    check_name(name)
    path = folder / f"{name}.json"
    write_json(path, {"name": name, "weights": weights.as_mapping(), **(notes or {})})
    return path


def check_name(name: str) -> None:
    """Raise :class:`WeightsError` when a set cannot be saved under ``name``."""
    if not _NAME.fullmatch(name):
        raise WeightsError(
            f"{name!r} is no name for a weight set", hint="Use lower-case letters, digits, '.', '_' and '-'."
        )
    if name in PRESETS:
        raise WeightsError(f"{name!r} is a preset and cannot be overwritten", hint="Choose another name.")
