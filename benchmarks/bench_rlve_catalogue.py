"""The catalogue of the conversation environments at 200,000 and 2,000,000 generated products.

Latency of searches, rerankings and evaluation pools, time and memory of building, of storing and opening.
The baseline, in the same run, is the naive way on the same products: a linear pass over their texts for a
search, and ``Product`` objects as read from JSONL for memory. Run
``python -m benchmarks.bench_rlve_catalogue`` (three to five minutes and 2 GiB; with the argument 200000 only
the smaller one).
"""

from __future__ import annotations

import json
import sys
import tracemalloc
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks._timing import best_seconds, line, peak_gib, percentile, timed
from shopsim.rlve.catalogue import (
    Catalogue,
    CatalogueSearch,
    Constraint,
    Filters,
    Product,
    open_stored,
    store_catalogue,
)
from shopsim.rlve.catalogue.sample import generate_products, sample_lines
from shopsim.rlve.catalogue.words import words
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.tasks._wishes import pool_of
from shopsim.rlve.world import World

SIZES = (200_000, 2_000_000)
_OBJECTS = 20_000  # products of the naive baseline, scaled up from there
_REPEATS = 7
_QUERIES: tuple[tuple[str, Filters | None], ...] = (
    ("usb-c charger 65 watts black", None),
    ("waterproof hiking boots us 9", Filters(price_max=80, rating_min=4)),
    ("black cotton t-shirt", Filters(category="Clothing", attributes={"size": "M"})),
    ("vegan shampoo for curly hair", Filters(in_stock=True)),
    ("brightwell oak standing desk", None),
    ("gift for a child who likes space", Filters(shipping_days_max=3)),
)
_LEAF = "Chargers"
_WISHES = (
    Constraint("price", "le", 50),
    Constraint("connector", "eq", "USB-C"),
    Constraint("power_watts", "ge", 60),
)


def main() -> None:
    """Measure and print."""
    sizes = tuple(int(argument) for argument in sys.argv[1:] if argument.isdigit()) or SIZES
    naive_ms, naive_bytes = _naive()
    line(f"naive search, ms per 1,000 of {_OBJECTS:,}", f"{naive_ms:.2f} ms")
    line("a Product object", f"{naive_bytes:.0f} bytes")
    for size in sizes:
        _measure(size, naive_ms * size / 1000, naive_bytes)


def _measure(size: int, naive_ms: float, naive_bytes: float) -> None:
    label = f"{size:,}"
    catalogue, built = timed(lambda: Catalogue.from_products(generate_products(size, 5)))
    line(f"{label}: generate and pack", f"{built:.1f} s")
    search, indexed = timed(lambda: CatalogueSearch(catalogue))
    line(f"{label}: postings", f"{indexed:.1f} s", f"{len(search.postings.rows):,} postings")
    packed = _columns_bytes(catalogue) / size
    ratio = naive_bytes / packed
    line(f"{label}: objects / columns", f"{ratio:.1f} times ({packed:.0f} bytes)", ">= 4", ratio >= 4)
    line(f"{label}: columns + postings", f"{(packed * size + search.postings.nbytes) / 2**30:.2f} GiB")
    _search_figures(label, search, naive_ms)
    with TemporaryDirectory() as folder:
        place = Path(folder) / "stored"
        _, stored = timed(lambda: store_catalogue(catalogue, place, postings=search.postings))
        opened, opening = timed(lambda: CatalogueSearch(open_stored(place)))
        same = all(_run(opened, query) == _run(search, query) for query in _QUERIES)
    line(f"{label}: store", f"{stored:.1f} s")
    line(f"{label}: peak memory so far", f"{peak_gib():.2f} GiB")
    faster = (built + indexed) / opening
    line(
        f"{label}: make / open",
        f"{faster:.0f} times ({opening:.2f} s)",
        ">= 20, same results",
        faster >= 20 and same,
    )


def _search_figures(label: str, search: CatalogueSearch, naive_ms: float) -> None:
    catalogue = search.catalogue
    first = [timed(partial(_run, search, query))[1] for query in _QUERIES]
    times = []
    for _ in range(_REPEATS):
        times += [timed(partial(_run, search, query))[1] for query in _QUERIES]
    middle, late = 1000 * percentile(times, 0.5), 1000 * percentile(times, 0.95)
    line(f"{label}: first search with a filter by attribute", f"{1000 * max(first):.0f} ms")
    line(f"{label}: search, median and 95%", f"{middle:.1f} ms, {late:.1f} ms", "95% < 50 ms", late < 50)
    line(f"{label}: naive / search", f"{naive_ms / middle:,.0f} times", ">= 100", naive_ms / middle >= 100)
    ids = [hit.id for hit in search.search("charger", top_k=200)]
    rerank = best_seconds(lambda: search.rerank(_QUERIES[0][0], ids, 20))
    line(f"{label}: rerank {len(ids)}", f"{1000 * rerank:.1f} ms")
    world = World(catalogue, search, difficulty=Difficulty.of(0), seed=1)
    pool = best_seconds(lambda: pool_of(world, _LEAF, _WISHES))
    line(f"{label}: evaluation pool of 500", f"{1000 * pool:.1f} ms")
    rows = range(0, len(catalogue), max(1, len(catalogue) // 1000))
    get = best_seconds(lambda: [catalogue.get(catalogue.ids[row]) for row in rows], 3) / len(rows)
    line(f"{label}: get", f"{1e6 * get:.0f} us")


def _run(search: CatalogueSearch, query: tuple[str, Filters | None]) -> list[str]:
    return [hit.id for hit in search.search(query[0], filters=query[1], top_k=200)]


def _naive() -> tuple[float, float]:
    """Milliseconds of a linear search over 1,000 products, and bytes of a product."""
    tracemalloc.start()
    rows = [json.loads(text) for text in sample_lines(_OBJECTS, 5)]
    products = [Product(**{**row, "category": tuple(row["category"])}) for row in rows]
    del rows
    size = tracemalloc.get_traced_memory()[0] / _OBJECTS
    tracemalloc.stop()
    texts = [f"{item.title} {item.description} {item.attributes}".lower() for item in products]

    def search() -> list[str]:
        wanted = words(_QUERIES[0][0])
        scored = [
            (sum(word in text for word in wanted), item.id)
            for text, item in zip(texts, products, strict=True)
        ]
        best = sorted((-score, product_id) for score, product_id in scored if score)[:200]
        return [product_id for _, product_id in best]

    return 1000 * best_seconds(search, 3) * 1000 / _OBJECTS, size


def _columns_bytes(catalogue: Catalogue) -> int:
    columns = catalogue.columns
    texts = (
        columns.ids.nbytes + columns.titles.nbytes + columns.descriptions.nbytes + columns.attributes.nbytes
    )
    numbers = ("price", "rating", "rating_count", "shipping_days", "stock", "category_codes", "brand_codes")
    return texts + sum(int(getattr(columns, name).nbytes) for name in numbers) + catalogue.leaf_codes.nbytes


if __name__ == "__main__":
    main()
