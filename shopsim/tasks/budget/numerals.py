"""Numbers in digits, in Chinese and mixed: ``1,200`` ``1.1万`` ``3k`` ``1万2`` ``两百五`` ``四五百``.

Rules beyond plain arithmetic:

- a last digit after 百, 千 or 万 counts in the next lower unit: 两百五 = 250, 一千八 = 1800, 1万2 = 12000;
- two neighbouring digits are a span: 四五百 = 400 to 500, 十五六 = 15 to 16 (also 三五十 = 30 to 50);
- 几 after a number reaches the top of its decade: 十几 = 20, 二十几 = 30, 一百几十 = 200 (a price of 19.9
  is 十几块, so the top is the next round number); 几十, 几百, 数百, 上百 alone are vague;
- 多, 来, 余, 把 after a number leave it open upwards: 二十来(块), 1200多(元), 百把(块);
- 百八十 and 千八百 are idioms for "about a hundred", "about a thousand".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Numeral", "read_numeral"]

_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_SMALL_UNITS = {"十": 10, "百": 100, "千": 1000, "k": 1000}
_LARGE_UNITS = {"万": 10_000, "w": 10_000, "亿": 100_000_000}
_UNITS = _SMALL_UNITS | _LARGE_UNITS

_ARABIC = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?")
_CHINESE_DIGITS = re.compile(r"[零〇一二两三四五六七八九]+")
_LATIN_UNIT = re.compile(r"[kw](?![a-z])")
_COUNTED = re.compile(r"[平斤米个件只支根条片张包袋瓶盒罐桶卷双对枚颗粒把本天晚月年次期人位份台套部辆组箱]")
_IDIOM = re.compile(r"(百)八十|(千)八百|(万)八千")
_OPEN = re.compile(
    r"[多来余把](?=万?(?:块|元|钱|rmb))|[多余](?=万?(?:左右|上下|以内|之内|以下|的|点|一点|些|吧|了|就|能|[，。,;；、!！?？\n]|$))"
)
_BARE_UNIT = re.compile(r"[百千万](?=[元块多来余把十]|以内|以下|之内|左右|上下|出头)|(?<=[过超破于])[百千万]")
_VAGUE_BEFORE = re.compile(r"[上成数好]$")
_MAX_DIGITS = 9
_FEW = -1.0


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number read from ``text[start:end]``: ``low`` to ``high`` (equal unless it is a span).

    ``open_end``: it says "and somewhat more"; ``vague``: it names no amount at all (几十); ``unit`` is the
    Latin multiplier (``k``, ``w``) if one was used; ``chinese``: written without any digit.
    """

    start: int
    end: int
    low: float
    high: float
    open_end: bool = False
    vague: bool = False
    unit: str = ""
    chinese: bool = False


class _Sum:
    """The running value of a numeral: sections below 万, a total above, and a digit still without unit."""

    def __init__(self) -> None:
        self.low = self.high = 0.0
        self.section_low = self.section_high = 0.0
        self.last_unit = 0
        self.after_zero = False
        self.vague = False
        self.pending: tuple[float, float] | None = None
        self.pending_is_digit = False

    def unit(self, size: int) -> None:
        low, high = self.pending or (1.0, 1.0)
        if low == _FEW and size >= _LARGE_UNITS["万"] and self.section_high:
            self._few(1)
            low, high, self.pending = 1.0, 1.0, None
        if low == _FEW:
            self._few(size)
        elif size >= _LARGE_UNITS["万"]:
            whole_low = self.low + self.section_low + (low if self.pending else 0.0)
            whole_high = self.high + self.section_high + (high if self.pending else 0.0)
            self.low, self.high = (whole_low or 1.0) * size, (whole_high or 1.0) * size
            self.section_low = self.section_high = 0.0
        else:
            self.section_low += low * size
            self.section_high += high * size
        self.last_unit, self.after_zero, self.pending = size, False, None

    def finish(self) -> tuple[float, float]:
        if self.pending is not None:
            low, high = self.pending
            short = self.pending_is_digit and self.last_unit >= 100 and not self.after_zero
            size = self.last_unit // 10 if short else 1
            if low == _FEW:
                self._few(size)
            else:
                self.section_low += low * size
                self.section_high += high * size
        return self.low + self.section_low, self.high + self.section_high

    def _few(self, size: int) -> None:
        """几 in the place of ``size``: up to the next round number, or vague when nothing precedes it."""
        self.vague = self.vague or not (self.high or self.section_high)
        self.section_low += size
        self.section_high += 10 * size


def read_numeral(text: str, start: int) -> Numeral | None:
    """Read the longest number that begins at ``start``, or None.

    ``text`` is folded (see :mod:`.text`). Numbers of more than nine digits are identifiers, not amounts.
    """
    if idiom := _IDIOM.match(text, start):
        value = float(_UNITS[next(unit for unit in idiom.groups() if unit)])
        return Numeral(start, _skip_open(text, idiom.end()), value, value, open_end=True, chinese=True)
    first = text[start : start + 1]
    if first in ("百", "千", "万") and not _BARE_UNIT.match(text, start):
        return None
    if first == "数" and text[start + 1 : start + 2] not in _UNITS:
        return None
    total = _Sum()
    total.vague = first == "数" or (first in "百千万" and bool(_VAGUE_BEFORE.search(text[:start])))
    position, unit = _read_parts(text, start + (first == "数"), total)
    if position == start:
        return None
    low, high = total.finish()
    return _close(text, start, position, low, high, total.vague, unit)


