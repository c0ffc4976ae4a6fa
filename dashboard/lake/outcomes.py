"""Which wanted options and attributes a purchase met, told from the trace alone (spec 03, spec 04 A)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from shopsim.env.fuzzy import is_match, token_set_ratio

__all__ = ["attribute_outcomes", "option_outcomes"]

Row = dict[str, Any]


def option_outcomes(goals: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    """Yield one row a wanted option value of each row of ``queries/ingest_goals.sql``.

    A wanted value is matched when its fuzzy ratio with a chosen value is above 85 (spec 03). Its axis is the
    one on which it was chosen; else the one that offers it on the goal's page, on the bought product's page
    or on any other product page of the trace; else None.
    """
    for goal in goals:
        chosen = _chosen(goal["bought_options"]) if goal["purchased"] else []
        offers = _offers(goal)
        taken: set[int] = set()
        used_axes: set[str] = set()
        value: str | None
        for wanted in goal["goal_options"] or ():
            place = _best(chosen, wanted, taken)
            if place is not None:
                taken.add(place)
                chosen_axis, value = chosen[place]
                axis = chosen_axis if chosen_axis is not None else _axis_of(offers, wanted, used_axes)
            else:
                axis = _axis_of(offers, wanted, used_axes)
                value = next((v for a, v in chosen if a is not None and a == axis), None)
                chosen_axis = axis if value is not None else None
            if axis is not None:
                used_axes.add(axis)
            yield {
                **_who(goal),
                "axis": axis,
                "wanted_value": wanted,
                "chosen_axis": chosen_axis,
                "chosen_value": value,
                "matched": place is not None,
            }


def attribute_outcomes(goals: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    """Yield one row a wanted attribute of each row of ``queries/ingest_goals.sql``.

    Title and attributes of the bought product are in the trace, its description is not: what cannot be found
    is a miss only when the recorded number of matches says so, else unknown (None).
    """
    for goal in goals:
        wanted = list(goal["goal_attributes"] or ())
        matched: list[bool | None] = [False] * len(wanted)
        if goal["purchased"]:
            matched = _attribute_matches(goal, wanted)
        for attribute, met in zip(wanted, matched, strict=True):
            yield {**_who(goal), "wanted_attribute": attribute, "matched": met}


def _attribute_matches(goal: Mapping[str, Any], wanted: Sequence[str]) -> list[bool | None]:
    if goal["num_attr_matches"] == len(wanted):
        return [True] * len(wanted)
    offered = list(goal["bought_attributes"] or ())
    title = (goal["bought_name"] or "").casefold()
    found = [w.casefold() in title or any(is_match(o, w) for o in offered) for w in wanted]
    certain = goal["num_attr_matches"] == sum(found)
    return [True if met else (False if certain else None) for met in found]


def _who(goal: Mapping[str, Any]) -> Row:
    keys = ("stretch", "episode_id", "task_id", "purchased", "goal_asin", "bought_asin")
    return {key: goal[key] for key in keys}


def _chosen(text: str | None) -> list[tuple[str | None, str]]:
    """The chosen options of a purchase: an object axis -> value, or a plain list of values."""
    value = json.loads(text) if text else None
    if isinstance(value, dict):
        return [(axis, chosen) for axis, chosen in value.items() if isinstance(chosen, str)]
    if isinstance(value, list):
        return [(None, chosen) for chosen in value if isinstance(chosen, str)]
    return []


def _offers(goal: Mapping[str, Any]) -> list[dict[str, list[str]]]:
    """Options of the product pages seen: the goal's first, then the bought product's, then others."""
    pages = {page["asin"]: page["options"] for page in goal["pages"] or ()}
    order = [goal["goal_asin"], goal["bought_asin"], *pages]
    asins = dict.fromkeys(asin for asin in order if asin in pages)
    offers = []
    for asin in asins:
        value = json.loads(pages[asin])
        if isinstance(value, dict):
            lists = {axis: values for axis, values in value.items() if isinstance(values, list)}
            offers.append({axis: [v for v in vs if isinstance(v, str)] for axis, vs in lists.items()})
    return offers


def _best(chosen: Sequence[tuple[str | None, str]], wanted: str, taken: set[int]) -> int | None:
    """The place of the chosen value that matches ``wanted`` best; one that is not taken yet if possible."""
    places = [place for place, (_, value) in enumerate(chosen) if is_match(value, wanted)]
    return max(
        places, key=lambda p: (p not in taken, token_set_ratio(chosen[p][1], wanted), -p), default=None
    )


def _axis_of(offers: Sequence[Mapping[str, Sequence[str]]], wanted: str, used: set[str]) -> str | None:
    for page in offers:
        axes = [axis for axis, values in page.items() if any(is_match(value, wanted) for value in values)]
        if axes:
            return next((axis for axis in axes if axis not in used), axes[0])
    return None
