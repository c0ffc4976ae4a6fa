"""Steps 1 to 4: from a raw archive and its recorded annotations to the cleaned dataset (spec 05).

Everything is made in memory and is a pure function of the two inputs; writing is the caller's business.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shopsim.catalog.corpus import parse_records
from shopsim.pipeline import layout
from shopsim.pipeline.annotations import AnswerSet, Expected, read_answers
from shopsim.pipeline.budgets import decide_budgets
from shopsim.pipeline.cleaning import clean_records, document_bytes, gzip_bytes, product_bytes
from shopsim.pipeline.documents import (
    audit_document,
    count_all,
    count_kinds,
    dataset_manifest,
    exclusion_document,
)
from shopsim.pipeline.exclusions import exclude_products
from shopsim.pipeline.identity import RawTask, identify
from shopsim.pipeline.progress import Progress, silent
from shopsim.pipeline.source import RESTORE, Source, read_raw
from shopsim.pipeline.source_splits import build_source_splits

__all__ = ["Dataset", "build_dataset"]


@dataclass(frozen=True, slots=True)
class Dataset:
    """The cleaned records, their tasks, and the bytes of every file of the dataset by name."""

    records: Sequence[Mapping[str, Any]]
    tasks: tuple[RawTask, ...]
    product_data_sha256: str
    counts: Mapping[str, Any]
    kinds: Mapping[str, int]
    files: Mapping[str, bytes]


def build_dataset(source: Source, give_up: Sequence[int] = (), progress: Progress = silent) -> Dataset:
    """Number, filter, annotate and clean the archive of ``source``.

    ``give_up`` lists the persona tasks that may stay without a recorded budget. Raises
    :class:`~shopsim.errors.ShopSimError` with one line for anything wrong with either input.
    """
    name = str(source.archive)
    raw_content = read_raw(source)
    records = parse_records(raw_content, source.archive, hint=RESTORE)
    tasks = identify(records, name)
    exclusions = exclude_products(records, tasks)
    excluded = {exclusion.product_index for exclusion in exclusions}
    active = tuple(task for task in tasks if task.product_index not in excluded)
    answers = _read_answers(source, tasks, active)
    budgets = decide_budgets(active, answers, give_up=give_up, source=str(source.annotations))
    cleaned = clean_records(records, excluded, active, budgets)
    content = product_bytes(progress(cleaned, label="clean products", total=len(cleaned)), name)
    archive = gzip_bytes(content, progress)
    counts = count_all(len(records), exclusions, tasks, active)
    manifest = dataset_manifest(source, raw_content, archive, content, counts, budgets, answers)
    documents = {
        layout.MANIFEST: manifest,
        layout.EXCLUSIONS: exclusion_document(source, exclusions),
        layout.SOURCE_SPLITS: build_source_splits(active, len(records)),
        layout.AUDIT: audit_document(source, budgets, answers),
    }
    files = {layout.ARCHIVE: archive, **{name: document_bytes(value) for name, value in documents.items()}}
    sha256 = hashlib.sha256(content).hexdigest()
    kinds = count_kinds(budgets)
    return Dataset(cleaned, active, sha256, counts, kinds, {**files, layout.PRODUCTS: content})


def _read_answers(source: Source, tasks: Sequence[RawTask], active: Sequence[RawTask]) -> AnswerSet:
    if source.annotations_sha256 is None and not any(task.is_persona for task in active):
        return AnswerSet()
    by_id = {task.task_id: task for task in tasks}
    active_ids = {task.task_id for task in active}
    return read_answers(source.annotations, by_id, active_ids, Expected(source.archive_sha256))