def _read_parts(text: str, start: int, total: _Sum) -> tuple[int, str]:
    """Feed digits and units to ``total``; returns where it stopped and the Latin unit used."""
    position, latin = start, ""
    while position < len(text):
        char = text[position]
        if char in _SMALL_UNITS or char in _LARGE_UNITS:
            if not _unit_fits(text, position, start):
                break
            latin = char if char in "kw" else latin
            total.unit(_UNITS[char])
            position += 1
            continue
        end = _read_digits(text, position, total)
        if end == position:
            break
        position = end
    return position, latin


def _unit_fits(text: str, position: int, start: int) -> bool:
    char = text[position]
    if char in "kw":
        return position > start and text[position - 1].isdigit() and bool(_LATIN_UNIT.match(text, position))
    # 千万别超过 is "by no means", not ten millions.
    return not (position == start and text.startswith("千万", position))


def _begins_another(text: str, position: int, total: _Sum) -> bool:
    """Whether a digit belongs to the next number: 三十|四十, 两百|三百."""
    unit = text[position + 1 : position + 2]
    return 0 < total.last_unit <= _SMALL_UNITS.get(unit, 0) < _LARGE_UNITS["万"]


def _read_digits(text: str, position: int, total: _Sum) -> int:
    """Read one coefficient (digits, Chinese digits, 几) into ``total``; returns its end."""
    if _begins_another(text, position, total):
        return position
    if total.pending is not None:
        if text[position] == "几" and total.pending[0] != _FEW and not total.last_unit:
            total.section_low, total.section_high = total.pending
            total.pending, total.pending_is_digit = (_FEW, _FEW), False
            return position + 1
        return position
    if text[position] == "几":
        total.pending, total.pending_is_digit = (_FEW, _FEW), True
        return position + 1
    if arabic := _ARABIC.match(text, position):
        return _read_arabic(arabic, total)
    if chinese := _CHINESE_DIGITS.match(text, position):
        return _read_chinese(text, position, chinese[0], total)
    return position


def _read_arabic(found: re.Match[str], total: _Sum) -> int:
    digits = found[0].replace(",", "")
    whole = digits.partition(".")[0]
    if len(whole) > _MAX_DIGITS or (len(whole) > 1 and whole.startswith("0")):
        return found.start()
    value = float(digits)
    total.pending, total.pending_is_digit = (value, value), len(digits) == 1
    return found.end()


def _read_chinese(text: str, position: int, digits: str, total: _Sum) -> int:
    if total.last_unit:
        if digits[0] in "零〇":
            total.after_zero = True
            digits = digits[1:]
            position += 1
            if not digits:
                return position
        elif not _span(digits[:2]) and _is_counted(text, position, digits[0]):
            return position
    span = _span(digits[:2])
    if span and (total.last_unit or len(digits) == 2):
        total.pending, total.pending_is_digit = span, True
        return position + 2
    if total.last_unit:
        total.pending, total.pending_is_digit = (float(_DIGITS[digits[0]]),) * 2, True
        return position + 1
    if len(digits) > _MAX_DIGITS:
        return position
    value, end = float("".join(str(_DIGITS[digit]) for digit in digits)), position + len(digits)
    total.pending_is_digit = len(digits) == 1
    if text.startswith("点", end) and (decimals := _CHINESE_DIGITS.match(text, end + 1)):
        value = float(f"{value:.0f}." + "".join(str(_DIGITS[digit]) for digit in decimals[0][:6]))
        end, total.pending_is_digit = decimals.end(), False
    total.pending = (value, value)
    return end


def _is_counted(text: str, position: int, digit: str) -> bool:
    """Whether a last digit begins the next word: 一百|一平米, 三百|两个."""
    after = text[position + 1 : position + 2]
    return (digit == "一" and bool(_COUNTED.match(after))) or (digit == "两" and after not in _UNITS)


def _span(digits: str) -> tuple[float, float] | None:
    """Two neighbouring digits (四五, 一两) or 三五 as a span, else None."""
    if len(digits) < 2:
        return None
    low, high = _DIGITS[digits[0]], _DIGITS[digits[1]]
    if low and (high == low + 1 or (low, high) == (3, 5)):
        return float(low), float(high)
    return None


def _close(text: str, start: int, end: int, low: float, high: float, vague: bool, unit: str) -> Numeral:
    after = _skip_open(text, end)
    open_end = after > end
    if after < len(text) and open_end and text[after] == "万":
        low, high, after = low * 10_000, high * 10_000, after + 1
    written = text[start:end]
    chinese = not any(char.isdigit() and char.isascii() for char in written)
    tens_idiom = written == "百十"
    return Numeral(start, after, low, high, open_end or tens_idiom, vague, unit, chinese)


def _skip_open(text: str, end: int) -> int:
    found = _OPEN.match(text, end)
    return found.end() if found else end
