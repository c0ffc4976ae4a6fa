"""What stands before and after an amount, as far as it speaks about that amount."""

from __future__ import annotations

import re
from dataclasses import dataclass

from shopsim.tasks.budget.amounts import Amount, Item
from shopsim.tasks.budget.lexicon import Cue
from shopsim.tasks.budget.tokens import Token

__all__ = ["After", "Before", "look_after", "look_before"]

# How many meaningless characters may stand between a cue and its amount.
_NEAR = 2
_FAR = 10

_ENDS_AN_AMOUNT = frozenset({Cue.UNDER, Cue.OVER, Cue.AROUND, Cue.BETWEEN, Cue.LEVEL, Cue.REJECT})
_CLOSES = frozenset({Cue.BREAK, Cue.COMMA})
_CLOSES_OR_FILLS = _CLOSES | {Cue.FILLER}
_LEVEL_WORDS = ("价位", "价格段", "价格带")


@dataclass(slots=True)
class Before:
    """Cues before an amount. ``price_gap``: meaningless characters since the price word, None without one."""

    start: int
    price_gap: int | None = None
    total: bool = False
    upper: bool = False
    lower: bool = False
    about: bool = False
    partial: bool = False
    discount: bool = False
    crossed_out: bool = False
    dimension: bool = False
    ordinal: bool = False
    model: bool = False
    counted_each: bool = False


@dataclass(slots=True)
class After:
    """Cues after an amount. ``closed``: nothing but punctuation or filler follows directly."""

    end: int
    upper: bool = False
    lower: bool = False
    about: bool = False
    between: bool = False
    each: bool = False
    voucher: bool = False
    price: bool = False
    level: bool = False
    afford: bool = False
    rejected: bool = False
    dimension: bool = False
    closed: bool = False


def look_before(text: str, items: list[Item], position: int) -> Before:
    """Walk left from the amount at ``position`` to the start of its clause."""
    amount = items[position]
    found = Before(start=amount.start)
    gap = 0
    for index in range(position - 1, -1, -1):
        item = items[index]
        if isinstance(item, Amount):
            if item.currency or item.high >= 10:
                break
            gap += item.end - item.start
            continue
        if item.cue in _CLOSES:
            _carry_over(items, index, found)
            break
        if item.cue in _ENDS_AN_AMOUNT and index and isinstance(items[index - 1], Amount):
            break
        if item.cue is Cue.FILLER:
            continue
        understood = (
            item.cue in _SAYS_NOTHING
            or _note_bound(items, index, item, gap, found)
            or _note_aside(text, items, index, item, gap, found)
        )
        gap += 0 if understood else item.length
    return found


_SAYS_NOTHING = frozenset({Cue.NOT, Cue.JOIN, Cue.CURRENCY, Cue.AFFORD})


def _note_bound(items: list[Item], index: int, token: Token, gap: int, found: Before) -> bool:
    """Record a word that speaks of the price or bounds it; False when the token does neither."""
    cue = token.cue
    if cue in (Cue.PRICE, Cue.TOTAL) and gap <= _FAR:
        if found.price_gap is None and not found.dimension:
            found.price_gap = gap
            found.start = min(found.start, token.start)
        found.total = found.total or cue is Cue.TOTAL
    elif cue in (Cue.UPPER, Cue.LOWER, Cue.GREATER, Cue.LESS) and gap <= _NEAR:
        _note_limit(items, index, token, found)
    elif cue is Cue.ABOUT and gap <= _FAR:
        found.about, found.start = True, min(found.start, token.start)
    else:
        return False
    return True


def _note_aside(text: str, items: list[Item], index: int, token: Token, gap: int, found: Before) -> bool:
    """Record a word by which the amount is no money or not the total; False when it is none."""
    cue = token.cue
    touches = isinstance(items[index + 1], Amount)
    if cue is Cue.DIMENSION:
        found.dimension = found.dimension or found.price_gap is None
    elif cue is Cue.PART and gap <= (1 if found.price_gap is None else 0) and not found.total:
        found.partial = not _is_waived(text, token)
    elif gap:
        return False
    elif cue in (Cue.DISCOUNT, Cue.UNDER) and not _is_waived(text, token):
        _note_discount(text, token, items[index + 1], found)
    elif cue is Cue.PER and text[token.start] != "/":
        found.counted_each = True
    elif cue is Cue.ORDINAL and touches:
        found.ordinal = True
    else:
        found.model = found.model or (cue is Cue.WORD and touches)
        return False
    return True


def _note_limit(items: list[Item], index: int, token: Token, found: Before) -> None:
    """At most or at least; the word nearest to the amount decides."""
    if found.upper or found.lower:
        return
    negated = _is_negated(items, index)
    if token.cue is Cue.GREATER:
        upper = negated
    elif token.cue is Cue.LESS:
        upper = not negated
    else:
        upper = token.cue is Cue.UPPER
    found.upper, found.lower = upper, not upper
    found.start = min(found.start, token.start)


def _is_negated(items: list[Item], index: int) -> bool:
    """Whether only filler stands between a negation and the word at ``index``."""
    for item in reversed(items[:index]):
        if not isinstance(item, Token):
            return False
        if item.cue is Cue.NOT:
            return True
        if item.cue not in (Cue.FILLER, Cue.PRICE, Cue.TOTAL, Cue.AFFORD):
            return False
    return False


