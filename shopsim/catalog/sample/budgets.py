"""Budgets in words: what a shopper says about money, and what an annotator recorded about it (spec 05)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shopsim.catalog.sample.dice import Dice
from shopsim.catalog.sample.model import Kind
from shopsim.catalog.sample.numerals import spoken_number

__all__ = ["APPROXIMATE_TOLERANCE", "Budget", "BudgetKind", "make_budget"]

BudgetKind = Literal[
    "hard_upper", "approximate_upper", "no_budget", "lower_only", "non_total_price", "ambiguous"
]

APPROXIMATE_TOLERANCE = 1.10

_HARD = (
    "价格在{n}元以内",
    "预算{n}元以内",
    "预算不超过{n}元",
    "价格不超过{n}块",
    "{n}块以下",
    "价格控制在{n}元以内",
    "最高{n}元",
    "预算上限{n}元",
    "别超过{n}块钱",
    "价格不高于{n}元",
    "低于{n}元",
    "不到{n}元的预算",
    "预算是{n}元",
    "只能给到{n}元",
    "总价不超过{n}元",
    "{n}元之内",
    "价格要在{n}元以下",
)
_APPROXIMATE = (
    "价格在{n}元左右",
    "{n}元左右",
    "{n}块钱左右",
    "预算{n}元上下",
    "价格大概{n}块",
    "大约{n}元",
    "预算大概{n}元左右",
    "价位在{n}左右",
    "差不多{n}元",
    "价格约{n}元",
    "{n}元出头",
    "心理价位{n}元左右",
)
_RANGES = (
    "价格在{a}-{n}元之间",
    "预算{a}到{n}元",
    "{a}元和{n}元之间",
    "价格在{a}元至{n}元之间",
    "预算在{a}~{n}元之间",
)
_LOWER = ("价格不低于{n}元", "至少{n}元的", "价格要超过{n}元")
_NON_TOTAL = ("定金不超过{n}元", "分期的话每月不超过{n}元")
_NON_TOTAL_PER = ("每{per}不超过{n}元", "大概{n}元一{per}", "每{per}价格在{n}元以内", "单价在{n}元以内")
_AMBIGUOUS = ("价格也就几{unit}块", "价钱几{unit}块的那种")
_NOTHING = ("", "", "", "价格合适就行", "价钱好商量")


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget as said and as annotated. ``limit`` is the upper price in yuan it stands for, or None."""

    kind: BudgetKind
    phrase: str
    amount: float | None
    limit: float | None

    @property
    def evidence(self) -> str:
        """The words an annotator quotes: empty when nothing was said about a price."""
        return "" if self.kind == "no_budget" else self.phrase


def make_budget(dice: Dice, kind: BudgetKind, price: float, words: Kind) -> Budget:
    """Word a budget that ``price`` (yuan) meets, of the given annotation kind."""
    if kind == "no_budget":
        return Budget(kind, dice.pick(_NOTHING), None, None)
    if kind == "hard_upper":
        return _hard(dice, price)
    if kind == "approximate_upper":
        return _approximate(dice, price)
    if kind == "lower_only":
        low = max(1, int(price * dice.uniform(0.4, 0.9)))
        return Budget(kind, dice.pick(_LOWER).format(n=low), None, None)
    if kind == "ambiguous":
        unit = "十" if price < 100 else "百" if price < 1000 else "千"
        return Budget(kind, dice.pick(_AMBIGUOUS).format(unit=unit), None, None)
    share = max(1, int(price * dice.uniform(0.03, 0.3)))
    pattern = dice.pick(_NON_TOTAL_PER if words.per else _NON_TOTAL)
    return Budget(kind, pattern.format(n=share, per=words.per), None, None)


def too_low_budget(dice: Dice, cheapest: float) -> Budget:
    """A limit that not even the cheapest choice of the product meets."""
    amount = max(1, int(cheapest * dice.uniform(0.2, 0.4)))
    return Budget("hard_upper", f"价格在{amount}元以内", float(amount), float(amount))


def _hard(dice: Dice, price: float) -> Budget:
    amount = _round_up(price * dice.uniform(1.0, 1.12))
    if dice.chance(0.15) and amount > 5:
        low = min(_round_up(amount * dice.uniform(0.5, 0.85)), amount - 1)
        return Budget("hard_upper", dice.pick(_RANGES).format(a=low, n=amount), float(amount), float(amount))
    phrase = dice.pick(_HARD).format(n=_written(dice, amount))
    return Budget("hard_upper", phrase, float(amount), float(amount))


def _approximate(dice: Dice, price: float) -> Budget:
    """Around the price: at most 7% under it, which the 10% tolerance forgives."""
    amount = _round_up(price * dice.uniform(0.93, 1.05))
    limit = amount * APPROXIMATE_TOLERANCE
    if 20 <= amount < 100 and amount % 10 == 0 and dice.chance(0.2):
        phrase = f"{spoken_number(amount)}来块钱"
    elif amount >= 100 and amount % 10 == 0 and dice.chance(0.08):
        phrase = f"预算{amount}多元"
    else:
        phrase = dice.pick(_APPROXIMATE).format(n=_written(dice, amount))
    return Budget("approximate_upper", phrase, float(amount), limit)


def _round_up(amount: float) -> int:
    """The next amount that people would name."""
    step = next(
        step
        for bound, step in ((20, 1), (100, 5), (500, 10), (1000, 50), (10_000, 100), (10**9, 500))
        if amount < bound
    )
    return int(-(-amount // step) * step)


def _written(dice: Dice, amount: int) -> str:
    """Digits mostly; spoken numerals, ``万`` or ``k`` where the number is round enough for them."""
    if amount >= 10_000 and amount % 1000 == 0 and dice.chance(0.5):
        thousands = amount // 1000 % 10
        tail = dice.pick((f"万{thousands}", None)) if thousands else "万"
        return f"{amount // 10_000}{tail}" if tail else f"{amount / 10_000:g}万"
    if 1000 <= amount < 10_000 and amount % 1000 == 0 and dice.chance(0.08):
        return f"{amount // 1000}k"
    if dice.chance(0.15) and (amount < 100 or amount % 10 == 0):
        return spoken_number(amount)
    if amount >= 1000 and dice.chance(0.06):
        return f"{amount:,}"
    return str(amount)
