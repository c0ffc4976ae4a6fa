"""How the scripted shopper judges what a page shows: products against needs, option values against needs."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from shopsim.rollout.agents.needs import Needs, fold, mention
from shopsim.rollout.agents.skill import Skill

__all__ = ["Attention"]

_BRACKETED = re.compile(r"【[^】]*】|（[^）]*）|\([^)]*\)|\[[^\]]*\]")
_SYMBOL = re.compile(r"[^\w\s|.\-+*%]")
_BACKGROUND = 0.25


class Attention:
    """The needs that the shopper keeps in mind in one episode: which ones is drawn once, by skill."""

    def __init__(self, needs: Needs, skill: Skill, rng: random.Random) -> None:
        kept = [word for word in needs.keywords if rng.random() < skill.need_attention]
        lines = [line for line in needs.persona if rng.random() < skill.persona_attention]
        self.keywords: tuple[str, ...] = tuple(kept) or needs.keywords[:1]
        self.persona_words: tuple[str, ...] = tuple(line.text for line in lines if line.relevant)
        self._folded = tuple(fold(word) for word in self.keywords)
        self._sharp = "\n".join([*self._folded, *(line.text for line in lines if line.relevant)])
        self._vague = "\n".join(line.text for line in lines if not line.relevant)
        self.budget = needs.budget

    def wish(self, phrase: str) -> float:
        """How much ``phrase`` is wanted: 1 when asked for, less when only the persona's rest hints at it."""
        return max(mention(phrase, self._sharp), _BACKGROUND * mention(phrase, self._vague))

    def product_score(self, product: Mapping[str, Any]) -> float:
        """How well a product of a results page fits the needs; higher is better."""
        attributes = [fold(str(attribute)) for attribute in product.get("key_attributes") or ()]
        text = fold(f"{product.get('title') or ''}\n{product.get('category') or ''}") + "\n".join(attributes)
        named = sum(mention(word, text) for word in self._folded) / max(1, len(self._folded))
        wanted = sum(self.wish(attribute) for attribute in attributes)
        return 2.0 * named + wanted + self._in_persona(text) - self._price_penalty(product)

    def _in_persona(self, text: str) -> float:
        return 0.5 * sum(mention(line, text) for line in self.persona_words if len(line) <= 12)

    def _price_penalty(self, product: Mapping[str, Any]) -> float:
        lowest = lowest_price(product.get("price"))
        return 2.0 if self.budget is not None and lowest is not None and lowest > self.budget else 0.0

    def best_value(self, values: Sequence[str]) -> tuple[str | None, float]:
        """The option value that the needs ask for most clearly, and how clearly; None when they do not."""
        best, best_key = None, (0.0, 0)
        for value in values:
            core = plain_value(value)
            key = (self.wish(core), len(core))
            if key[0] > 0 and key > best_key:
                best, best_key = value, key
        return best, best_key[0]


def plain_value(value: str) -> str:
    """An option value without the seller's decoration, folded: ``【现货】月光白 | 升级款`` is ``月光白``."""
    core = _BRACKETED.sub("", value).split(" | ")[0]
    return fold(_SYMBOL.sub("", core)) or fold(value)


def lowest_price(tag: object) -> float | None:
    """The lower end of a listing tag (``"12.0"`` or ``"12.0 to 30.0"``)."""
    try:
        return float(str(tag).split(" to ", 1)[0])
    except ValueError:
        return None
