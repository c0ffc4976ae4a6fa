"""Search latency at 22,726 products against a bare FTS5 query on the same file.

The baseline is the plain ``sqlite3`` module with the same SQL, its match expression made beforehand; both
answer each query in turn, in changing order. Run ``python -m benchmarks.bench_search``.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks._search_data import PRODUCTS, make_search_data
from benchmarks._timing import line, percentile
from shopsim.search.index import MAX_RESULTS, SEARCH_SQL, SearchIndex, match_expression
from shopsim.search.text import search_tokens

MAX_RATIO = 1.15
_EVERY = 6


def main() -> None:
    """Measure and print."""
    with TemporaryDirectory() as folder:
        data = make_search_data(Path(folder))
        with SearchIndex.open(data.index) as index, closing(sqlite3.connect(data.index)) as bare:
            _measure(index, bare, data.queries.texts[::_EVERY])


def _measure(index: SearchIndex, bare: sqlite3.Connection, queries: tuple[str, ...]) -> None:
    ours: list[float] = []
    theirs: list[float] = []
    weights = index.weights.column_weights()
    for number, query in enumerate(queries):
        arguments = (*weights, match_expression(search_tokens(query)), MAX_RESULTS)
        for own in (True, False) if number % 2 else (False, True):
            start = time.perf_counter()
            if own:
                index.search(query)
            else:
                bare.execute(SEARCH_SQL, arguments).fetchall()
            (ours if own else theirs).append(time.perf_counter() - start)
    for name, times in (("SearchIndex.search", ours), ("bare FTS5 query", theirs)):
        figure = f"{1000 * percentile(times, 0.5):.2f} / {1000 * percentile(times, 0.99):.2f} ms"
        line(f"{name}, {PRODUCTS:,} products (median / p99)", figure)
    ratio = percentile([own / other for own, other in zip(ours, theirs, strict=True)], 0.5)
    line(
        "search / bare FTS5 (median of queries)", f"{ratio:.3f} times", f"<= {MAX_RATIO}", ratio <= MAX_RATIO
    )
    total = sum(ours) / sum(theirs)
    line("search / bare FTS5 (all queries)", f"{total:.3f} times", f"<= {MAX_RATIO}", total <= MAX_RATIO)


if __name__ == "__main__":
    main()
