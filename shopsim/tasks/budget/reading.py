"""Deciding what a text says about the total price of the purchase (``instruction-budget-v2``, spec 03).

For every amount: is it money at all, is it the purchase total, and does it bound it from above? Then the
amount that speaks most plainly about the limit wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shopsim.tasks.budget.amounts import Amount, Item, fold_amounts
from shopsim.tasks.budget.context import After, Before, look_after, look_before
from shopsim.tasks.budget.lexicon import Cue
from shopsim.tasks.budget.text import fold
from shopsim.tasks.budget.tokens import Token, tokenize

__all__ = ["APPROXIMATE_FACTOR", "BudgetKind", "BudgetReading", "parse_budget"]

BudgetKind = Literal[
    "hard_upper", "approximate_upper", "no_budget", "lower_only", "non_total_price", "ambiguous"
]

APPROXIMATE_FACTOR = 1.10
"""What an approximate amount is multiplied by: the tolerance is the code's, never the text's."""

# Hides what binary fractions add (70 * 1.10 is 77.00000000000001) and nothing of a price.
_DECIMALS = 6
_LARGEST_AMOUNT = 100_000_000.0
_SMALLEST_BARE = 10.0
_SMALLEST_SPOKEN_SPAN = 100.0
# 65w without a price word is watts, 3w is thirty thousand.
_LARGEST_BARE_W = 99_999.0


@dataclass(frozen=True, slots=True)
class BudgetReading:
    """What a text says: the limit in yuan (None: none), its kind, the amount named, and where it stands.

    ``evidence`` is a verbatim part of the text, ``""`` for ``no_budget``; ``amount`` is None without a limit.
    """

    price_upper: float | None
    kind: BudgetKind
    amount: float | None
    evidence: str


@dataclass(frozen=True, slots=True)
class _Claim:
    """One amount that is money: what it says and how plainly."""

    kind: BudgetKind
    amount: float
    rank: int
    start: int
    end: int


def parse_budget(text: str) -> BudgetReading:
    """Read the upper price limit that ``text`` states. Never raises; a limit is finite and > 0."""
    folded = fold(text)
    items = fold_amounts(folded.text, tokenize(folded.text))
    alone = sum(not _is_filler(item) for item in items) == 1
    claims = []
    for position, item in enumerate(items):
        if isinstance(item, Amount):
            before = look_before(folded.text, items, position)
            after = look_after(folded.text, items, position)
            claim = _judge(item, before, after, alone)
            if claim is not None:
                claims.append(claim)
    if not claims:
        return BudgetReading(None, "no_budget", None, "")
    best = max(claims, key=lambda claim: claim.rank)
    evidence = folded.source(best.start, best.end)
    if best.kind == "hard_upper":
        return BudgetReading(best.amount, best.kind, best.amount, evidence)
    if best.kind == "approximate_upper":
        limit = round(best.amount * APPROXIMATE_FACTOR, _DECIMALS)
        return BudgetReading(limit, best.kind, best.amount, evidence)
    return BudgetReading(None, best.kind, None, evidence)


def _is_filler(item: Item) -> bool:
    return isinstance(item, Token) and item.cue in (Cue.FILLER, Cue.BREAK, Cue.COMMA)


def _judge(amount: Amount, before: Before, after: After, alone: bool) -> _Claim | None:
    """What one amount says about the total, or None when it is no money."""
    if not _is_money(amount, before, after, alone) or before.ordinal or _is_aside(before, after):
        return None
    value = round(amount.high, _DECIMALS)
    if not 0 < value <= _LARGEST_AMOUNT:
        return None
    kind = _kind(amount, before, after)
    return _Claim(kind, value, _rank(kind, amount, before, after), before.start, after.end)


def _is_money(amount: Amount, before: Before, after: After, alone: bool) -> bool:
    """Currency makes it money; a bare number needs a price word or a limit, and no sign of a size.

    Two bare spans are prices by themselves: 三四百 (spoken, from 100 on), and one that is the whole text.
    """
    if amount.foreign or amount.measured:
        return False
    if amount.currency:
        return True
    if before.dimension or after.dimension:
        return False
    bounded = after.upper or after.about or after.between or after.lower or after.rejected or amount.open_end
    if before.price_gap is not None and bounded:
        return True
    if before.price_gap == 0 or after.price or after.level:
        return _reads_as_amount(amount, after)
    if before.model or amount.high < _SMALLEST_BARE or (amount.unit == "w" and amount.high > _LARGEST_BARE_W):
        return False
    if amount.span and (alone or (amount.chinese and after.closed and amount.high >= _SMALLEST_SPOKEN_SPAN)):
        return True
    return bounded or after.afford or ((before.upper or before.about) and after.closed)


def _is_aside(before: Before, after: After) -> bool:
    """Whether the amount is crossed out, the face of a voucher or taken off, not to be paid.

    送100元 is given away, 送100元左右的礼物 is a budget: a bound after it tells.
    """
    bounded = after.upper or after.about
    return before.crossed_out or after.voucher or (before.discount and not bounded)


def _reads_as_amount(amount: Amount, after: After) -> bool:
    """A number right at a price word. 价格十分 and 价格一般 are none, 预算三百 is one."""
    return not amount.chinese or amount.digits >= 2 or after.closed


def _kind(amount: Amount, before: Before, after: After) -> BudgetKind:
    if before.partial or before.counted_each or after.each:
        return "non_total_price"
    if amount.vague:
        return "ambiguous"
    upper, lower = after.upper, after.lower
    if not upper and not lower:
        upper, lower = before.upper, before.lower
    if after.rejected and upper != lower:
        upper, lower = lower, upper
    if lower and not amount.span:
        return "lower_only"
    if amount.open_end:
        return "approximate_upper"
    if amount.span or after.upper:
        return "hard_upper"
    if after.about or after.level:
        return "approximate_upper"
    return "approximate_upper" if before.about and not upper else "hard_upper"


def _rank(kind: BudgetKind, amount: Amount, before: Before, after: After) -> int:
    """How plainly a claim speaks about the limit: limits before the rest, explicit ones first."""
    if kind == "lower_only":
        return 1
    if kind == "non_total_price":
        return 2
    if kind == "ambiguous":
        return 3
    if before.total:
        return 8
    if before.upper or after.upper or after.rejected:
        return 7
    if before.price_gap is not None or after.price:
        return 6
    if amount.span or kind == "approximate_upper":
        return 5
    return 4
