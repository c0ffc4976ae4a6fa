"""Sentences: how a shopper asks for a product, in full and in short."""

from __future__ import annotations

from collections.abc import Sequence

from shopsim.catalog.sample.dice import Dice
from shopsim.catalog.sample.model import Fact, Kind
from shopsim.catalog.sample.paraphrase import in_other_words

__all__ = ["FULL_LIMIT", "SIMPLE_LIMIT", "full_sentence", "simple_sentence"]

FULL_LIMIT = 189  # characters, as in the real corpus (spec 03)
SIMPLE_LIMIT = 62

_FULL_OPENERS = (
    "我想买{one}{noun}",
    "想给{buyer}买{one}{noun}",
    "帮我找{one}{noun}",
    "最近打算入手{one}{noun}",
    "麻烦帮忙挑{one}{noun}",
    "准备给{buyer}换{one}{noun}",
    "求推荐{one}{noun}",
    "需要{one}{noun}",
    "给{buyer}选{one}{noun}",
    "有没有合适的{noun}",
)
_SIMPLE_OPENERS = (
    "想买{one}{noun}",
    "给{buyer}买{one}{noun}",
    "找{one}{noun}",
    "想入手{one}{noun}",
    "帮我挑{one}{noun}",
    "求{one}{noun}",
    "推荐{one}适合{buyer}的{noun}",
    "看看{noun}",
    "{buyer}要用的{noun}",
)
_ALL_OF = (
    "要{all}的",
    "要求{all}",
    "希望是{all}的",
    "最好{all}",
    "看重{all}",
    "得满足{all}",
    "{all}这几点都要有",
)
_MORE_OF = ("另外还要{all}", "同时{all}", "而且{all}", "还得{all}", "再就是{all}")
_OPTION = ("{axis}选{value}", "{axis}要{value}", "{axis}是{value}的", "{axis}就要{value}")
_SHORT_OPTION = ("{value}的", "要{value}", "{axis}{value}")
_REASONS = (
    "之前那个用坏了",
    "家里空间不大",
    "上次买的不太满意",
    "最近要搬家",
    "打算送人",
    "急着用",
    "平时用得多",
    "第一次买没什么经验",
    "换季了正好要添置",
    "朋友推荐了几款都没看上",
    "店铺评价好一点的优先",
    "不要太花哨",
    "质量要过得去",
    "挑个耐用的",
    "做工细致一些",
    "客服态度好一点的店",
    "发货快的优先",
    "看了好几家还没定下来",
)
_SHORT_REASONS = (
    "急用",
    "周末要用",
    "第一次买",
    "换季了",
    "原来的坏了",
    "打算送人",
    "看了好几家",
    "想要耐用的",
)
_REASON_COUNTS = ((0, 3), (1, 4), (2, 3), (3, 1))
_OWN_WORDS = ((0.15, 2), (0.5, 4), (1.0, 4))
_ENDINGS = ("", "", "", "", "。", "，谢谢", "，麻烦了", "，有合适的就下单")


def full_sentence(
    dice: Dice,
    kind: Kind,
    buyers: Sequence[str],
    facts: Sequence[Fact],
    options: Sequence[tuple[str, str]],
    budget: str,
) -> str:
    """The whole wish: every property, every (axis, spoken value) option, and the budget phrase."""
    clauses = _fact_clauses(dice, facts, dice.weighted(_OWN_WORDS))
    clauses += [_option_clause(dice, _OPTION, axis, value) for axis, value in options]
    if budget:
        clauses.insert(len(clauses) if dice.chance(0.8) else 0, budget)
    clauses.insert(0, _opener(dice, _FULL_OPENERS, kind, buyers))
    wish = "，".join(clauses)
    for reason in dice.some(_REASONS, dice.weighted(_REASON_COUNTS)):
        clauses.insert(dice.between(0, len(clauses)), reason)
    text = "，".join(clauses) + dice.pick(_ENDINGS)
    return text if len(text) <= FULL_LIMIT else wish


def simple_sentence(
    dice: Dice,
    kind: Kind,
    buyers: Sequence[str],
    facts: Sequence[Fact],
    options: Sequence[tuple[str, str]],
    budget: str,
) -> str:
    """The short wish: the thing, at most a few of its properties, usually the budget."""
    opener = _opener(dice, _SIMPLE_OPENERS, kind, buyers)
    said = [in_other_words(dice, fact.value, 0.5) for fact in facts]
    clauses = ["要" + "、".join(said) + dice.pick(("", "的"))] if said else []
    clauses += [_option_clause(dice, _SHORT_OPTION, axis, value) for axis, value in options]
    clauses += [budget] if budget else []
    if dice.chance(0.4):
        clauses.insert(0, dice.pick(_SHORT_REASONS))
    while clauses and len("，".join([opener, *clauses])) > SIMPLE_LIMIT:
        clauses.pop(0)
    return "，".join([opener, *clauses])


def _opener(dice: Dice, patterns: Sequence[str], kind: Kind, buyers: Sequence[str]) -> str:
    noun = dice.pick(kind.said)
    return dice.pick(patterns).format(one="一" + kind.unit, noun=noun, buyer=dice.pick(buyers))


def _fact_clauses(dice: Dice, facts: Sequence[Fact], own_words: float) -> list[str]:
    """Two to five properties a clause, some named by their label (``适用年龄3-6岁``).

    ``own_words`` is how likely this shopper avoids the catalogue's wording, 0 to 1."""
    clauses: list[str] = []
    rest = dice.shuffled(facts)
    while rest:
        size = dice.between(2, 5)
        part, rest = rest[:size], rest[size:]
        said = "、".join(_said(dice, fact, own_words) for fact in part)
        clauses.append(dice.pick(_MORE_OF if clauses else _ALL_OF).format(all=said))
    return clauses


def _said(dice: Dice, fact: Fact, own_words: float) -> str:
    repeats = fact.label[:2] in fact.value or fact.label[-2:] in fact.value
    if fact.label and not repeats and dice.chance(0.45):
        return fact.label + fact.value
    return in_other_words(dice, fact.value, own_words)


def _option_clause(dice: Dice, patterns: Sequence[str], axis: str, value: str) -> str:
    return dice.pick(patterns).format(axis=axis.removesuffix("分类"), value=value)
