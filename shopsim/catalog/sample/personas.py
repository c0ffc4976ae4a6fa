"""Persona records: nested Chinese objects that reveal what the short wish leaves out (spec 03, 05)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shopsim.catalog.sample import persona_words as words
from shopsim.catalog.sample.dice import Dice
from shopsim.catalog.sample.paraphrase import in_other_words

__all__ = ["Interest", "make_persona"]

_STRAY_COMMA = 4562 / 4666  # spec 03
_TRADE_NESTED = 248 / 4666
_TRADE_MISSING = 1 / 4666
_WITH_REASONING = 0.08


@dataclass(frozen=True, slots=True)
class Interest:
    """One thing the person shops for: its usual name, its category path and the hints to reveal."""

    noun: str
    path: tuple[str, ...]
    hints: tuple[tuple[str, str], ...]
    price: float


def make_persona(dice: Dice, user_id: str, interests: Sequence[Interest]) -> dict[str, Any]:
    """Compose the record of one person from the things that person will be asked to buy."""
    persona: dict[str, Any] = {
        "用户ID": user_id + ("," if dice.chance(_STRAY_COMMA) else ""),
        "基本信息": _basics(dice),
        "行为特征": _behaviour(dice, interests),
        "交易特征": _trade(dice, interests),
        "偏好": _preferences(dice, interests),
        "需求背景": _background(dice, interests),
        "备注": dice.pick(words.PLACEHOLDERS),
    }
    _misplace_trade(dice, persona)
    if dice.chance(_WITH_REASONING):
        persona["__reasoning__"] = dice.pick(words.THOUGHTS)
    return persona


def _basics(dice: Dice) -> dict[str, Any]:
    age = dice.pick(words.AGES)
    return {
        "昵称": "[已脱敏]",
        "性别": dice.pick(("女", "女", "男", "未知")),
        "年龄段": age,
        "所在地": dice.pick(words.CITIES),
        "学历": dice.pick(words.EDUCATION),
        "职业": dice.pick(words.JOBS_BY_AGE[age]),
        "家庭结构": dice.pick(words.HOUSEHOLDS),
        "会员等级": dice.pick(words.LEVELS),
        "联系方式": dice.pick(words.PLACEHOLDERS),
    }


def _behaviour(dice: Dice, interests: Sequence[Interest]) -> dict[str, Any]:
    searches = []
    for interest in interests[:6]:
        hint = dice.pick(interest.hints)[1] if interest.hints else ""
        searches += [interest.noun, f"{interest.noun} {hint}".strip()]
    return {
        "活跃时段": dice.pick(words.HOURS),
        "浏览方式": dice.pick(words.CHANNELS),
        "决策习惯": dice.pick(words.DECISIONS),
        "近期搜索": list(dict.fromkeys(searches)),
        "近期浏览类目": list(dict.fromkeys("›".join(interest.path[:2]) for interest in interests[:6])),
        "收藏关键词": [hint for interest in interests[:3] for _, hint in dice.some(interest.hints, 2)],
        "日均浏览时长": f"{dice.between(5, 95)}分钟",
        "加购未购": dice.pick(words.PLACEHOLDERS),
    }


def _trade(dice: Dice, interests: Sequence[Interest]) -> dict[str, Any]:
    middle = sorted(interest.price for interest in interests)[len(interests) // 2]
    low = max(1, int(middle * dice.uniform(0.5, 0.8)))
    high = int(middle * dice.uniform(1.1, 1.6)) + 1
    return {
        "近一年订单数": dice.between(6, 180),
        "常见客单价": f"{low}-{high}元",
        "最近购买": [
            {"商品": interest.noun, "评价": dice.pick(words.SATISFACTION)} for interest in interests[:2]
        ],
        "历史评价摘录": dice.pick(words.REMARKS),
        "最近一次下单": f"{dice.between(1, 60)}天前",
        "消费层级": dice.pick(("偏实惠", "中等", "中等偏上", "看品类而定")),
        "促销敏感度": dice.pick(words.PROMOTIONS),
        "退换习惯": dice.pick(words.RETURNS),
        "常用支付方式": dice.pick(words.PLACEHOLDERS),
    }


def _background(dice: Dice, interests: Sequence[Interest]) -> str:
    nouns = "、".join(interest.noun for interest in interests[:3])
    first, second = dice.some(words.LIFE, 2)
    return f"{first}；{second}。{dice.pick(words.SUMMARIES)}。这次想看看{nouns}。"


def _preferences(dice: Dice, interests: Sequence[Interest]) -> dict[str, Any]:
    """The revealing part: labelled preferences by thing, free ones as a list and a sentence."""
    result: dict[str, Any] = {
        "风格": dice.pick(words.STYLES),
        "品牌": dice.pick(words.PLACEHOLDERS),
        "反感": dice.some(words.DISLIKES, 3),
        "摘要": "；".join(dice.some(words.SUMMARIES, 2)),
    }
    for interest in interests[:12]:
        labelled = {label: value for label, value in interest.hints if label}
        free = [in_other_words(dice, value, 0.25) for label, value in interest.hints if not label]
        entry: dict[str, Any] = dict(labelled)
        if free:
            cut = dice.between(0, len(free))
            if free[:cut]:
                entry["看重"] = free[:cut]
            if free[cut:]:
                entry["评价习惯"] = f"买{interest.noun}时常在评价里提到{'、'.join(free[cut:])}"
        if entry:
            result[interest.noun] = {**result.get(interest.noun, {}), **entry}
    return result


def _misplace_trade(dice: Dice, persona: dict[str, Any]) -> None:
    """The crawl's own error: the block one level too deep, or lost."""
    if dice.chance(_TRADE_NESTED):
        persona["行为特征"]["交易特征"] = persona.pop("交易特征")
    elif dice.chance(_TRADE_MISSING):
        del persona["交易特征"]
