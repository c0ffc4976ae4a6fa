"""What a generated corpus looks like in numbers, to hold against those of the real one (spec 03, 05)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from shopsim.catalog.axes import parse_axes
from shopsim.catalog.product import category_nodes
from shopsim.catalog.sample.generate import SampleCorpus

__all__ = ["measure"]


def measure(corpus: SampleCorpus) -> dict[str, Any]:
    """Counts, lengths in characters, and rates of dirt, as plain JSON values."""
    personas = [record for record in corpus.records if "user_persona" in record]
    tasks = [task for record in corpus.records for task in record["instructions"]]
    persona_tasks = [task for record in personas for task in record["instructions"]]
    people = [record["user_persona"] for record in personas]
    return {
        "products": len(corpus.records),
        "kinds": len({record["category"].replace(">", "›") for record in corpus.records}),
        "domains": dict(Counter(category_nodes(record["category"])[0] for record in corpus.records)),
        "products_by_price_axes": _price_axes(corpus.records),
        "products_with_a_value_on_two_axes": sum(_repeats_a_value(record) for record in corpus.records),
        "products_without_options": sum(not parse_axes(_axes(record)) for record in corpus.records),
        "tasks": len(tasks),
        "persona_tasks": len(persona_tasks),
        "unsatisfiable": len(corpus.unsatisfiable),
        "unsatisfiable_by_reason": dict(Counter(task.reason for task in corpus.unsatisfiable)),
        "dropped_by_reason": dict(Counter(task.reason for task in corpus.dropped)),
        "budget_kinds": _final_kinds(corpus.annotations),
        "simple_characters": _spread([len(task["instruction_simple"]) for task in persona_tasks]),
        "full_characters": _spread([len(task["instruction"]) for task in tasks]),
        "users": len({person["用户ID"].rstrip(",") for person in people}),
        "largest_user": max(Counter(person["用户ID"].rstrip(",") for person in people).values(), default=0),
        "persona_characters": _spread([len(json.dumps(person, ensure_ascii=False)) for person in people]),
        "target_attributes": _spread([len(task["attributes"]) for task in tasks]),
        "target_options": _spread([len(task["instruction_options"]) for task in tasks]),
        "title_characters": _spread([len(record["title"]) for record in corpus.records]),
        "comma_user_ids": sum(person["用户ID"].endswith(",") for person in people),
        "trade_path_missing": sum("交易特征" not in person for person in people),
        "blank_target_attributes": sum(
            any(not attribute.strip() for attribute in task["attributes"]) for task in tasks
        ),
        "lost_options": sum(_lost_options(record) for record in corpus.records),
    }


def _final_kinds(annotations: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Kinds by task: the later record of a task decides."""
    final = {annotation["task_id"]: annotation["kind"] for annotation in annotations}
    return dict(Counter(final.values()).most_common())


def _spread(values: Sequence[int]) -> dict[str, float]:
    return {"mean": round(sum(values) / max(len(values), 1), 2), "max": max(values, default=0)}


def _axes(record: dict[str, Any]) -> dict[str, Any]:
    axes: dict[str, Any] = record["customization_options"]
    return axes


def _price_axes(records: Sequence[dict[str, Any]]) -> dict[str, int]:
    counts = Counter(sum(axis.is_price_axis for axis in parse_axes(_axes(record))) for record in records)
    return {str(number): counts[number] for number in sorted(counts)}


def _repeats_a_value(record: dict[str, Any]) -> bool:
    """Whether one value text stands on two axes of the product (spec 01 §3)."""
    counts = Counter(value.shown for axis in parse_axes(_axes(record)) for value in axis.values)
    return any(count > 1 for count in counts.values())


def _lost_options(record: dict[str, Any]) -> int:
    """How many target options of a product are not, letter for letter, in its catalogue entry."""
    axes = _axes(record).values()
    offered = {choice["value"] for choices in axes if choices for choice in choices}
    return sum(
        option not in offered for task in record["instructions"] for option in task["instruction_options"]
    )
