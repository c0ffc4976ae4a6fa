"""Step 4, the papers: dataset manifest, exclusions and annotation audit as JSON objects (spec 05)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from shopsim.formats import BUDGET_PARSER_VERSION, DATASET_SCHEMA, VARIANT_PRICE_VERSION
from shopsim.pipeline import layout
from shopsim.pipeline.annotations import AnswerSet
from shopsim.pipeline.answers import TOLERANCE
from shopsim.pipeline.budgets import Budget
from shopsim.pipeline.exclusions import Exclusion
from shopsim.pipeline.identity import RawTask
from shopsim.pipeline.source import Source

__all__ = ["audit_document", "count_all", "count_kinds", "dataset_manifest", "exclusion_document"]

EXCLUSIONS_SCHEMA: Final = "shopsimulator-catalog-exclusions-v2"
AUDIT_SCHEMA: Final = "shopsimulator-annotation-audit-v2"
IDENTITY_VERSION: Final = "archive-position-v1"


def count_all(
    products: int, exclusions: Sequence[Exclusion], tasks: Sequence[RawTask], active: Sequence[RawTask]
) -> dict[str, Any]:
    """Products and tasks before and after filtering."""
    persona = sum(task.is_persona for task in active)
    return {
        "products": {
            "raw": products,
            "excluded": len(exclusions),
            "active": products - len(exclusions),
            "excluded_by_reason": dict(sorted(Counter(entry.reason for entry in exclusions).items())),
        },
        "tasks": {
            "raw": len(tasks),
            "excluded": len(tasks) - len(active),
            "active": len(active),
            "persona": persona,
            "standard": len(active) - persona,
        },
    }


def count_kinds(budgets: Sequence[Budget]) -> dict[str, int]:
    """Persona budgets by kind, sorted by name."""
    return dict(sorted(Counter(budget.kind for budget in budgets).items()))


def dataset_manifest(
    source: Source,
    raw_content: bytes,
    archive: bytes,
    content: bytes,
    counts: Mapping[str, Any],
    budgets: Sequence[Budget],
    answers: AnswerSet,
) -> dict[str, Any]:
    """``dataset_manifest.json``: hashes of source, archive and content, counts, kinds, versions, model."""
    given_up = [budget.task.task_id for budget in budgets if budget.answer is None]
    return {
        "schema_version": DATASET_SCHEMA,
        "source": {
            **_described(source.archive.name, source.archive_sha256),
            "content_sha256": _sha(raw_content),
        },
        "archive": {**_described(layout.ARCHIVE, _sha(archive)), "bytes": len(archive)},
        "content": {**_described(layout.PRODUCTS, _sha(content)), "bytes": len(content)},
        "counts": dict(counts),
        "kinds": count_kinds(budgets),
        "annotations": {
            **_described(source.annotations.name, source.annotations_sha256),
            "answers": len(answers.answers),
            "ignored": dict(answers.ignored),
            "approximate_tolerance": float(TOLERANCE),
            "runtime_regex_task_ids": given_up,
            **answers.provenance.to_wire(),
        },
        "versions": {
            "identity": IDENTITY_VERSION,
            "variant_price": VARIANT_PRICE_VERSION,
            "budget_parser": BUDGET_PARSER_VERSION,
        },
    }


def exclusion_document(source: Source, exclusions: Sequence[Exclusion]) -> dict[str, Any]:
    """``catalog_exclusions.json``: which products left, with their tasks, and why."""
    return {
        "schema_version": EXCLUSIONS_SCHEMA,
        "source_sha256": source.archive_sha256,
        "count": len(exclusions),
        "exclusions": [exclusion.to_wire() for exclusion in exclusions],
    }


def audit_document(source: Source, budgets: Sequence[Budget], answers: AnswerSet) -> dict[str, Any]:
    """``annotation_audit.json``: every persona budget with its evidence, or why it has none."""
    return {
        "schema_version": AUDIT_SCHEMA,
        "source_sha256": source.archive_sha256,
        "annotations_sha256": source.annotations_sha256,
        "count": len(budgets),
        "kinds": count_kinds(budgets),
        "ignored": dict(answers.ignored),
        "tasks": [budget.to_wire() for budget in budgets],
    }


def _described(name: str, sha256: str | None) -> dict[str, Any]:
    return {"file": name, "sha256": sha256}


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
