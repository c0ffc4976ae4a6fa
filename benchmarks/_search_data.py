"""The data of the search benchmarks: an index of 22,726 generated products and 1,274 tasks' queries."""

from __future__ import annotations

import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from shopsim.catalog import parse_corpus, price_axes
from shopsim.catalog.sample import generate
from shopsim.search.evaluation import QuerySet
from shopsim.search.index import build_search_index

__all__ = ["PRODUCTS", "TASKS", "SearchData", "make_search_data"]

PRODUCTS = 22_726
TASKS = 1_274
_RAW_PRODUCTS = 24_600  # enough that so many remain when products with two price axes are left out
_SEED = 22_726


@dataclass(frozen=True, slots=True)
class SearchData:
    """A built index, the simple and full queries of the tasks, and how long the index took (seconds)."""

    index: Path
    queries: QuerySet
    build_seconds: float


def make_search_data(folder: Path) -> SearchData:
    """Generate and index, in a process of its own so that its memory does not count in the caller's."""
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_make, folder).result()


def _make(folder: Path) -> SearchData:
    corpus = parse_corpus(generate(_RAW_PRODUCTS, _SEED).records, "0" * 64)
    products = [product for product in corpus.products if len(price_axes(product)) < 2][:PRODUCTS]
    known = {product.asin for product in products}
    tasks = [
        (source.product.asin, instruction)
        for source in corpus.task_sources
        for instruction in source.instructions
        if source.user_persona and instruction.get("instruction_simple") and source.product.asin in known
    ][:TASKS]
    path = folder / "search.sqlite"
    times = []
    for _ in range(2):
        start = time.perf_counter()
        build_search_index(products, path, product_data_sha256=corpus.sha256)
        times.append(time.perf_counter() - start)
    if (len(products), len(tasks)) != (PRODUCTS, TASKS):
        raise ValueError(f"only {len(products):,} products and {len(tasks):,} tasks were generated")
    rows = [
        (number, instruction[key], {asin})
        for key in ("instruction_simple", "instruction")
        for number, (asin, instruction) in enumerate(tasks)
    ]
    return SearchData(path, QuerySet.of(rows), min(times))
