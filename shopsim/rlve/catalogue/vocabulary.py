"""Reads the word lists of the generated catalogue: one file a department, one entry a leaf category."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

__all__ = ["AttributeRule", "Choices", "Leaf", "Share", "Steps", "Vocabulary", "load_vocabulary"]

_PACKAGE: Final = "shopsim.rlve.catalogue.vocab"
_SHARED: Final = "shared.json"


@dataclass(frozen=True, slots=True)
class Choices:
    """One of some texts."""

    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Steps:
    """A number from ``low`` in ``step``\\ s up to ``high``; whole when both are."""

    low: float
    step: float
    count: int


@dataclass(frozen=True, slots=True)
class Share:
    """True for this share of the products."""

    share: float


AttributeRule = Choices | Steps | Share


@dataclass(frozen=True, slots=True)
class Leaf:
    """One leaf category: what its products are called, cost (dollars, low and high) and have."""

    path: tuple[str, str]
    brands: tuple[str, ...]
    nouns: tuple[str, ...]
    price: tuple[float, float]
    shipping: tuple[int, int]
    attributes: Mapping[str, AttributeRule]
    title: tuple[str, ...]
    """Attributes that stand in the title."""
    features: tuple[str, ...]
    department_features: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """All leaves by department and name, and the words that all share."""

    leaves: tuple[Leaf, ...]
    series: tuple[str, ...]
    openings: tuple[str, ...]


@cache
def load_vocabulary() -> Vocabulary:
    """The word lists that come with the package."""
    folder = resources.files(_PACKAGE)
    files = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".json")), key=lambda file: file.name
    )
    texts = {file.name: json.loads(file.read_text(encoding="utf-8")) for file in files}
    shared = texts.pop(_SHARED)
    leaves = [
        _leaf(department, entry, shared) for department in texts.values() for entry in department["leaves"]
    ]
    return Vocabulary(tuple(leaves), tuple(shared["series"]), tuple(shared["openings"]))


def _leaf(department: Mapping[str, Any], entry: Mapping[str, Any], shared: Mapping[str, Any]) -> Leaf:
    return Leaf(
        path=(department["department"], entry["name"]),
        brands=tuple(department["brands"]),
        nouns=tuple(entry["nouns"]),
        price=(entry["price"][0], entry["price"][1]),
        shipping=(department["shipping"][0], department["shipping"][1]),
        attributes={name: _rule(rule, shared) for name, rule in entry["attributes"].items()},
        title=tuple(entry["title"]),
        features=tuple(entry["features"]),
        department_features=tuple(department["features"]),
    )


def _rule(rule: Any, shared: Mapping[str, Any]) -> AttributeRule:
    if isinstance(rule, str):
        return Choices(tuple(shared[rule.removeprefix("@")]))
    if isinstance(rule, float):
        return Share(rule)
    if isinstance(rule[0], str):
        return Choices(tuple(rule))
    low, high, step = rule
    return Steps(low, step, round((high - low) / step) + 1)
