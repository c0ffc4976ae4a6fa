"""What the vocabularies say about a kind of product, and the drafts that are composed from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

__all__ = [
    "MODEL_LABEL",
    "AxisWords",
    "Choice",
    "Domain",
    "DraftAxis",
    "Fact",
    "Kind",
    "ProductDraft",
    "kind",
]

MODEL_LABEL = "型号"


@dataclass(frozen=True, slots=True)
class AxisWords:
    """An option axis of a kind. ``growth`` > 1: each later value costs that many times the one before."""

    name: str
    values: tuple[str, ...]
    growth: float = 1.0


@dataclass(frozen=True, slots=True)
class Kind:
    """One sub-category: its names, prices (yuan, lowest option), properties and option axes.

    ``facets`` are properties with one value a product, ``features`` are free ones, ``stuffing`` are the
    search words that sellers pile into titles, ``said`` is what shoppers call the thing, ``per`` is the
    unit of a price that is not the total (``斤``, ``片``), ``""`` when there is none.
    """

    path: tuple[str, ...]
    nouns: tuple[str, ...]
    said: tuple[str, ...]
    unit: str
    price: tuple[float, float]
    facets: Mapping[str, tuple[str, ...]]
    features: tuple[str, ...]
    stuffing: tuple[str, ...]
    axes: tuple[AxisWords, ...]
    per: str
    model_code: bool
    domain: str = ""


@dataclass(frozen=True, slots=True)
class Domain:
    """A top-level category with its kinds, the people who are bought for, and shop name endings."""

    name: str
    english: str
    buyers: tuple[str, ...]
    shop_endings: tuple[str, ...]
    kinds: tuple[Kind, ...]

    def named_kinds(self) -> tuple[Kind, ...]:
        """The kinds, each knowing the domain it belongs to."""
        return tuple(replace(item, domain=self.name) for item in self.kinds)


def kind(
    path: str,
    *,
    nouns: str,
    said: str,
    unit: str,
    price: tuple[float, float],
    facets: Mapping[str, str],
    features: str,
    stuffing: str,
    axes: Mapping[str, str],
    per: str = "",
    model_code: bool = False,
) -> Kind:
    """Build a :class:`Kind` from compact text: words are separated by white space, path nodes by ``›``.

    An axis name followed by ``x1.6`` is one whose later values cost more.
    """
    return Kind(
        path=tuple(path.split("›")),
        nouns=tuple(nouns.split()),
        said=tuple(said.split()),
        unit=unit,
        price=price,
        facets={name: tuple(values.split()) for name, values in facets.items()},
        features=tuple(features.split()),
        stuffing=tuple(stuffing.split()),
        axes=tuple(_axis(name, values) for name, values in axes.items()),
        per=per,
        model_code=model_code,
    )


def _axis(name: str, values: str) -> AxisWords:
    label, _, growth = name.partition(" x")
    return AxisWords(label, tuple(values.split()), float(growth) if growth else 1.0)


@dataclass(frozen=True, slots=True)
class Fact:
    """A property of a product. ``label`` is the facet's name, ``""`` for a free feature."""

    label: str
    value: str
    is_marker: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """An option value as the catalogue writes it, how a shopper would say it, and its price, if known."""

    value: str
    spoken: str
    price: float | None


@dataclass(frozen=True, slots=True)
class DraftAxis:
    """An option axis of one product."""

    name: str
    choices: tuple[Choice, ...]

    @property
    def changes_price(self) -> bool:
        """Whether it has two or more distinct prices (spec 03)."""
        return len({choice.price for choice in self.choices if choice.price is not None}) >= 2


@dataclass(frozen=True, slots=True)
class ProductDraft:
    """A composed product, before tasks are written for it and dirt is added.

    ``facts`` are in the order of the attribute list; ``title_words`` are the search words that made it
    into the title; ``price_known`` is False when no choice of options determines a price.
    """

    kind: Kind
    brand: str
    shop: str
    title: str
    title_words: tuple[str, ...]
    facts: tuple[Fact, ...]
    axes: tuple[DraftAxis, ...]
    pricing: tuple[float, ...]
    price_known: bool
    asin: str = ""

    @property
    def price_axes(self) -> tuple[DraftAxis, ...]:
        """The axes whose choice changes the price."""
        return tuple(axis for axis in self.axes if axis.changes_price)
