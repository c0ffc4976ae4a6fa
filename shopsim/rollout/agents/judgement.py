"""How the scripted shopper judges what a page shows: products against needs, option values against needs."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from shopsim.rollout.agents.needs import Needs, PersonaLine, fold, mention
from shopsim.rollout.agents.skill import Skill

__all__ = ["Attention", "lowest_price", "plain_value"]

_BRACKETED = re.compile(r"【[^】]*】|（[^）]*）|\([^)]*\)|\[[^\]]*\]")
_SYMBOL = re.compile(r"[^\w\s|.\-+*%×]")
_SHORT = 12  # longer persona lines are sentences, not properties
_NAMED_WEIGHT = 2.0
_ATTRIBUTE_WEIGHT = 0.5
_OVER_BUDGET = 2.0


class Attention:
    """The needs that the shopper keeps in mind in one episode: which ones is drawn once, by skill."""

    def __init__(self, needs: Needs, skill: Skill, rng: random.Random) -> None:
        kept = [word for word in needs.keywords if rng.random() < skill.need_attention]
        self.keywords: tuple[str, ...] = tuple(kept) or needs.keywords[:1]
        self.budget = needs.budget
        self._lines = [line for line in needs.persona if rng.random() < skill.persona_attention]
        self._instruction = fold(needs.instruction)
        self._words = tuple(fold(word) for word in self.keywords)
        self._comparable: set[str] = set()
        self._minds_prices = rng.random() < skill.price_attention

    def persona_words(self) -> list[str]:
        """Short properties that the persona names for the thing that the instruction asks for."""
        lines = self._concerning(self._instruction)
        return list(dict.fromkeys(line.text for line in lines if len(line.text) <= _SHORT))

    def product_score(self, product: Mapping[str, Any]) -> float:
        """How well a product of a results page fits the needs; higher is better."""
        attributes = [fold(str(attribute)) for attribute in product.get("key_attributes") or ()]
        name = _name(product)
        text = "\n".join([name, *attributes])
        lines = self._concerning(name + self._instruction)
        wishes = "\n".join([*self._words, *(line.text for line in lines)])
        named = sum(mention(word, text) for word in self._words) / max(1, len(self._words))
        wanted = sum(mention(attribute, wishes) for attribute in attributes)
        preferred = sum(mention(line.text, text) for line in lines if len(line.text) <= _SHORT)
        price = self._price_sense(product.get("price"))
        return _NAMED_WEIGHT * named + _ATTRIBUTE_WEIGHT * wanted + preferred + price

    def is_named(self, product: Mapping[str, Any]) -> bool:
        """Whether a product of a results page is all that the instruction names, word for word."""
        attributes = [fold(str(attribute)) for attribute in product.get("key_attributes") or ()]
        text = "\n".join([_name(product), *attributes])
        return all(mention(word, text) == 1 for word in self._words)

    def notice(self, product: Mapping[str, Any], options: Mapping[str, Sequence[str]]) -> None:
        """Remember which needs this product mentions: what no product ever mentions is no way to compare."""
        text, needs = self._product_text(product, options)
        self._comparable.update(need for need in needs if mention(need, text) > 0)

    def unmet(self, product: Mapping[str, Any], options: Mapping[str, Sequence[str]]) -> int:
        """How many needs that some product mentions are missing in this one's text and option values."""
        text, needs = self._product_text(product, options)
        return sum(mention(need, text) == 0 for need in needs & self._comparable)

    def _product_text(
        self, product: Mapping[str, Any], options: Mapping[str, Sequence[str]]
    ) -> tuple[str, set[str]]:
        """All that is known of a product, and the needs that such a product could meet."""
        name = _name(product)
        attributes = [fold(str(attribute)) for attribute in product.get("key_attributes") or ()]
        values = [plain_value(value) for offered in options.values() for value in offered]
        lines = self._concerning(name + self._instruction)
        needs = {*self._words, *(line.text for line in lines if len(line.text) <= _SHORT)}
        return "\n".join([name, *attributes, *values]), needs

    def best_value(
        self, axis: str, values: Sequence[str], product: Mapping[str, Any]
    ) -> tuple[str | None, float]:
        """The option value that the needs ask for most clearly, and how clearly (0: not at all, value None).

        What the instruction says counts before what the persona says under the axis's own name, and that
        before what it says anywhere else about such a product.
        """
        lines = self._concerning(_name(product) + self._instruction)
        about_axis = [line.text for line in lines if _same_axis(line.key, fold(axis))]
        sources = ("\n".join(self._words), "\n".join(about_axis), "\n".join(line.text for line in lines))
        for source in sources:
            best, best_key = None, (0.0, 0)
            for value in values:
                core = plain_value(value)
                key = (mention(core, source), len(core))
                if key[0] > 0 and key > best_key:
                    best, best_key = value, key
            if best is not None:
                return best, best_key[0]
        return None, 0.0

    def _concerning(self, text: str) -> list[PersonaLine]:
        return [line for line in self._lines if line.concerns(text)]

    def _price_sense(self, tag: object) -> float:
        """Near the budget is what people mean by one; a lowest price above it rules a product out."""
        lowest, highest = lowest_price(tag), highest_price(tag)
        if not self._minds_prices or self.budget is None or lowest is None or highest is None or lowest <= 0:
            return 0.0
        if lowest > self.budget:
            return -_OVER_BUDGET
        return 1.0 - min(1.0, max(0.0, math.log(self.budget / highest)))


def plain_value(value: str) -> str:
    """An option value without the seller's decoration, folded: ``【现货】月光白 | 升级款`` is ``月光白``."""
    core = _BRACKETED.sub("", value).split(" | ")[0]
    return fold(_SYMBOL.sub("", core)) or fold(value)


def lowest_price(tag: object) -> float | None:
    """The lower end of a listing tag (``"12.0"`` or ``"12.0 to 30.0"``)."""
    return _price(str(tag).split(" to ")[0])


def highest_price(tag: object) -> float | None:
    """The upper end of a listing tag."""
    return _price(str(tag).split(" to ")[-1])


def _price(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _name(product: Mapping[str, Any]) -> str:
    return fold(f"{product.get('title') or ''}\n{product.get('category') or ''}")


def _same_axis(key: str, axis: str) -> bool:
    return bool(key) and (key in axis or axis in key)
