"""Small raw archives: products as a crawl left them, with recorded budget answers that fit their tasks.

``raw_records(10, persona=6)`` gives ten products with one task each, the first six with a persona;
``write_raw(workspace, records)`` lays out a workspace that ``prepare`` can run on.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from shopsim.settings import Settings, SplitSettings

__all__ = [
    "annotation",
    "annotations_for",
    "persona_product",
    "price_axis",
    "raw_records",
    "standard_product",
    "write_annotations",
    "write_archive",
    "write_raw",
]


def price_axis(*prices: float) -> list[dict[str, Any]]:
    """An axis with one value a price; two distinct prices make it a price axis."""
    return [{"value": f"款式{number}", "price": price} for number, price in enumerate(prices)]


def standard_product(number: int, **changes: Any) -> dict[str, Any]:
    """A product with one standard task; ``changes`` replace top-level keys."""
    title = f"云桥 收纳盒 型号{number}"
    record = {
        "asin": f"{610000000000 + number}",
        "title": title,
        "shop_name": "云桥家居",
        "category": "家居›收纳›收纳盒",
        "pricing": [30.0 + number],
        "customization_options": {"颜色": price_axis(30.0 + number, 30.0 + number)},
        "attribute": ["加厚", "带盖"],
        "full_description": title,
        "instructions": [
            {
                "instruction": f"买一个加厚带盖的收纳盒，型号{number}，价格在{60 + number}元以内",
                "attributes": ["加厚", "带盖"],
                "instruction_options": ["款式0"],
            }
        ],
    }
    return {**record, **changes}


def persona_product(number: int, *, user: str | None = None, **changes: Any) -> dict[str, Any]:
    """A product with one persona task; ``user`` defaults to one of its own, with the usual stray comma."""
    record = standard_product(number)
    record["user_persona"] = {
        "用户ID": f"user-{number}," if user is None else user,
        "基本信息": {"性别": "女", "编号": str(number)},
        "__reasoning__": f"private {number}",
    }
    record["instructions"][0]["instruction_simple"] = f"买个收纳盒{number}，{60 + number}元以内"
    return {**record, **changes}


def raw_records(count: int, *, persona: int = 0) -> list[dict[str, Any]]:
    """``count`` products with one task each, the first ``persona`` of them persona tasks."""
    return [
        persona_product(number) if number < persona else standard_product(number) for number in range(count)
    ]


def annotation(task_id: int, **fields: Any) -> dict[str, Any]:
    """A recorded answer; by default the hard limit that :func:`persona_product` states."""
    record = {
        "task_id": task_id,
        "source_field": "instruction_simple",
        "kind": "hard_upper",
        "amount": 60 + task_id,
        "evidence": f"{60 + task_id}元以内",
    }
    return {**record, **fields}


def annotations_for(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Answers for one-task records whose persona products are numbered by position."""
    return [annotation(number) for number, record in enumerate(records) if record.get("user_persona")]


def write_archive(path: Path, records: Any) -> None:
    """Write a gzipped raw archive."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(json.dumps(records, ensure_ascii=False).encode("utf-8"), mtime=0))


def write_annotations(path: Path, answers: Iterable[Mapping[str, Any]]) -> None:
    """Write one answer a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(answer, ensure_ascii=False) + "\n" for answer in answers), "utf-8")


def write_raw(
    workspace: Path,
    records: Sequence[Mapping[str, Any]],
    answers: Iterable[Mapping[str, Any]] | None = None,
    *,
    val: int = 2,
    test: int = 2,
) -> Settings:
    """Write both sources into ``workspace`` and return settings for small splits."""
    settings = Settings(workspace=workspace, splits=SplitSettings(seed=1, val=val, test=test))
    write_archive(settings.path(settings.corpus.raw_archive), records)
    write_annotations(
        settings.path(settings.corpus.annotations), annotations_for(records) if answers is None else answers
    )
    return settings
