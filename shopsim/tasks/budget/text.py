"""Folding a text so that width, case, script variant and blanks do not matter, with a way back."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

__all__ = ["FoldedText", "fold"]

# Traditional forms and signs that would otherwise fold to something else.
_SPECIAL = {
    "￥": "¥",
    "圆": "圆",
    "塊": "块",
    "錢": "钱",
    "萬": "万",
    "億": "亿",
    "兩": "两",
    "幾": "几",
    "價": "价",
    "預": "预",
    "總": "总",
    "過": "过",
    "內": "内",
    "間": "间",
    "於": "于",
    "約": "约",
    "㎡": "平",
    "−": "-",
    "–": "-",
    "—": "-",
    "―": "-",
    "‐": "-",
    "～": "~",
    "〜": "~",
    "∼": "~",
    "，": "，",
    "壹": "一",
    "贰": "二",
    "叁": "三",
    "肆": "四",
    "伍": "五",
    "陆": "六",
    "柒": "七",
    "捌": "八",
    "玖": "九",
    "拾": "十",
    "佰": "百",
    "仟": "千",
}
_INVISIBLE = frozenset("\u200b\u200c\u200d\u2060\ufeff\u00ad")
_WORD_CHAR = re.compile(r"[a-z0-9]")
# "1，200元": a full-width comma groups digits only where a clause cannot end before it.
_WIDE_GROUP = re.compile(r"(?<![0-9])[0-9]{1,3}(?:，[0-9]{3})+(?![0-9])")
_NUMBER_IS_DUE = re.compile(r"(?:算|格|位|价|过|于|在|约|为|是|到|至|概|内|¥|:|\()$")
_ONE_AS_DASH = re.compile(r"(?<=[0-9])一(?=[0-9])")
_BLANK_GROUP = re.compile(r"(?<=[0-9]) (?=000(?![0-9]))")
_WIDE_DIGITS = frozenset("０１２３４５６７８９")


@dataclass(frozen=True, slots=True)
class FoldedText:
    """``text`` is the folded form; ``offsets[i]`` is where its character i came from in ``original``."""

    original: str
    text: str
    offsets: tuple[int, ...]

    def source(self, start: int, end: int) -> str:
        """The original characters behind ``text[start:end]``."""
        if start >= end:
            return ""
        return self.original[self.offsets[start] : self.offsets[end - 1] + 1]


def fold(original: str) -> FoldedText:
    """Fold width, case and blanks.

    A blank stays only between two Latin letters or digits, where it separates (``iphone 15``). Circled
    and raised digits are no numbers and stay as they are.
    """
    pairs: list[tuple[str, int]] = []
    for offset, char in enumerate(original):
        pairs.extend((folded, offset) for folded in _fold_char(char))
    kept = [pair for i, pair in enumerate(pairs) if pair[0] != " " or _separates(pairs, i)]
    text = "".join(char for char, _ in kept)
    offsets = [offset for _, offset in kept]
    text = _ONE_AS_DASH.sub("-", text)
    text = _narrow_group_commas(original, text, offsets)
    return _drop_group_blanks(original, text, offsets)


def _fold_char(char: str) -> str:
    if char in _SPECIAL:
        return _SPECIAL[char]
    if char in _INVISIBLE:
        return ""
    if char == "\n" or char == "\r":
        return "\n"
    if char.isspace():
        return " "
    if unicodedata.category(char) == "No":
        return char
    return unicodedata.normalize("NFKC", char).lower()


def _separates(pairs: list[tuple[str, int]], position: int) -> bool:
    """Whether the blank at ``position`` is the first of its run and stands between word characters."""
    if position == 0 or not _WORD_CHAR.match(pairs[position - 1][0]):
        return False
    after = next((char for char, _ in pairs[position:] if char != " "), "")
    return bool(_WORD_CHAR.match(after))


def _narrow_group_commas(original: str, text: str, offsets: list[int]) -> str:
    """Turn full-width commas inside a grouped number into plain ones."""
    chars = list(text)
    for found in _WIDE_GROUP.finditer(text):
        first = found[0].split("，")[0]
        wide = original[offsets[found.start()]] in _WIDE_DIGITS
        if wide or (len(first) <= 2 and _NUMBER_IS_DUE.search(text[: found.start()])):
            chars[found.start() : found.end()] = found[0].replace("，", ",")
    return "".join(chars)


def _drop_group_blanks(original: str, text: str, offsets: list[int]) -> FoldedText:
    """Join ``12 000`` to one number."""
    drop = {found.start() for found in _BLANK_GROUP.finditer(text)}
    kept = [i for i in range(len(text)) if i not in drop]
    return FoldedText(original, "".join(text[i] for i in kept), tuple(offsets[i] for i in kept))
