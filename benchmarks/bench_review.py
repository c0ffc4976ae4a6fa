"""Search over 10 runs of 400 episodes against a trigram index and a bare scan; the review store under load.

Reasoning is about 1,500 characters a step, as language models write it. The first search reads the traces
once; its baseline is parsing the same lines with Python's json and keeping nothing.
"""

from __future__ import annotations

import json
import random
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks._timing import best_seconds, line

__all__ = ["main"]

RUNS, EPISODES, CHARACTERS = 10, 400, 1500
SEARCH_SECONDS = 1.0
VERDICTS = 4000
QUERIES = ("充电", "颜色分类", "预算 红色", "unavailable_action", "的", "没有这样的词")
_WORDS = (
    "用户想要的商品先看搜索结果再决定预算红色颜色分类充电宝规格尺码满足条件价格超过打开详情页比较属性不符合"
    "返回继续下一页选择已经确认购买"
)


def main() -> None:
    """Print seconds and ratios."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _write_runs(root / "runs")
        _search(root)
        _store(root)


def _write_runs(root: Path) -> None:
    from tests.factories.traces import OUTCOMES, episode_record, write_run

    dice = random.Random(1)
    for number in range(RUNS):
        records = []
        for task in range(EPISODES):
            record = episode_record(10 * task, outcome=OUTCOMES[dice.randrange(len(OUTCOMES))])
            for step in record["steps"]:
                step["model"]["reasoning"] = "".join(dice.choices(_WORDS, k=CHARACTERS))
            records.append(record)
        write_run(root / f"bench-iter{8 * number:02d}", records)


def _search(root: Path) -> None:
    from dashboard.lake import Lake
    from dashboard.review.text_index import index_files
    from dashboard.review.text_search import find_text, show_hits

    lake = Lake([root / "runs"], root / "lake")
    lake.refresh()
    run_ids = [run.run_id for run in lake.runs]
    traces = [lake.run(run_id).path / "traces.jsonl" for run_id in run_ids]
    size = sum(path.stat().st_size for path in traces)
    parsed = _seconds(lambda: sum(len(json.loads(row)) for path in traces for row in path.open("rb")))
    built = _seconds(lambda: index_files(lake, run_ids))
    line("parsing the traces with json", f"{parsed:.2f} s", f"{size / 1e6:,.0f} MB")
    line("first index of the same traces", f"{built:.2f} s", f"{built / parsed:.2f} times that")
    files = index_files(lake, run_ids)
    held = sum(path.stat().st_size for path in files)
    line("bringing an index up to date", f"{best_seconds(lambda: index_files(lake, run_ids)):.3f} s")
    line("size of the index", f"{held / 1e6:,.1f} MB")
    with lake.connect() as cursor:
        names = [str(path) for path in files]
        scan = "SELECT count(*) FROM read_parquet($files) WHERE contains(folded, $term)"
        for query in QUERIES:
            took = best_seconds(lambda query=query: find_text(lake, run_ids, query), 3)  # type: ignore[misc]
            found = find_text(lake, run_ids, query)
            shown = best_seconds(lambda found=found: show_hits(lake, found, 0, 20), 3)  # type: ignore[misc]
            term = {"files": names, "term": query.split()[0]}
            bare = best_seconds(lambda term=term: cursor.execute(scan, term).fetchall(), 3)  # type: ignore[misc]
            line(
                f"search {query!r}: {len(found.hits):,} texts",
                f"{took + shown:.3f} s",
                f"<= {SEARCH_SECONDS:g} s; bare scan {bare:.3f} s",
                took + shown <= SEARCH_SECONDS,
            )
    _trigrams(lake, names)


def _trigrams(lake: Any, names: list[str]) -> None:
    """The same texts in SQLite's trigram index, which cannot answer searches of one or two characters."""
    with lake.connect() as cursor:
        texts = cursor.execute("SELECT folded FROM read_parquet($files)", {"files": names}).fetchall()
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE texts USING fts5 (folded, tokenize = 'trigram')")
    built = _seconds(lambda: connection.executemany("INSERT INTO texts VALUES (?)", texts))
    query = "SELECT rowid FROM texts WHERE texts MATCH ?"
    took = best_seconds(lambda: connection.execute(query, ['"颜色分类"']).fetchall(), 3)
    line("trigram index of the same texts, built in", f"{built:.2f} s")
    line("search '颜色分类' in it", f"{took:.3f} s", "two characters: impossible")


def _store(root: Path) -> None:
    from dashboard.review import ReviewStore, Verdict, episode_target

    store = ReviewStore(root / "reviews.sqlite")
    targets: Iterator[Any] = iter(
        episode_target(
            f"bench-iter{8 * run:02d}", f"task-{10 * task:06d}__sample-000", task_id=task, record="1"
        )
        for run in range(RUNS)
        for task in range(EPISODES)
    )
    said = Verdict(("looping",), "major", "Going round between two pages.")
    first = _seconds(lambda: [store.record(next(targets), "Ann", said, expected=0) for _ in range(VERDICTS)])
    line("saving a verdict, each one synced", f"{1000 * first / VERDICTS:.1f} ms")
    line(f"reading {VERDICTS:,} verdicts", f"{best_seconds(lambda: store.current('episode')):.3f} s")
    line("asking whether something changed", f"{1000 * best_seconds(store.version):.2f} ms")


def _seconds(call: Any) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
