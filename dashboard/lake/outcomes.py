"""Which wanted options and attributes a purchase met, told from the trace alone (spec 03, spec 04 A)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final

import pyarrow as pa

from shopsim.env.fuzzy import is_match, token_set_ratio

__all__ = ["attribute_outcomes", "option_outcomes"]

_OPTIONS: Final = pa.schema(
    [
        ("question", pa.int64()),
        ("place", pa.int64()),
        ("axis", pa.string()),
        ("wanted_value", pa.string()),
        ("chosen_axis", pa.string()),
        ("chosen_value", pa.string()),
        ("matched", pa.bool_()),
    ]
)
_ATTRIBUTES: Final = pa.schema(
    [
        ("question", pa.int64()),
        ("place", pa.int64()),
        ("wanted_attribute", pa.string()),
        ("matched", pa.bool_()),
    ]
)

Question = Mapping[str, Any]
Row = tuple[Any, ...]


def option_outcomes(questions: Iterable[Question]) -> pa.Table:
    """One row a wanted option value of each row of ``queries/ingest_questions_asked.sql``.

    A wanted value is matched when its fuzzy ratio with a chosen value is above 85 (spec 03). Its axis is the
    one on which it was chosen; else the one that offers it on the goal's page, on the bought product's page
    or on any other product page of the trace; else None.
    """
    return _table(_OPTIONS, (row for question in questions for row in _option_rows(question)))


def attribute_outcomes(questions: Iterable[Question]) -> pa.Table:
    """One row a wanted attribute of each row of ``queries/ingest_questions_asked.sql``.

    Title and attributes of the bought product are in the trace, its description is not: what cannot be found
    is a miss only when the recorded number of matches says so, else unknown (None).
    """
    return _table(_ATTRIBUTES, (row for question in questions for row in _attribute_rows(question)))


def _table(schema: pa.Schema, rows: Iterable[Row]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema
    )


def _option_rows(question: Question) -> Iterator[Row]:
    chosen = _chosen(question["bought_options"]) if question["purchased"] else []
    offers = _Offers(question)
    taken: set[int] = set()
    used_axes: set[str] = set()
    value: str | None
    for number, wanted in enumerate(question["goal_options"] or ()):
        place = _best(chosen, wanted, taken)
        if place is not None:
            taken.add(place)
            chosen_axis, value = chosen[place]
            axis = chosen_axis if chosen_axis is not None else offers.axis_of(wanted, used_axes)
        else:
            axis = offers.axis_of(wanted, used_axes)
            value = next((v for a, v in chosen if a is not None and a == axis), None)
            chosen_axis = axis if value is not None else None
        if axis is not None:
            used_axes.add(axis)
        yield question["question"], number, axis, wanted, chosen_axis, value, place is not None


def _attribute_rows(question: Question) -> Iterator[Row]:
    wanted = question["goal_attributes"] or ()
    matched: Sequence[bool | None] = [False] * len(wanted)
    if question["purchased"]:
        matched = _attribute_matches(question, wanted)
    for number, (attribute, met) in enumerate(zip(wanted, matched, strict=True)):
        yield question["question"], number, attribute, met


def _attribute_matches(question: Question, wanted: Sequence[str]) -> list[bool | None]:
    if question["num_attr_matches"] == len(wanted):
        return [True] * len(wanted)
    offered = list(question["bought_attributes"] or ())
    title = (question["bought_name"] or "").casefold()
    found = [w.casefold() in title or any(_matches(o, w) for o in offered) for w in wanted]
    certain = question["num_attr_matches"] == sum(found)
    return [True if met else (False if certain else None) for met in found]


def _chosen(text: str | None) -> list[tuple[str | None, str]]:
    """The chosen options of a purchase: an object axis -> value, or a plain list of values."""
    value = json.loads(text) if text else None
    if isinstance(value, dict):
        return [(axis, chosen) for axis, chosen in value.items() if isinstance(chosen, str)]
    if isinstance(value, list):
        return [(None, chosen) for chosen in value if isinstance(chosen, str)]
    return []


class _Offers:
    """Options of the product pages seen: the goal's first, then the bought product's, then others."""

    def __init__(self, question: Question) -> None:
        self._question = question

    @cached_property
    def _pages(self) -> dict[str, str]:
        return {page["asin"]: page["options"] for page in self._question["pages"] or ()}

    def axis_of(self, wanted: str, used: set[str]) -> str | None:
        """The axis that offers the wanted value, preferably one that no other wanted value uses."""
        for asin in dict.fromkeys((self._question["goal_asin"], self._question["bought_asin"], *self._pages)):
            options = _options(self._pages[asin]) if asin in self._pages else {}
            axes = [axis for axis, values in options.items() if any(_matches(v, wanted) for v in values)]
            if axes:
                return next((axis for axis in axes if axis not in used), axes[0])
        return None


@lru_cache(maxsize=1 << 16)
def _matches(offered: str, wanted: str) -> bool:
    return is_match(offered, wanted)


@lru_cache(maxsize=4096)
def _options(text: str) -> dict[str, list[str]]:
    value = json.loads(text)
    lists = value.items() if isinstance(value, dict) else ()
    return {axis: [v for v in vs if isinstance(v, str)] for axis, vs in lists if isinstance(vs, list)}


def _best(chosen: Sequence[tuple[str | None, str]], wanted: str, taken: set[int]) -> int | None:
    """The place of the chosen value that matches ``wanted`` best; one that is not taken yet if possible."""
    places = [place for place, (_, value) in enumerate(chosen) if _matches(value, wanted)]
    return max(
        places, key=lambda p: (p not in taken, token_set_ratio(chosen[p][1], wanted), -p), default=None
    )
