"""From tokens to amounts: a number with its currency, and spans of two amounts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeGuard

from shopsim.tasks.budget.lexicon import Cue
from shopsim.tasks.budget.tokens import Token

__all__ = ["Amount", "Item", "fold_amounts"]

_PREFIX_CURRENCY = frozenset({"¥", "rmb", "人民币", "cny"})
_SUBUNITS = frozenset("毛角")
_PIECE_CURRENCY = frozenset("块元")


@dataclass(frozen=True, slots=True)
class Amount:
    """A number that may be money.

    ``high`` is the upper end of a span, ``span`` says that it is one. ``currency`` and ``foreign`` say
    which money it names, ``measured`` that it counts something else. ``open_end``: "and somewhat more".
    """

    start: int
    end: int
    high: float
    span: bool = False
    open_end: bool = False
    vague: bool = False
    currency: bool = False
    foreign: bool = False
    measured: bool = False
    unit: str = ""
    chinese: bool = False
    digits: int = 1


Item = Token | Amount

_ONE_DIGIT = 10  # 5、6百 is one span


def fold_amounts(text: str, tokens: list[Token]) -> list[Item]:
    """Replace numbers with their currency or unit by amounts, and pairs of amounts by spans."""
    items: list[Item] = []
    position = 0
    while position < len(tokens):
        token = tokens[position]
        if token.cue is not Cue.NUMBER:
            items.append(token)
            position += 1
            continue
        amount, position = _read_amount(text, tokens, position)
        if items and _is_prefix_currency(text, items, amount):
            items.pop()
            amount = replace(amount, currency=True)
        items.append(amount)
    return _fold_spans(text, items)


def _read_amount(text: str, tokens: list[Token], position: int) -> tuple[Amount, int]:
    """The amount whose number stands at ``position``, and the position after it."""
    numeral = tokens[position].numeral
    assert numeral is not None
    amount = Amount(
        start=numeral.start,
        end=numeral.end,
        high=numeral.high,
        span=numeral.low != numeral.high,
        open_end=numeral.open_end,
        vague=numeral.vague,
        unit=numeral.unit,
        chinese=numeral.chinese,
        digits=numeral.end - numeral.start,
    )
    position += 1
    if position == len(tokens):
        return amount, position
    after = tokens[position]
    word = text[after.start : after.end]
    if after.cue is Cue.CURRENCY:
        scale = 0.1 if word in _SUBUNITS else 1.0
        amount = replace(amount, end=after.end, currency=True, high=amount.high * scale)
        return (
            _read_decimal(text, tokens, position, amount)
            if word in _PIECE_CURRENCY
            else _trim(text, tokens, position + 1, amount)
        )
    if after.cue is Cue.FOREIGN:
        return replace(amount, end=after.end, foreign=True), position + 1
    if after.cue is Cue.MEASURE:
        return replace(amount, end=after.end, measured=True), position + 1
    return amount, position


def _trim(text: str, tokens: list[Token], position: int, amount: Amount) -> tuple[Amount, int]:
    """Swallow further currency words (``元人民币``, ``毛钱``)."""
    while position < len(tokens) and tokens[position].cue is Cue.CURRENCY:
        word = text[tokens[position].start : tokens[position].end]
        if word in _PREFIX_CURRENCY - {"人民币", "rmb"}:
            break
        amount = replace(amount, end=tokens[position].end)
        position += 1
    return amount, position


def _read_decimal(text: str, tokens: list[Token], position: int, amount: Amount) -> tuple[Amount, int]:
    """``9块9``, ``三块五``, ``19元9角``: one digit after the currency is a tenth, unless it counts."""
    following = tokens[position + 1] if position + 1 < len(tokens) else None
    if following is None or following.numeral is None or amount.span or amount.vague:
        return _trim(text, tokens, position + 1, amount)
    numeral = following.numeral
    after = tokens[position + 2] if position + 2 < len(tokens) else None
    word = text[after.start : after.end] if after else ""
    single = following.length == 1 and 0 < numeral.high < 10
    if not single or (after and after.cue in (Cue.MEASURE, Cue.JOIN) and word not in _SUBUNITS):
        return _trim(text, tokens, position + 1, amount)
    if word in _PIECE_CURRENCY:
        return amount, position + 1
    end = after.end if after and word in _SUBUNITS else following.end
    decimal = replace(amount, high=round(amount.high + numeral.high / 10, 2), end=end)
    return decimal, position + (3 if end != following.end else 2)


def _is_prefix_currency(text: str, items: list[Item], amount: Amount) -> bool:
    last = items[-1]
    if not isinstance(last, Token) or last.cue is not Cue.CURRENCY:
        return False
    return text[last.start : last.end] in _PREFIX_CURRENCY and last.end <= amount.start


def _fold_spans(text: str, items: list[Item]) -> list[Item]:
    """Join ``A - B``, ``A 到 B``, ``A 和 B 之间`` to one amount whose ``high`` is the larger."""
    folded: list[Item] = []
    for position, item in enumerate(items):
        if (
            isinstance(item, Amount)
            and len(folded) >= 2
            and isinstance(low := folded[-2], Amount)
            and isinstance(joint := folded[-1], Token)
            and _joins(low, joint, item, items[position + 1 : position + 3])
        ):
            del folded[-2:]
            folded.append(_span(low, item))
        elif isinstance(item, Amount) and folded and _touches(folded[-1], item):
            folded[-1] = _span(folded[-1], item)
        else:
            folded.append(item)
    return folded


def _span(low: Amount, high: Amount) -> Amount:
    return replace(
        high,
        start=low.start,
        high=max(low.high, high.high),
        span=True,
        currency=low.currency or high.currency,
        digits=max(low.digits, high.digits),
        chinese=low.chinese and high.chinese,
    )


def _touches(last: Item, high: Amount) -> TypeGuard[Amount]:
    """``三十四十块``, ``十块二十块``: a larger amount right after another is the end of a span."""
    if not isinstance(last, Amount) or last.end != high.start or last.high >= high.high:
        return False
    alike = (last.chinese and high.chinese) or (last.currency and high.currency)
    return alike and not (last.measured or high.measured or last.vague)


def _joins(low: Amount, joint: Token, high: Amount, after: list[Item]) -> bool:
    if low.measured and not high.measured:
        return False
    if joint.cue is Cue.JOIN:
        return True
    if joint.cue is not Cue.LIST or high.measured:
        return False
    between = any(isinstance(item, Token) and item.cue is Cue.BETWEEN for item in after)
    return between or high.currency or low.high < _ONE_DIGIT <= high.high
