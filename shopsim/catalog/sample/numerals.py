"""Amounts of money as people write them: digits or spoken Chinese numerals."""

from __future__ import annotations

__all__ = ["chinese_number", "spoken_number"]

_DIGITS = "零一二三四五六七八九"
_UNITS = ("", "十", "百", "千")


def chinese_number(value: int) -> str:
    """``value`` (1 to 99,999,999) in full Chinese numerals: 250 -> ``二百五十``, 20 -> ``二十``."""
    if value >= 10_000:
        high, low = divmod(value, 10_000)
        gap = "零" if 0 < low < 1000 else ""
        return chinese_number(high) + "万" + (gap + chinese_number(low) if low else "")
    text, pending_zero = "", False
    for power in (3, 2, 1, 0):
        digit = value // 10**power % 10
        if digit:
            text += ("零" if pending_zero and text else "") + _DIGITS[digit] + _UNITS[power]
            pending_zero = False
        else:
            pending_zero = True
    return text[1:] if text.startswith("一十") else text


def spoken_number(value: int) -> str:
    """The shorter spoken form: 250 -> ``两百五``, 1800 -> ``一千八``, 2000 -> ``两千``."""
    text = str(value)
    zeros = len(text) - len(text.rstrip("0"))
    significant = len(text) - zeros
    lead = "两" if text[0] == "2" else _DIGITS[int(text[0])]
    unit = {3: "百", 4: "千", 5: "万"}.get(len(text), "")
    if unit and significant == 1:
        return lead + unit
    if unit and significant == 2:
        return lead + unit + _DIGITS[int(text[1])]
    return chinese_number(value)
