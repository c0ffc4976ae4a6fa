"""Raw records as a crawl leaves them: the drafts in the product JSON of spec 03, with its dirt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shopsim.catalog.sample.dice import Dice
from shopsim.catalog.sample.model import DraftAxis, ProductDraft
from shopsim.catalog.sample.tasks import TaskDraft

__all__ = ["instruction_record", "product_record"]

_BLANK_ATTRIBUTE = 55 / 4666  # spec 03
_LABELLED_ATTRIBUTES = 0.25
_NULL_AXIS = 0.03
_OTHER_SEPARATOR = 0.01
_PRICE_AS_TEXT = 0.06
_SOLD_OUT = 0.02  # a stock flag of the crawl; pages neither show nor heed it
_NULL_AXES = ("尺码", "适用床尺寸", "镜片颜色", "赠品", "安装服务")


def product_record(
    dice: Dice, draft: ProductDraft, index: int, tasks: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """The record of one product; ``index`` is its position in the crawl."""
    separator = ">" if dice.chance(_OTHER_SEPARATOR) else "›"
    labelled = dice.chance(_LABELLED_ATTRIBUTES)
    return {
        "asin": draft.asin,
        "title": draft.title,
        "shop_name": draft.shop,
        "category": separator.join((draft.kind.domain, *draft.kind.path)),
        "pricing": list(draft.pricing),
        "customization_options": _options(dice, draft, index),
        "attribute": [
            f"{fact.label}:{fact.value}" if labelled and fact.label else fact.value for fact in draft.facts
        ],
        "full_description": draft.title,
        "small_description": [],
        "images": [f"https://images.invalid/{index}/main.jpg"],
        "source_product_index": index,
        "instructions": list(tasks),
    }


def instruction_record(dice: Dice, task: TaskDraft, index: int, *, persona: bool) -> dict[str, Any]:
    """One entry of ``instructions``; the pipeline adds task ids and price limits later (spec 05)."""
    attributes = list(task.attributes)
    if dice.chance(_BLANK_ATTRIBUTE):
        attributes.insert(dice.between(0, len(attributes)), dice.pick(("", " ", "　")))
    record: dict[str, Any] = {
        "instruction_index": index,
        "instruction": task.instruction,
        "attributes": attributes,
        "instruction_options": list(task.options),
    }
    if persona:
        record["instruction_simple"] = task.simple
    return record


def _options(dice: Dice, draft: ProductDraft, index: int) -> dict[str, Any]:
    options: dict[str, Any] = {
        axis.name: _choices(dice, axis, f"https://images.invalid/{index}/{number}")
        for number, axis in enumerate(draft.axes)
    }
    if dice.chance(_NULL_AXIS):
        options.setdefault(dice.pick(_NULL_AXES), None)
    return options


def _choices(dice: Dice, axis: DraftAxis, images: str) -> list[dict[str, Any]]:
    as_text = dice.chance(_PRICE_AS_TEXT)
    return [
        {
            "value": choice.value,
            "price": str(choice.price) if as_text and choice.price is not None else choice.price,
            "image": f"{images}-{number}.jpg",
            "available": not dice.chance(_SOLD_OUT),
            "sku": f"{dice.between(10**9, 10**10 - 1)}",
        }
        for number, choice in enumerate(axis.choices)
    ]
