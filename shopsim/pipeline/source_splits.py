"""Step 4, provenance: which official group of the source archive a task came from (spec 05).

Rule. The archive concatenates the official evaluation products and then the official training products, and
marks neither. The groups are therefore cut by product index, counted before any filtering: the first
``28%`` of the products (rounded down) are ``eval``, the rest ``train``; each is crossed with the mode of the
task. 28% is the share of evaluation tasks published for the real corpus (1,274 of 4,526 persona tasks). An
archive whose border is known passes it as ``eval_products``. The ids are written out, so that nothing
that reads the groups repeats the rule. They say where a task came from and nothing else: experiments use
the project splits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from shopsim.errors import UsageError
from shopsim.pipeline.identity import RawTask
from shopsim.pipeline.project_splits import ids_sha256

__all__ = ["SOURCE_SPLITS_SCHEMA", "build_source_splits"]

SOURCE_SPLITS_SCHEMA: Final = "shopsimulator-source-splits-v2"
_EVAL_PERCENT: Final = 28


def build_source_splits(
    tasks: Sequence[RawTask], raw_products: int, *, eval_products: int | None = None
) -> dict[str, Any]:
    """The document ``source_splits.json`` for the ``tasks`` left after filtering.

    ``raw_products`` counts the unfiltered archive, ``eval_products`` is the known border, if any.
    """
    border = raw_products * _EVAL_PERCENT // 100 if eval_products is None else eval_products
    if not 0 <= border <= raw_products:
        raise UsageError(f"eval_products: must lie between 0 and {raw_products}, not {border}")
    ranges = {"eval": (0, border), "train": (border, raw_products)}
    groups = {}
    for mode in ("persona", "standard"):
        for name, (start, stop) in ranges.items():
            ids = [
                task.task_id
                for task in tasks
                if task.is_persona == (mode == "persona") and start <= task.product_index < stop
            ]
            groups[f"{mode}_{name}"] = {
                "product_index_start": start,
                "product_index_stop": stop,
                "task_ids": ids,
                "count": len(ids),
                "sha256": ids_sha256(ids),
            }
    return {
        "schema_version": SOURCE_SPLITS_SCHEMA,
        "purpose": "provenance only; experiments use the project splits",
        "policy": {
            "rule": "official groups by raw product index: [0, eval_products) eval, the rest train",
            "eval_products": border,
            "eval_percent": _EVAL_PERCENT if eval_products is None else None,
            "raw_products": raw_products,
        },
        "groups": groups,
    }
