"""From a place in a text to the longest known word there and what it says.

Most words stand in :mod:`.words`; here are those that count only in certain surroundings. ``PLAIN`` words
say nothing: they protect text that would be misread if it were cut in two.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from enum import Enum, auto

from shopsim.tasks.budget import words

__all__ = ["Cue", "match_word"]


class Cue(Enum):
    """What a token says about an amount before or after it."""

    NUMBER = auto()
    CURRENCY = auto()
    FOREIGN = auto()  # money, but not yuan
    PRICE = auto()  # the text speaks of the price
    TOTAL = auto()  # ... of everything together
    UPPER = auto()  # at most
    LOWER = auto()  # at least
    GREATER = auto()  # more than: at most when negated
    LESS = auto()  # less than: at least when negated
    NOT = auto()
    UNDER = auto()  # after an amount: at most
    OVER = auto()  # after an amount: at least
    ABOUT = auto()
    AROUND = auto()  # after an amount: about
    BETWEEN = auto()  # after a span
    JOIN = auto()  # inside a span
    LIST = auto()  # between amounts, a span when money follows
    REJECT = auto()  # after an amount: such prices are refused
    LEVEL = auto()  # after an amount: a price level
    AFFORD = auto()  # after an amount: what the money must do
    PART = auto()  # not the purchase total
    DISCOUNT = auto()  # before an amount that is taken off, given away or crossed out
    VOUCHER = auto()  # after an amount that is the face of something
    PER = auto()  # for one piece or unit
    MEASURE = auto()  # a unit that is no money
    DIMENSION = auto()  # the text speaks of a size, weight, age ...
    ORDINAL = auto()
    FILLER = auto()
    BREAK = auto()  # a sentence ends
    COMMA = auto()  # a clause ends
    PLAIN = auto()
    WORD = auto()  # Latin word or model number


@dataclass(frozen=True, slots=True)
class _Entry:
    """A word with the surroundings it needs: ``before`` ends, ``after`` begins what must stand there."""

    word: str
    cue: Cue
    before: re.Pattern[str] | None = None
    after: re.Pattern[str] | None = None

    def fits(self, text: str, start: int) -> bool:
        end = start + len(self.word)
        if not text.startswith(self.word, start):
            return False
        if _LATIN.fullmatch(self.word) and _LATIN.match(text, end):
            return False
        if self.after is not None and not self.after.match(text, end):
            return False
        return self.before is None or bool(self.before.search(text[max(0, start - 4) : start]))


_LATIN = re.compile(r"[a-z]+")
_NUMBER = r"(?=[0-9一二两三四五六七八九十百千万几])"
_CLOSE = r"(?=$|[的，,。;；、!！?？\n)）]|左右|上下|以内|之内|以下|就|吧|也|能|都|起)"

_TABLES = {
    Cue.CURRENCY: words.CURRENCY,
    Cue.FOREIGN: words.FOREIGN,
    Cue.PRICE: words.PRICE,
    Cue.TOTAL: words.TOTAL,
    Cue.UPPER: words.UPPER,
    Cue.LOWER: words.LOWER,
    Cue.GREATER: words.GREATER,
    Cue.LESS: words.LESS,
    Cue.NOT: words.NOT,
    Cue.UNDER: words.UNDER,
    Cue.OVER: words.OVER,
    Cue.ABOUT: words.ABOUT,
    Cue.AROUND: words.AROUND,
    Cue.BETWEEN: words.BETWEEN,
    Cue.JOIN: "- -- ~ ~~ 到 至 →",
    Cue.LIST: words.LIST,
    Cue.REJECT: words.REJECT,
    Cue.LEVEL: words.LEVEL,
    Cue.AFFORD: words.AFFORD,
    Cue.PART: words.PART,
    Cue.DISCOUNT: words.DISCOUNT,
    Cue.VOUCHER: words.VOUCHER,
    Cue.MEASURE: " ".join((words.MEASURE, words.QUANTITIES, words.PIECES, words.SETS, words.SPANS_OF_TIME)),
    Cue.DIMENSION: words.DIMENSION,
    Cue.FILLER: words.FILLER,
    Cue.BREAK: "。 ; ； ! ！ ? ？ …",
    Cue.COMMA: "， ,",
    Cue.PLAIN: words.PLAIN,
}

# (word, cue, what must stand before, what must stand after)
_GUARDED: tuple[tuple[str, Cue, str, str], ...] = (
    ("元", Cue.CURRENCY, "", r"(?!锂|素|催化|方程|乙|猪|旦|宇宙|气|老|青|店|纸币|硬币|钞|大钞|机|二次|复始)"),
    (
        "块",
        Cue.CURRENCY,
        "",
        r"(?!装|入|肥皂|香皂|皂|巧克力|蛋糕|饼|布|木|砖|电池|屏|手表|毛巾|抹布|地毯|地垫|玻璃|积木|拼|豆腐|糖|面膜|硬盘|腹肌|石|板)",
    ),
    ("毛", Cue.CURRENCY, r"[0-9一二两三四五六七八九]$", r"(?=钱|以内|以下|之内|左右|$|[，,。\n])"),
    ("角", Cue.CURRENCY, r"[0-9一二两三四五六七八九]$", r"(?=钱|以内|以下|之内|左右|$|[，,。\n])"),
    ("价", Cue.PRICE, "", r"(?=[在为是约大差不别最低小超:0-9一二两三四五六七八九十百千万几])"),
    ("花", Cue.PRICE, "", r"(?=[0-9一二两三四五六七八九十百千万几不最约大差个超到¥])"),
    ("掏", Cue.PRICE, "", _NUMBER),
    ("付", Cue.PRICE, "", _NUMBER),
    ("出", Cue.PRICE, "", r"(?=[0-9一二两三四五六七八九十百千万几到])"),
    ("给到", Cue.PRICE, "", _NUMBER),
    ("不", Cue.UPPER, "", r"(?=过[百千万])"),
    ("不过", Cue.UPPER, "", r"(?=[0-9一二两三四五六七八九十百千万])"),
    ("过", Cue.GREATER, "", r"(?=[百千万])"),
    ("比", Cue.FILLER, "", _NUMBER),
    ("不到", Cue.LESS, r"(?:^|[^买找达用看想得等收拿做受感见碰遇])$", ""),
    ("不足", Cue.LESS, "", _NUMBER),
    ("不满", Cue.LESS, "", _NUMBER),
    ("约", Cue.ABOUT, "", ""),
    ("近", Cue.ABOUT, "", _NUMBER),
    ("以内", Cue.PLAIN, "", r"(?=的?(?:加|减|乘|除|数|口算|四则))"),
    ("内", Cue.UNDER, "", r"(?![外容页径裆增里层芯服网涵蒙陆心科])"),
    ("起", Cue.OVER, "", r"(?=$|[的，,。;；、!！?？\n)])"),
    ("左右", Cue.PLAIN, "", r"(?=手|脚|两|开门|对称|耳|声道|互|滑)"),
    ("上下", Cue.PLAIN, "", r"(?=铺|床|装|身|分|班|两|层|学|楼|游|册)"),
    ("多", Cue.AROUND, "", r"(?=点|一点|些|$|[，,。;；、!！?？\n]|的|左右)"),
    ("余", Cue.AROUND, "", r"(?=$|[，,。;；、\n])"),
    ("第", Cue.ORDINAL, "", _NUMBER),
    ("双", Cue.ORDINAL, "", r"(?=1[12](?![0-9])|十[一二])"),
    ("前", Cue.ORDINAL, "", _NUMBER),
    ("\n", Cue.BREAK, "", ""),
)


def _per_words() -> list[_Entry]:
    """``每斤``, ``/个``, ``一平米``, and ``一个`` where nothing is counted after it (20元一个)."""
    bulk = [*words.QUANTITIES.split(), *words.SPANS_OF_TIME.split()]
    single = words.PIECES.split()
    entries = [
        _Entry(prefix + unit, Cue.PER)
        for prefix in ("每", "每一", "/")
        for unit in (*bulk, *single, *words.SETS.split())
    ]
    entries += [_Entry(one + unit, Cue.PER) for one in ("一", "1") for unit in bulk]
    close = re.compile(_CLOSE)
    entries += [_Entry(one + unit, Cue.PER, after=close) for one in ("一", "1") for unit in single]
    return entries


def _build() -> dict[str, list[_Entry]]:
    """All entries by first character: longest first, and guarded before unguarded of one length."""
    entries = [
        _Entry(word, cue, re.compile(before) if before else None, re.compile(after) if after else None)
        for word, cue, before, after in _GUARDED
    ]
    entries += _per_words()
    entries += [_Entry(word, cue) for cue, table in _TABLES.items() for word in table.split()]
    entries.sort(key=lambda entry: (-len(entry.word), entry.before is None and entry.after is None))
    index: dict[str, list[_Entry]] = defaultdict(list)
    for entry in entries:
        index[entry.word[0]].append(entry)
    return dict(index)


_INDEX = _build()


def match_word(text: str, start: int) -> tuple[Cue, int] | None:
    """What the longest known word at ``start`` says and where it ends, or None."""
    for entry in _INDEX.get(text[start], ()):
        if entry.fits(text, start):
            return entry.cue, start + len(entry.word)
    return None
