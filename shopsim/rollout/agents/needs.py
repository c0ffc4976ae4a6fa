"""What a task asks for, read from the public text alone: key words, budget, persona lines."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from shopsim.catalog import flatten_text
from shopsim.tasks import parse_budget

__all__ = ["Needs", "PersonaLine", "fold", "mention", "read_needs"]

_CLAUSE = re.compile(r"[，,。；;！!？?、\n]+")
#: Words around a wish that name no product: who asks, how many, in which tone.
_FILLER = re.compile(
    r"我想|想要|想给|想|准备|打算|最近|帮忙|帮我|麻烦|请问|请|有没有|合适的?|推荐|需要|要求|希望|最好"
    r"|看看|看重|入手|适合|要用的?|自己|给|同时|另外|而且|还要|谢谢|^要|^是|的"
    r"|(?:购买|选购|挑选|买|求|找|挑)?一[台件个款条双套盒包瓶张把只支副袋箱罐本床顶块份部辆对杯盆]"
    r"|(?:购买|选购|挑选|买|求|找|挑)[点些台件个款条双套盒包瓶张把只支副袋箱罐本床顶块份部辆对杯盆]?"
)
_PRICE_TALK = re.compile(r"价格|预算|价位|价钱|总价|心理|只能|最高")
_PRIVATE_KEYS = ("用户ID", "用户id")
_WHITE_SPACE = re.compile(r"\s+")
_WORD_CHARACTER = re.compile(r"[a-z0-9.]")

#: How much of a phrase's character pairs must occur for it to count as partly mentioned.
_PARTLY = 0.6


@dataclass(frozen=True, slots=True)
class PersonaLine:
    """One text of a persona, folded. ``key`` is the name it stands under, ``topics`` all names above that."""

    text: str
    key: str
    topics: tuple[str, ...]

    def concerns(self, text: str) -> bool:
        """Whether the line is about what folded ``text`` names: one of its topics occurs there."""
        return any(mention(topic, text) == 1 for topic in self.topics)


@dataclass(frozen=True, slots=True)
class Needs:
    """``keywords`` are the pieces of the instruction without filler and money, ``budget`` is in yuan."""

    instruction: str
    keywords: tuple[str, ...]
    persona: tuple[PersonaLine, ...]
    budget: float | None


def read_needs(instruction: str, persona: Mapping[str, Any]) -> Needs:
    """Read an instruction and a persona."""
    budget = parse_budget(instruction)
    text = instruction.replace(budget.evidence, "，") if budget.evidence else instruction
    pieces: list[str] = []
    for clause in _CLAUSE.split(text):
        if not _PRICE_TALK.search(clause):
            pieces += [piece for piece in _FILLER.sub(" ", clause).split() if len(piece) > 1]
    lines = dict.fromkeys(_persona_lines(persona, ()))
    return Needs(instruction, tuple(dict.fromkeys(pieces)), tuple(lines), budget.price_upper)


def _persona_lines(persona: Mapping[str, Any], topics: tuple[str, ...]) -> Iterator[PersonaLine]:
    for name, value in persona.items():
        if name in _PRIVATE_KEYS:
            continue
        key = fold(str(name))
        if isinstance(value, Mapping):
            yield from _persona_lines(value, (*topics, key))
            continue
        for text in flatten_text(value):
            parts = _CLAUSE.split(fold(text))
            yield from (PersonaLine(part, key, topics) for part in parts if len(part) > 1)


@lru_cache(maxsize=65536)
def fold(text: str) -> str:
    """Text as it is compared: NFKC, casefolded, without white space."""
    return _WHITE_SPACE.sub("", unicodedata.normalize("NFKC", text).casefold())


def mention(phrase: str, text: str) -> float:
    """How clearly folded ``text`` mentions folded ``phrase``: 1 word for word, less for a part, or 0.

    Latin words and numbers count only as a whole: ``1m`` is not in ``11m``.
    """
    if not phrase:
        return 0.0
    start = text.find(phrase)
    while start >= 0:
        if _stands_alone(text, start, start + len(phrase)):
            return 1.0
        start = text.find(phrase, start + 1)
    if len(phrase) < 3:
        return 0.0
    pairs = [first + second for first, second in pairwise(phrase)]
    share = sum(pair in text for pair in pairs) / len(pairs)
    return share * _PARTLY if share >= _PARTLY else 0.0


def _stands_alone(text: str, start: int, end: int) -> bool:
    before = start > 0 and _WORD_CHARACTER.match(text[start]) and _WORD_CHARACTER.match(text[start - 1])
    after = end < len(text) and _WORD_CHARACTER.match(text[end - 1]) and _WORD_CHARACTER.match(text[end])
    return not before and not after
