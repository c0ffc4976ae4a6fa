"""Products: families of near-duplicates that share a type, words and options, and differ in details."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from shopsim.catalog.sample.dice import Dice
from shopsim.catalog.sample.model import MODEL_LABEL, Domain, Fact, Kind, ProductDraft
from shopsim.catalog.sample.names import NameMaker
from shopsim.catalog.sample.options import PriceMode, price_options, skeleton_axes

__all__ = ["make_products"]

_FAMILY_SIZES = ((1, 3), (2, 3), (4, 3), (12, 2.5), (60, 2.2))
_PRICE_MODES: tuple[tuple[PriceMode, float], ...] = (
    ("one_axis", 0.66),
    ("flat_axis", 0.09),
    ("constant", 0.12),
    ("no_axes", 0.05),
    ("two_axes", 0.05),
    ("unknown", 0.02),
)
_SALES_WORDS = (
    "新款",
    "官方正品",
    "爆款",
    "厂家直销",
    "特价",
    "包邮",
    "热卖",
    "网红同款",
    "高颜值",
    "2026年新品",
    "升级版",
    "旗舰店",
)


@dataclass(frozen=True, slots=True)
class _Base:
    """What the members of one family have in common."""

    kind: Kind
    facts: tuple[Fact, ...]
    noun: str
    price: float


def make_products(
    dice: Dice, names: NameMaker, domains: tuple[Domain, ...], count: int
) -> list[ProductDraft]:
    """Compose ``count`` products over all kinds, in random order."""
    brands = {domain.name: [names.brand() for _ in range(max(12, count // 60))] for domain in domains}
    products: list[ProductDraft] = []
    for domain, kind, share in _shares(dice, domains, count):
        made = 0
        while made < share:
            size = min(dice.weighted(_FAMILY_SIZES), share - made)
            base = _base(dice, kind)
            products += [_member(dice, names, domain, base, brands[domain.name]) for _ in range(size)]
            made += size
    return dice.shuffled(products)


def _shares(dice: Dice, domains: tuple[Domain, ...], count: int) -> list[tuple[Domain, Kind, int]]:
    """How many products each kind gets: domains alike, in each one crowded kind and a long tail."""
    weighted = [
        (domain, kind, (rank + 1) ** -1.3)
        for domain in domains
        for rank, kind in enumerate(dice.shuffled(domain.named_kinds()))
    ]
    bounds = [0, *(int(point + 1e-6) for point in accumulate(_scaled([w for _, _, w in weighted], count)))]
    steps = [high - low for low, high in pairwise(bounds)]
    return [(domain, kind, step) for (domain, kind, _), step in zip(weighted, steps, strict=True)]


def _scaled(weights: Sequence[float], total: float) -> list[float]:
    factor = total / sum(weights)
    return [weight * factor for weight in weights]


def _base(dice: Dice, kind: Kind) -> _Base:
    labels = dice.some_in_order(tuple(kind.facets), dice.between(len(kind.facets) - 2, len(kind.facets)))
    facts = [Fact(label, dice.pick(kind.facets[label])) for label in labels]
    count = dice.weighted(((2, 2), (3, 4), (4, 4), (5, 3), (7, 2), (13, 1.3)))
    facts += [Fact("", value) for value in dice.some_in_order(kind.features, count)]
    low, high = kind.price
    return _Base(kind, tuple(facts), dice.pick(kind.nouns), low * (high / low) ** dice.uniform(0, 1))


def _member(dice: Dice, names: NameMaker, domain: Domain, base: _Base, brands: list[str]) -> ProductDraft:
    kind = base.kind
    facts = _varied(dice, kind, base.facts)
    brand = dice.pick(brands)
    mode = dice.weighted(_PRICE_MODES)
    axes = skeleton_axes(dice, kind)
    priced = price_options(dice, kind, axes, base.price * dice.uniform(0.85, 1.25), mode)
    code = names.model_code() if kind.model_code and dice.chance(0.75) else ""
    words = tuple(dice.some(kind.stuffing, dice.between(2, 5)))
    return ProductDraft(
        kind=kind,
        brand=brand,
        shop=names.shop(brand, domain.shop_endings),
        title=_title(dice, base, brand, facts, words, code),
        title_words=words,
        facts=facts + ((Fact(MODEL_LABEL, code),) if code else ()),
        axes=priced.axes,
        pricing=priced.pricing,
        price_known=priced.price_known,
    )


def _varied(dice: Dice, kind: Kind, facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """The family's facts with up to three of them changed or one dropped.

    Some members keep all: the same goods in another shop.
    """
    result = list(facts)
    for _ in range(dice.weighted(((0, 3), (1, 3), (2, 3), (3, 2)))):
        index = dice.between(0, len(result) - 1)
        fact = result[index]
        others = kind.facets[fact.label] if fact.label else kind.features
        value = dice.pick(others)
        if all(value != known.value for known in result):
            result[index] = replace(fact, value=value)
    if dice.chance(0.3) and len(result) > 4:
        result.pop(dice.between(0, len(result) - 1))
    return tuple(result)


def _title(
    dice: Dice, base: _Base, brand: str, facts: tuple[Fact, ...], words: tuple[str, ...], code: str
) -> str:
    """Brand, a few of the properties, the noun (often twice, worded differently), and search words."""
    kind = base.kind
    named = [fact.value for fact in dice.some(facts, dice.between(1, max(1, len(facts) // 2)))]
    head = [dice.pick(_SALES_WORDS)] if dice.chance(0.25) else []
    tail = list(words)
    if len(kind.nouns) > 1 and dice.chance(0.5):
        tail.append(dice.pick([noun for noun in kind.nouns if noun != base.noun]))
    if code and dice.chance(0.7):
        head.append(code)
    middle = dice.shuffled(named)
    cut = dice.between(0, len(middle))
    parts = [*head, *middle[:cut], base.noun, *middle[cut:], *dice.shuffled(tail)]
    glue = "" if dice.chance(0.55) else " "
    shown_brand = brand + " " if dice.chance(0.8) else ""
    return (shown_brand + glue.join(parts)).strip()
