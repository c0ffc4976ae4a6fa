"""The reward of a purchase (``shopsimulator-paper-reward-v2``, spec 03): pure functions, typed result.

r_loose  = r_type * (attribute hits + option hits + r_price) / (attributes + options + 1)
r_strict = r_type * r_att * r_option * r_price          (the primary reward)
r_success = 1 when the four components are all exactly 1.

Nothing asks whether the target product was bought: another product that meets everything succeeds, and
the target with a wrong option or over budget does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from shopsim.catalog import Product, category_nodes, resolve_price
from shopsim.catalog.pricing import PriceResolution
from shopsim.env.fuzzy import is_match
from shopsim.env.terms import TermExtractor
from shopsim.formats import REWARD_VERSION
from shopsim.tasks.goals import Goal

__all__ = [
    "SHARE_WITHOUT_TERMS",
    "TITLE_SHARE_THRESHOLD",
    "RewardBreakdown",
    "attribute_hits",
    "category_set",
    "option_hits",
    "product_text",
    "score_purchase",
    "shares_category",
    "title_share",
    "type_reward",
    "within_budget",
    "zero_reward",
]

TITLE_SHARE_THRESHOLD = 0.2
"""Titles that share more than this part of the goal's terms are of one kind."""

SHARE_WITHOUT_TERMS = 0.2
"""What the share counts as when the goal's title has no terms."""

_SHARED_NODES = 2
_LOW_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class RewardBreakdown:
    """Every figure of one ending, in the order of the wire format.

    ``attribute_hits`` and ``option_hits`` say which wanted entries were met, in the goal's order; they
    explain the counts and are not part of the wire format.
    """

    termination_reason: str
    r_type: float
    category_match: bool
    title_score: float
    num_attr_matches: int
    num_option_matches: int
    r_att: float
    r_option: float
    r_price: float
    r_loose: float
    r_strict: float
    r_success: float
    target_asin_match: bool
    price_verifiable: bool
    price_upper: float | None
    price_resolution: PriceResolution | None
    attribute_hits: tuple[bool, ...] = ()
    option_hits: tuple[bool, ...] = ()

    @property
    def reward(self) -> float:
        """The primary reward, ``r_strict``."""
        return self.r_strict

    def to_wire(self) -> dict[str, Any]:
        """The ``reward_detail`` object of a final answer, with every key of spec 03."""
        return {
            "reward_version": REWARD_VERSION,
            "termination_reason": self.termination_reason,
            "r_type": self.r_type,
            "category_match": self.category_match,
            "title_score": self.title_score,
            "num_attr_matches": self.num_attr_matches,
            "num_option_matches": self.num_option_matches,
            "r_att": self.r_att,
            "r_option": self.r_option,
            "r_price": self.r_price,
            "r_loose": self.r_loose,
            "r_strict": self.r_strict,
            "r_success": self.r_success,
            "target_asin_match": self.target_asin_match,
            "price_verifiable": self.price_verifiable,
            "price_upper": self.price_upper,
            "price_resolution": self.price_resolution.to_wire() if self.price_resolution else None,
        }


def score_purchase(
    goal: Goal, product: Product, selected: Mapping[str, str], terms: TermExtractor
) -> RewardBreakdown:
    """Score the purchase of ``product`` with ``selected`` options (axis name -> value as shown)."""
    category_match = shares_category(goal.category, product.category)
    share = title_share(terms.terms(goal.name), terms.terms(product.title))
    r_type = type_reward(category_match, share)
    met_attributes = attribute_hits(goal.attributes, product)
    met_options = option_hits(goal.goal_options, list(selected.values()))
    price = resolve_price(product, selected)
    r_att, r_option = _ratio(met_attributes), _ratio(met_options)
    r_price = 1.0 if within_budget(goal.price_upper, price) else 0.0
    hits = sum(met_attributes) + sum(met_options)
    wanted = len(met_attributes) + len(met_options)
    return RewardBreakdown(
        termination_reason="purchase",
        r_type=r_type,
        category_match=category_match,
        title_score=share,
        num_attr_matches=sum(met_attributes),
        num_option_matches=sum(met_options),
        r_att=r_att,
        r_option=r_option,
        r_price=r_price,
        r_loose=r_type * (hits + r_price) / (wanted + 1),
        r_strict=r_type * r_att * r_option * r_price,
        r_success=1.0 if r_type == r_att == r_option == r_price == 1.0 else 0.0,
        target_asin_match=product.asin == goal.asin,
        price_verifiable=price.verifiable,
        price_upper=goal.price_upper,
        price_resolution=price,
        attribute_hits=met_attributes,
        option_hits=met_options,
    )


def zero_reward(goal: Goal, termination_reason: str) -> RewardBreakdown:
    """The breakdown of an ending without a purchase: every component is 0, nothing is verified."""
    return RewardBreakdown(
        termination_reason=termination_reason,
        r_type=0.0,
        category_match=False,
        title_score=0.0,
        num_attr_matches=0,
        num_option_matches=0,
        r_att=0.0,
        r_option=0.0,
        r_price=0.0,
        r_loose=0.0,
        r_strict=0.0,
        r_success=0.0,
        target_asin_match=False,
        price_verifiable=False,
        price_upper=goal.price_upper,
        price_resolution=None,
        attribute_hits=(False,) * len(goal.attributes),
        option_hits=(False,) * len(goal.goal_options),
    )


@lru_cache(maxsize=1 << 14)
def category_set(category: str) -> frozenset[str]:
    """The distinct nodes of a category path, trimmed and casefolded."""
    return frozenset(node.casefold() for node in category_nodes(category))


def shares_category(wanted: str, bought: str) -> bool:
    """Whether two category paths share two or more distinct nodes."""
    return len(category_set(wanted) & category_set(bought)) >= _SHARED_NODES


def title_share(wanted: frozenset[str], bought: frozenset[str]) -> float:
    """The part of the wanted title's terms that the bought title has; 0.2 when there are none."""
    if not wanted:
        return SHARE_WITHOUT_TERMS
    return len(wanted & bought) / len(wanted)


def type_reward(category_match: bool, share: float) -> float:
    """``r_type`` from the category match and the title share: 1.0, 0.5, 0.1 or 0.0."""
    if category_match or share > TITLE_SHARE_THRESHOLD:
        return 1.0
    if share == 0:
        return 0.0
    return 0.1 if share < _LOW_SHARE else 0.5


def product_text(product: Product) -> str:
    """Title, bullets and description joined by spaces and casefolded: where attributes may stand."""
    return " ".join((product.title, *product.bullets, product.description)).casefold()


def attribute_hits(wanted: Sequence[str], product: Product) -> tuple[bool, ...]:
    """For each wanted attribute, whether the product's attributes or its text have it."""
    text = product_text(product)
    return tuple(
        entry.casefold() in text or any(is_match(offered, entry) for offered in product.attributes)
        for entry in wanted
    )


def option_hits(wanted: Sequence[str], chosen: Iterable[str]) -> tuple[bool, ...]:
    """For each wanted option value, whether one of the chosen values matches it.

    One chosen value may meet several wanted ones, and a value wanted twice counts twice.
    """
    values = list(chosen)
    return tuple(any(is_match(value, entry) for value in values) for entry in wanted)


def within_budget(limit: float | None, price: PriceResolution) -> bool:
    """Whether the purchase keeps the limit; with a limit, an unverifiable price never does."""
    if limit is None:
        return True
    return price.price is not None and price.verifiable and price.price <= limit


def _ratio(hits: Sequence[bool]) -> float:
    return sum(hits) / len(hits) if hits else 1.0
