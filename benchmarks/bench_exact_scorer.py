"""The exact scorer against FTS5: 1,274 tasks x 2 queries on 22,726 products, one and 32 weight sets.

The baseline is FTS5 answering the same queries with the same weights, once, in the same run (about a
minute); its lists are compared with the scorer's. Run ``python -m benchmarks.bench_exact_scorer``.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks._search_data import SearchData, make_search_data
from benchmarks._timing import line, peak_gib, percentile
from shopsim.search.bm25 import ExactScorer
from shopsim.search.documents import FIELDS
from shopsim.search.index import SearchIndex
from shopsim.search.weights import V3, FieldWeights

SETS = 32
_REPEATS = 5


def main() -> None:
    """Measure and print."""
    with TemporaryDirectory() as folder:
        data = make_search_data(Path(folder))
        with SearchIndex.open(data.index) as index:
            _measure(index, data)


def _measure(index: SearchIndex, data: SearchData) -> None:
    scorer = ExactScorer.from_index(index)
    build = _median_seconds(lambda: ExactScorer.from_index(index), 3)
    ratio = build / data.build_seconds
    line("index build", f"{data.build_seconds:.2f} s")
    line("arrays / index build", f"{ratio:.2f} times ({build:.2f} s)", "<= 3", ratio <= 3)
    texts = data.queries.texts
    prepared = scorer.prepare(texts)
    prepare = _median_seconds(lambda: scorer.prepare(texts), 3)
    one = _median_seconds(lambda: scorer.rank(prepared, [V3]), _REPEATS)
    dice = random.Random(5)
    sets = [FieldWeights.from_values([dice.uniform(0.1, 5.0) for _ in FIELDS]) for _ in range(SETS)]
    many = _median_seconds(lambda: scorer.rank(prepared, sets), 3)
    memory = peak_gib()
    start = time.perf_counter()
    expected = [index.ranked(text) for text in texts]
    fts5 = time.perf_counter() - start
    (ranking,) = scorer.rank(prepared, [V3])
    same = sum(ranking.pairs(number) == results for number, results in enumerate(expected))
    line("FTS5, one weight set", f"{fts5:.1f} s", f"{1000 * fts5 / len(texts):.1f} ms a query")
    line("lists equal to FTS5's, scores included", f"{same:,} of {len(texts):,}", "all", same == len(texts))
    first = fts5 / (prepare + one)
    line(
        "FTS5 / one set, queries prepared anew",
        f"{first:.0f} times ({prepare + one:.2f} s)",
        ">= 30",
        first >= 30,
    )
    again = fts5 / one
    line("FTS5 / one set, queries prepared before", f"{again:.0f} times ({one:.2f} s)")
    a_set = (prepare + many) / SETS
    line(
        f"FTS5 / a set of {SETS}", f"{fts5 / a_set:.0f} times ({a_set:.2f} s)", ">= 100", fts5 / a_set >= 100
    )
    line("peak memory of the process", f"{memory:.2f} GiB", "< 2 GiB", memory < 2)


def _median_seconds(call: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return percentile(times, 0.5)


if __name__ == "__main__":
    main()
