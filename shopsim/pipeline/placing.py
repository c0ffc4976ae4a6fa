"""Step 6: put a built dataset, its splits and its index in place (spec 05).

Everything is compared with what is there before anything is written; then the files are written one by one,
each whole or not at all, ``preparation.json`` last.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shopsim.catalog.corpus import parse_corpus
from shopsim.jsonio import atomic_path, sha256_file
from shopsim.pipeline import layout
from shopsim.pipeline.cleaning import document_bytes
from shopsim.pipeline.dataset import Dataset
from shopsim.pipeline.errors import PipelineError
from shopsim.pipeline.progress import Progress
from shopsim.pipeline.project_splits import build_project_splits
from shopsim.pipeline.report import Counts, PreparationReport
from shopsim.pipeline.state import REPLACE, Inputs, State, check_outputs, write_state
from shopsim.search.index import SearchIndex, build_search_index
from shopsim.search.weights import FieldWeights
from shopsim.settings import Settings

__all__ = ["Placing"]


@dataclass(frozen=True, slots=True)
class Placing:
    """A built dataset on its way to the prepared folder; ``force`` replaces what is there."""

    settings: Settings
    weights: FieldWeights
    dataset: Dataset
    inputs: Inputs
    force: bool
    progress: Progress

    def run(self) -> PreparationReport:
        """Write what is missing (everything when forced) and record the result.

        Raises :class:`PipelineError` or :class:`~shopsim.search.manifest.SearchIndexError`, before writing,
        when a file is there that is not the one to be written.
        """
        folder = self.settings.prepared_dir
        sha256 = self.dataset.product_data_sha256
        splits, document = build_project_splits(self.dataset.tasks, self.settings.splits, sha256)
        files = {**self.dataset.files, layout.SPLITS: document_bytes(document)}
        outputs = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
        kept = () if self.force else check_outputs(folder, outputs)
        index_products = None if self.force else self._existing_index()
        written = self._write({name: data for name, data in files.items() if name not in kept})
        if index_products is None:
            index_products = self._build_index()
            written = (*written, layout.INDEX)
        else:
            kept = (*kept, layout.INDEX)
        for name in (layout.ARCHIVE, layout.MANIFEST, layout.INDEX):
            outputs[name] = sha256_file(folder / name)
        counts = _counts(self.dataset, splits.sizes, index_products)
        write_state(folder, State(self.inputs, outputs, counts))
        return PreparationReport(folder, sha256, counts, written, kept)

    def _write(self, files: Mapping[str, bytes]) -> tuple[str, ...]:
        for name, data in files.items():
            with atomic_path(self.settings.prepared_dir / name) as temporary:
                temporary.write_bytes(data)
        return tuple(files)

    def _existing_index(self) -> int | None:
        """The product count of the index that is there and right, None when there is none."""
        path = self.settings.prepared_dir / layout.INDEX
        if not path.exists():
            return None
        with SearchIndex.open(path, product_data_sha256=self.dataset.product_data_sha256) as index:
            if index.weights != self.weights:
                raise PipelineError(
                    f"{path}: was built with other weights than the settings say", hint=REPLACE
                )
            return int(index.manifest["product_count"])

    def _build_index(self) -> int:
        sha256 = self.dataset.product_data_sha256
        products = parse_corpus(self.dataset.records, sha256).products
        manifest = build_search_index(
            self.progress(products, label="search index", total=len(products)),
            self.settings.prepared_dir / layout.INDEX,
            product_data_sha256=sha256,
            weights=self.weights,
        )
        return int(manifest["product_count"])


def _counts(dataset: Dataset, splits: Mapping[str, int], index_products: int) -> Counts:
    products: Mapping[str, Any] = dataset.counts["products"]
    tasks: Mapping[str, Any] = dataset.counts["tasks"]
    return Counts(
        products_raw=products["raw"],
        products_excluded=products["excluded"],
        products_active=products["active"],
        tasks_raw=tasks["raw"],
        tasks_excluded=tasks["excluded"],
        tasks_active=tasks["active"],
        tasks_persona=tasks["persona"],
        tasks_standard=tasks["standard"],
        kinds=dict(dataset.kinds),
        splits=dict(splits),
        index_products=index_products,
        exclusions=dict(products["excluded_by_reason"]),
    )