def _note_discount(text: str, token: Token, following: Item, found: Before) -> None:
    """An amount crossed out (over filler: 原价是100) or taken off (directly: 便宜50, not 便宜的50)."""
    if text.startswith("后", token.end) or found.price_gap is not None:
        return
    if text.startswith(_CROSSED_OUT, token.start):
        found.crossed_out = True
    elif isinstance(following, Amount) or text[token.end : following.end] == "了":
        found.discount = True


def _is_waived(text: str, token: Token) -> bool:
    """``免押金``, ``含运费``: the word says that this part is not asked for, or is in the total."""
    return text[token.start - 1 : token.start] in ("免", "含", "无", "括", "包") if token.start else False


def _carry_over(items: list[Item], comma: int, found: Before) -> None:
    """``预算的话，三百``: a clause that only names the price speaks about the next amount."""
    comma_token = items[comma]
    if found.price_gap is not None or (isinstance(comma_token, Token) and comma_token.cue is Cue.BREAK):
        return
    for item in reversed(items[:comma]):
        if isinstance(item, Token) and item.cue is Cue.FILLER:
            continue
        if isinstance(item, Token) and item.cue in (Cue.PRICE, Cue.TOTAL):
            found.price_gap = 0
            continue
        if isinstance(item, Amount) or item.cue not in _CLOSES:
            found.price_gap = None
        return


_CROSSED_OUT = (
    *("原价", "市场价", "吊牌价", "专柜价", "门市价", "划线价", "面值"),
    *("差价", "相差", "误差", "浮动", "上浮", "补差"),
)


def look_after(text: str, items: list[Item], position: int) -> After:
    """Walk right from the amount at ``position`` over the words that belong to it."""
    following = items[position + 1 : position + 2]
    closed = not following or (isinstance(following[0], Token) and following[0].cue in _CLOSES_OR_FILLS)
    found = After(end=items[position].end, closed=closed)
    for index in range(position + 1, len(items)):
        item = items[index]
        if isinstance(item, Amount) or item.cue in _CLOSES:
            break
        if item.cue is Cue.FILLER:
            continue
        if not _note_after(text, items, index, item, found):
            break
        found.end = item.end
    return found


def _note_after(text: str, items: list[Item], index: int, token: Token, found: After) -> bool:
    """Record one token; False when it no longer speaks about the amount."""
    cue = token.cue
    if cue in _SPEAKS_OF_THE_NEXT and _number_follows(items, index):
        return False
    if cue is Cue.NOT:
        found.rejected = bool(_REFUSAL_ENDS.match(text, token.end))
        return False
    if cue in (Cue.PRICE, Cue.TOTAL) and text.startswith(_LEVEL_WORDS, token.start):
        cue = Cue.LEVEL
    if cue is Cue.DISCOUNT and not _FACE_VALUE.match(text, token.start):
        return False
    if cue is Cue.PART and not text.startswith(_PAID_APART, token.start):
        return False
    flag = _AFTER_FLAGS.get(cue)
    if flag is None:
        return False
    setattr(found, flag, True)
    return True


_AFTER_FLAGS = {
    Cue.UNDER: "upper",
    Cue.UPPER: "upper",
    Cue.LESS: "upper",
    Cue.OVER: "lower",
    Cue.LOWER: "lower",
    Cue.AROUND: "about",
    Cue.ABOUT: "about",
    Cue.BETWEEN: "between",
    Cue.PER: "each",
    Cue.VOUCHER: "voucher",
    Cue.DISCOUNT: "voucher",
    Cue.PART: "each",
    Cue.PRICE: "price",
    Cue.TOTAL: "price",
    Cue.LEVEL: "level",
    Cue.AFFORD: "afford",
    Cue.REJECT: "rejected",
    Cue.DIMENSION: "dimension",
}
# Before an amount these speak about it; after one they do so only when no other amount follows.
_SPEAKS_OF_THE_NEXT = frozenset({Cue.UPPER, Cue.LOWER, Cue.LESS, Cue.ABOUT, Cue.PRICE, Cue.TOTAL})
_FACE_VALUE = re.compile(r"(?:优惠|话费|补贴|面值|返现|差价)(?=$|[的，,。;；、\n])|(?:话费|面值)")
_PAID_APART = (
    *("定金", "订金", "押金", "首付", "预付", "保证金", "月供", "月租", "运费", "邮费"),
    *("快递费", "配送费", "安装费", "会员费", "年费", "月费"),
)
_REFUSAL_ENDS = re.compile(r"了?(?:$|[，,。;；!！\n]|推荐|考虑|给我|买|看|选|发)")


_LEADS_TO_A_NUMBER = frozenset(
    {Cue.FILLER, Cue.PRICE, Cue.TOTAL, Cue.NOT, Cue.GREATER, Cue.LESS, Cue.UPPER, Cue.LOWER, Cue.CURRENCY}
)


def _number_follows(items: list[Item], index: int) -> bool:
    for item in items[index + 1 :]:
        if isinstance(item, Amount):
            return True
        if item.cue not in _LEADS_TO_A_NUMBER:
            return False
    return False
