"""Option axes of one product and the prices behind its choices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from shopsim.catalog.sample.dice import Dice
from shopsim.catalog.sample.model import AxisWords, Choice, DraftAxis, Kind
from shopsim.catalog.sample.pools import EMOJI

__all__ = ["PriceMode", "Priced", "price_options", "shop_price", "skeleton_axes"]

PriceMode = Literal["one_axis", "flat_axis", "constant", "no_axes", "two_axes", "unknown"]

_PRICE_MISSING = 0.03
_TAGS = ("现货", "热卖", "新品", "掌柜推荐", "限量", "送运费险", "爆款", "48小时发")
_NOTES = ("拍下即发", "升级款", "加厚款", "新老包装随机发", "送赠品")


_SERVICE = AxisWords("售后服务", ("店铺质保", "延保一年", "只换不修", "七天无理由", "碎损包赔"))


@dataclass(frozen=True, slots=True)
class Priced:
    """Axes with prices, the listing tag, and whether any choice determines a price."""

    axes: tuple[DraftAxis, ...]
    pricing: tuple[float, ...]
    price_known: bool


def shop_price(amount: float) -> float:
    """``amount`` as shops round it: 9.9, 59.0, 129.0, 2399.0."""
    if amount < 20:
        return max(round(amount) - 0.1, 1.9)
    if amount < 100:
        return float(round(amount / 5) * 5) - 0.2
    if amount < 1000:
        return float(round(amount / 10) * 10 - 1)
    return float(round(amount / 100) * 100 - 1)


def skeleton_axes(dice: Dice, kind: Kind) -> tuple[DraftAxis, ...]:
    """Choose axes and values, not priced yet. Growing axes keep a run of neighbours of the pool."""
    chosen = [words for words in kind.axes if dice.chance(0.85)] or list(kind.axes[:1])
    if dice.chance(0.06):
        chosen.append(_SERVICE)
    return tuple(DraftAxis(words.name, _values(dice, words)) for words in chosen)


def _values(dice: Dice, words: AxisWords) -> tuple[Choice, ...]:
    count = min(dice.between(2, 7), len(words.values))
    if words.growth > 1 or words.name.endswith("码"):
        start = dice.between(0, len(words.values) - count)
        values = list(words.values[start : start + count])
    else:
        values = dice.some(words.values, count)
    style = dice.weighted(_STYLES)
    return tuple(_dressed(dice, value, style) for value in values)


_STYLES: tuple[tuple[str, float], ...] = (
    ("plain", 0.70),
    ("tag", 0.08),
    ("note", 0.07),
    ("emoji", 0.08),
    ("slash", 0.07),
)


def _dressed(dice: Dice, value: str, style: str) -> Choice:
    """One value the way sellers write it; some values of an axis stay plain whatever its style."""
    if style == "plain" or dice.chance(0.35):
        return Choice(value, value, None)
    dressed = {
        "tag": f"【{dice.pick(_TAGS)}】{value}",
        "note": f"{value}（{dice.pick(_NOTES)}）",
        "emoji": f"{dice.pick(EMOJI)}{value}" if dice.chance(0.6) else f"{value}{dice.pick(EMOJI)}",
        "slash": f"{value}/{dice.pick(_NOTES)}",
    }
    return Choice(dressed[style], value, None)


def price_options(
    dice: Dice, kind: Kind, axes: tuple[DraftAxis, ...], base: float, mode: PriceMode
) -> Priced:
    """Put prices on ``axes`` around ``base`` (yuan for the cheapest choice) in one of the modes."""
    growth = {words.name: words.growth for words in (*kind.axes, _SERVICE)}
    growing = [axis for axis in axes if growth[axis.name] > 1 and len(axis.choices) > 1]
    flat = [axis for axis in axes if growth[axis.name] == 1 and len(axis.choices) > 1]
    if mode == "no_axes" or not axes:
        return Priced((), (shop_price(base),), True)
    if mode == "unknown":
        pricing = (shop_price(base), shop_price(base * dice.uniform(1.3, 2.2)))
        return Priced(axes, pricing, False)
    if mode == "two_axes" and growing and flat:
        first = _priced(dice, dice.pick(growing), base, growth)
        second = _priced(dice, dice.pick(flat), base, growth)
        return _assembled(axes, (first, second), base)
    if mode == "constant" or not (growing or flat):
        return _constant(axes, shop_price(base))
    pool = growing if growing and (mode != "flat_axis" or not flat) else flat
    return _assembled(axes, (_priced(dice, dice.pick(pool), base, growth),), base)


def _priced(dice: Dice, axis: DraftAxis, base: float, growth: dict[str, float]) -> DraftAxis:
    """Prices along one axis: rising with its growth, or a surcharge here and there; never all equal."""
    rate = growth[axis.name]
    factor = 1.0
    prices: list[float | None] = []
    for _ in axis.choices:
        prices.append(shop_price(base * factor))
        if rate > 1:
            factor *= 1 + (rate - 1) * dice.uniform(0.7, 1.1)
        else:
            factor = 1 + dice.pick((0.0, 0.0, 0.08, 0.15, 0.25))
    if len(set(prices)) == 1:
        prices[-1] = shop_price(base * 1.3 + 2)
    if len(set(prices)) > 2 and dice.chance(_PRICE_MISSING):
        prices[dice.between(0, len(prices) - 1)] = None
    choices = (replace(choice, price=price) for choice, price in zip(axis.choices, prices, strict=True))
    return DraftAxis(axis.name, tuple(choices))


def _assembled(axes: tuple[DraftAxis, ...], priced: tuple[DraftAxis, ...], base: float) -> Priced:
    by_name = {axis.name: axis for axis in priced}
    result = tuple(by_name.get(axis.name, axis) for axis in axes)
    prices = sorted({choice.price for axis in priced for choice in axis.choices if choice.price is not None})
    pricing = (prices[0],) if len(prices) == 1 else (prices[0], prices[-1])
    return Priced(result, pricing or (shop_price(base),), True)


def _constant(axes: tuple[DraftAxis, ...], price: float) -> Priced:
    """Every choice of the first axis at the same price; the page shows one price."""
    first = DraftAxis(axes[0].name, tuple(replace(choice, price=price) for choice in axes[0].choices))
    return Priced((first, *axes[1:]), (price,), True)
