"""Products: families of near-duplicates that share a type, words and options, and differ in details."""

from __future__ import annotations

from dataclasses import dataclass, replace

from shopsim.catalog.sample.dice import Dice
from shopsim.catalog.sample.model import Domain, Fact, Kind, ProductDraft
from shopsim.catalog.sample.names import NameMaker
from shopsim.catalog.sample.options import PriceMode, price_options, skeleton_axes

__all__ = ["make_products"]

_PRICE_MODES: tuple[tuple[PriceMode, float], ...] = (
    ("one_axis", 0.66),
    ("flat_axis", 0.09),
    ("constant", 0.12),
    ("no_axes", 0.05),
    ("two_axes", 0.04),
    ("unknown", 0.04),
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
    """Compose ``count`` products, spread evenly over all kinds, in random order."""
    kinds = [(domain, kind) for domain in domains for kind in domain.named_kinds()]
    brands = {domain.name: [names.brand() for _ in range(max(12, count // 60))] for domain in domains}
    products: list[ProductDraft] = []
    shares = [count // len(kinds) + (index < count % len(kinds)) for index in range(len(kinds))]
    for (domain, kind), share in zip(kinds, shares, strict=True):
        made = 0
        while made < share:
            size = min(dice.weighted(((1, 3), (2, 3), (3, 3), (4, 2), (6, 1))), share - made)
            base = _base(dice, kind)
            products += [_member(dice, names, domain, base, brands[domain.name]) for _ in range(size)]
            made += size
    return dice.shuffled(products)


def _base(dice: Dice, kind: Kind) -> _Base:
    labels = dice.some_in_order(tuple(kind.facets), dice.between(len(kind.facets) - 2, len(kind.facets)))
    facts = [Fact(label, dice.pick(kind.facets[label])) for label in labels]
    count = dice.weighted(((2, 2), (3, 4), (4, 4), (5, 3), (7, 2), (11, 1)))
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
        facts=facts + ((Fact("型号", code),) if code else ()),
        axes=priced.axes,
        pricing=priced.pricing,
        price_known=priced.price_known,
    )


def _varied(dice: Dice, kind: Kind, facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """The family's facts with one to three of them changed, dropped or joined by another one."""
    result = list(facts)
    for _ in range(dice.between(1, 3)):
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
