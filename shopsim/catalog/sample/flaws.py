"""Products whose task cannot be fulfilled, made so on purpose: each real corpus has some of every sort."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from shopsim.catalog.sample.dice import Dice
from shopsim.catalog.sample.model import Choice, DraftAxis, Fact, ProductDraft
from shopsim.catalog.sample.names import NameMaker

__all__ = ["FLAW_RATES", "Flaw", "FlawReason", "lost_in_encoding", "spoil"]

FlawReason = Literal[
    "budget_below_price", "option_lost_in_encoding", "option_not_in_catalogue", "price_unverifiable"
]

# Shares of all tasks. The encoding and catalogue rates are those of the real corpus, of which most lose
# an emoji only (spec 03: 71 of 4,666) and still match; the other two are ours, large enough to be met.
FLAW_RATES: Final[tuple[tuple[FlawReason, float], ...]] = (
    ("budget_below_price", 0.008),
    ("option_lost_in_encoding", 0.004),
    ("option_not_in_catalogue", 0.002),
    ("price_unverifiable", 0.008),
)

# Letters outside the basic plane are word characters: as "?" they are gone, and the rest is too little.
_FANCY_VALUES = (
    ("𝐏𝐫𝐨尊享", "Pro尊享"),
    ("𝐌𝐚𝐱豪华", "Max豪华"),
    ("𝐍𝐞𝐨典藏", "Neo典藏"),
    ("𝐔𝐥𝐭𝐫𝐚定制", "Ultra定制"),
)
_GONE_VALUES = ("老客专享装", "停产纪念版", "往年经典款", "内购特供装")


@dataclass(frozen=True, slots=True)
class Flaw:
    """Why a task cannot be fulfilled, and the option it asks for when that is the reason.

    ``recorded`` is the value as the annotation has it, which differs from what the catalogue offers.
    """

    reason: FlawReason
    axis: str = ""
    spoken: str = ""
    recorded: str = ""


def lost_in_encoding(value: str) -> str:
    """``value`` after a trip through GBK, where emoji and fancy letters become ``?``."""
    return value.encode("gbk", "replace").decode("gbk")


def spoil(dice: Dice, names: NameMaker, draft: ProductDraft, reason: FlawReason) -> tuple[ProductDraft, Flaw]:
    """Give ``draft`` a flaw, and a property nobody else has, so that no other product can step in.

    Falls back to an impossible budget when the product has no options to spoil.
    """
    marked = replace(draft, facts=(*draft.facts, Fact("系列", names.marker(), is_marker=True)))
    if reason == "price_unverifiable":
        return _without_prices(marked), Flaw(reason)
    if reason == "budget_below_price" or not draft.axes or not draft.price_known:
        return marked, Flaw("budget_below_price")
    axis = next(iter(draft.price_axes), draft.axes[0])
    if reason == "option_not_in_catalogue":
        gone = dice.pick(_GONE_VALUES)
        return marked, Flaw(reason, axis.name, gone, gone)
    value, spoken = dice.pick(_FANCY_VALUES)
    fancy = Choice(value, spoken, axis.choices[-1].price)
    wider = DraftAxis(axis.name, (*axis.choices, fancy))
    axes = tuple(wider if other.name == axis.name else other for other in draft.axes)
    return replace(marked, axes=axes), Flaw(reason, axis.name, spoken, lost_in_encoding(value))


def _without_prices(draft: ProductDraft) -> ProductDraft:
    axes = tuple(
        DraftAxis(axis.name, tuple(replace(choice, price=None) for choice in axis.choices))
        for axis in draft.axes
    )
    low = draft.pricing[0]
    return replace(draft, axes=axes, pricing=(low, round(low * 1.6 + 5, 1)), price_known=False)
