"""Why an ended episode got the reward it got: every component, every wanted attribute and option.

The recorded figures are the truth. What a record does not hold - which attributes were met, not only how
many - is worked out again by the engine's own rules, from the bought product in the catalogue when it is at
hand, else from what the record says of it; where that disagrees with the recorded count, it says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard.analysis.recorded import as_mapping, as_texts
from shopsim.catalog import Product
from shopsim.env.fuzzy import is_match
from shopsim.env.reward import attribute_hits
from shopsim.rollout.summary import finite_number

__all__ = ["Component", "RewardExplanation", "WantedItem", "explain_reward"]


@dataclass(frozen=True, slots=True)
class Component:
    """One factor of the reward: its recorded value (None when not recorded) and what it came from."""

    name: str
    label: str
    value: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class WantedItem:
    """One wanted attribute or option. ``met`` is None when nothing was bought; ``by`` is what met it."""

    text: str
    met: bool | None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class RewardExplanation:
    """The whole explanation; ``disagreement`` names recomputed counts that differ from the recorded ones."""

    purchased: bool
    components: tuple[Component, ...]
    attributes: tuple[WantedItem, ...]
    options: tuple[WantedItem, ...]
    chosen: tuple[tuple[str, str], ...]
    disagreement: str | None = None

    @property
    def missing_attributes(self) -> tuple[str, ...]:
        """Wanted attributes that the bought product lacks."""
        return tuple(item.text for item in self.attributes if item.met is False)

    @property
    def missing_options(self) -> tuple[str, ...]:
        """Wanted options that no chosen value matches."""
        return tuple(item.text for item in self.options if item.met is False)


def explain_reward(final: Mapping[str, Any], product: Product | None = None) -> RewardExplanation:
    """Explain the ``final`` answer of an episode (spec 04 A).

    ``product`` is the bought product from a catalogue known to be the run's own; without it the record's
    name and attributes stand in.
    """
    goal, detail = as_mapping(final.get("goal")), as_mapping(final.get("reward_detail"))
    purchase = as_mapping(final.get("purchase"))
    wanted_attributes = as_texts(goal.get("attributes"))
    wanted_options = as_texts(goal.get("goal_options"))
    chosen = tuple((str(axis), str(value)) for axis, value in as_mapping(purchase.get("options")).items())
    purchased = bool(purchase)
    attributes = _attributes(wanted_attributes, product or _recorded_product(purchase), purchased)
    options = _options(wanted_options, chosen, purchased)
    return RewardExplanation(
        purchased=purchased,
        components=_components(detail, purchased, len(wanted_attributes), len(wanted_options)),
        attributes=attributes,
        options=options,
        chosen=chosen,
        disagreement=_disagreement(detail, attributes, options) if purchased else None,
    )


def _attributes(wanted: Sequence[str], product: Product, purchased: bool) -> tuple[WantedItem, ...]:
    if not purchased:
        return tuple(WantedItem(text, None) for text in wanted)
    return tuple(
        WantedItem(text, met, _met_by(text, product) if met else None)
        for text, met in zip(wanted, attribute_hits(wanted, product), strict=True)
    )


def _met_by(wanted: str, product: Product) -> str:
    offered = next((entry for entry in product.attributes if is_match(entry, wanted)), None)
    return f"attribute {offered}" if offered is not None else "title or description"


def _options(
    wanted: Sequence[str], chosen: Sequence[tuple[str, str]], purchased: bool
) -> tuple[WantedItem, ...]:
    def item(text: str) -> WantedItem:
        if not purchased:
            return WantedItem(text, None)
        match = next(((axis, value) for axis, value in chosen if is_match(value, text)), None)
        return WantedItem(text, match is not None, f"{match[0]} = {match[1]}" if match else None)

    return tuple(item(text) for text in wanted)


def _components(
    detail: Mapping[str, Any], purchased: bool, attributes: int, options: int
) -> tuple[Component, ...]:
    unbought = "nothing was bought"
    reasons = {
        "r_type": _type_reason(detail),
        "r_att": _share_reason(detail.get("num_attr_matches"), attributes, "attribute"),
        "r_option": _share_reason(detail.get("num_option_matches"), options, "option"),
        "r_price": _price_reason(detail),
    }
    labels = {"r_type": "Type", "r_att": "Attributes", "r_option": "Options", "r_price": "Price"}
    return tuple(
        Component(name, labels[name], finite_number(detail.get(name)), reason if purchased else unbought)
        for name, reason in reasons.items()
    )


def _type_reason(detail: Mapping[str, Any]) -> str:
    share = finite_number(detail.get("title_score"))
    titles = "" if share is None else f"titles share {share:.0%} of the wanted terms"
    if detail.get("category_match") is True:
        return "category paths share two or more nodes" + (f"; {titles}" if titles else "")
    return f"category paths share fewer than two nodes; {titles or 'no title share recorded'}"


def _share_reason(hits: object, wanted: int, noun: str) -> str:
    if wanted == 0:
        return f"the task wants no {noun}"
    matched = hits if isinstance(hits, int) else "?"
    return f"{matched} of {wanted} wanted {noun}{'' if wanted == 1 else 's'} met"


def _price_reason(detail: Mapping[str, Any]) -> str:
    limit = finite_number(detail.get("price_upper"))
    resolution = as_mapping(detail.get("price_resolution"))
    price = finite_number(resolution.get("price"))
    method = str(resolution.get("method") or "method not recorded")
    paid = f"price {price:g} ({method})" if price is not None else f"price not verifiable ({method})"
    if limit is None:
        return f"no budget stated; {paid}"
    if price is None:
        return f"{paid}, so the budget of {limit:g} counts as broken"
    return f"{paid}, budget {limit:g}: {'within' if price <= limit else 'over'}"


def _disagreement(
    detail: Mapping[str, Any], attributes: Sequence[WantedItem], options: Sequence[WantedItem]
) -> str | None:
    found = []
    for noun, key, items in (
        ("attribute", "num_attr_matches", attributes),
        ("option", "num_option_matches", options),
    ):
        recorded, counted = detail.get(key), sum(item.met is True for item in items)
        if isinstance(recorded, int) and recorded != counted:
            found.append(f"{noun}s: the record says {recorded} met, recomputed {counted}")
    return "; ".join(found) or None


def _recorded_product(purchase: Mapping[str, Any]) -> Product:
    return Product(
        asin=str(purchase.get("asin") or ""),
        title=str(purchase.get("name") or ""),
        shop_name="",
        brand="",
        category=str(purchase.get("category") or ""),
        pricing=(),
        axes=(),
        attributes=tuple(as_texts(purchase.get("attributes"))),
        bullets=(),
        description="",
        source_index=0,
    )
