"""Ingest of a 500 MB trace file against a bare DuckDB projection of the same columns; opening one episode.

The baseline is ``CREATE TABLE AS SELECT * FROM read_json(...)`` with exactly the columns that the lake
declares: no byte offsets, no duplicates, no reading rules, no Parquet. Both read a file that the system has
cached, in turn. Ingest ends when the cache is whole; the first refresh of a lake, which also opens the tables
for queries (as every process does that finds the cache filled), is told beside it. Run
``python -m benchmarks.bench_lake``.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from benchmarks._timing import line, percentile
from dashboard.lake import Lake
from dashboard.lake.source import Source, bring_up_to_date
from dashboard.lake.structure import structure_columns
from shopsim.rollout.tools import tool_schemas
from tests.factories.traces import OUTCOMES, episode_record, sample_run

FILE_BYTES = 500_000_000
MIN_RATE = 0.5
MAX_MEMORY = 2 << 30
MAX_EPISODE_MS = 50.0
MAX_REFRESH_MS = 50.0
_ROUNDS = 10
_DISTINCT = 400


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trace, episodes = _write_traces(folder / "runs" / "large")
        _measure_ingest(folder, trace)
        _measure_memory(folder)
        _measure_episodes(folder, episodes)
    with tempfile.TemporaryDirectory() as name:
        _measure_refresh(Path(name))


def _measure_ingest(folder: Path, trace: Path) -> None:
    ingest, refresh, bare = _Times(), _Times(), _Times()
    source = Source(trace, "large")
    for number in range(_ROUNDS):
        ingest.add(partial(bring_up_to_date, folder / f"ingest{number}", [source], {}))
        bare.add(partial(_bare_projection, trace))
        refresh.add(Lake([folder / "runs"], folder / f"lake{number}").refresh)
    megabytes = trace.stat().st_size / 1e6
    for name, times in (
        ("ingest of 500 MB", ingest),
        ("first refresh (tables opened too)", refresh),
        ("bare read_json projection", bare),
    ):
        seconds = min(times.wall)
        line(
            name, f"{seconds:.2f} s, {megabytes / seconds:.0f} MB/s", f"{min(times.cpu):.2f} s of processors"
        )
    ratio = min(bare.wall) / min(ingest.wall)
    line("rate of ingest / bare projection", f"{ratio:.0%}", f">= {MIN_RATE:.0%}", ratio >= MIN_RATE)
    line("the same by processor time", f"{min(bare.cpu) / min(ingest.cpu):.0%}")
    line("rate of the first refresh / bare projection", f"{min(bare.wall) / min(refresh.wall):.0%}")


class _Times:
    """Elapsed and processor seconds of several runs; the latter are fair on a busy machine too."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def add(self, call: Callable[[], object]) -> None:
        wall, cpu = time.perf_counter(), time.process_time()
        call()
        self.wall.append(time.perf_counter() - wall)
        self.cpu.append(time.process_time() - cpu)


def _bare_projection(trace: Path) -> None:
    with duckdb.connect() as connection:
        sql = (
            "CREATE TABLE projected AS SELECT * FROM "
            f"read_json($file, format = 'newline_delimited', columns = {structure_columns()})"
        )
        connection.execute(sql, {"file": str(trace)}).fetchall()


def _measure_memory(folder: Path) -> None:
    """Peak memory of a fresh process that ingests the file."""
    code = (
        "import resource, sys; from pathlib import Path; from dashboard.lake import Lake; "
        "Lake([Path(sys.argv[1])], Path(sys.argv[2])).refresh(); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)"
    )
    command = [sys.executable, "-c", code, str(folder / "runs"), str(folder / "fresh")]
    peak = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    line(
        "peak memory of the ingesting process", f"{peak / (1 << 20):.0f} MiB", "< 2048 MiB", peak < MAX_MEMORY
    )


def _measure_episodes(folder: Path, episodes: list[str]) -> None:
    lake = Lake([folder / "runs"], folder / "lake0")
    lake.refresh()
    times = []
    for episode in random.Random(1).sample(episodes, 200):
        start = time.perf_counter()
        lake.episode_record("large", episode)
        times.append(1000 * (time.perf_counter() - start))
    worst = percentile(times, 0.99)
    figure = f"{percentile(times, 0.5):.1f} / {worst:.1f} ms"
    line("opening one episode (median / p99)", figure, f"<= {MAX_EPISODE_MS:.0f} ms", worst <= MAX_EPISODE_MS)


def _measure_refresh(folder: Path) -> None:
    for number in range(20):
        sample_run(folder / "runs" / f"run{number}", tasks=20, seed=number)
    lake = Lake([folder / "runs"], folder / "lake")
    lake.refresh()
    times = []
    for _ in range(20):
        start = time.perf_counter()
        lake.refresh()
        times.append(1000 * (time.perf_counter() - start))
    median = percentile(times, 0.5)
    line(
        "refresh of 20 runs with nothing new",
        f"{median:.1f} ms",
        f"<= {MAX_REFRESH_MS:.0f} ms",
        median <= MAX_REFRESH_MS,
    )


def _write_traces(folder: Path) -> tuple[Path, list[str]]:
    """A trace of different episodes, repeated under other sample ids until the file is large enough."""
    folder.mkdir(parents=True)
    source = random.Random(7)
    texts = []
    for task in range(_DISTINCT):
        record = episode_record(10 * task, outcome=OUTCOMES[source.randrange(len(OUTCOMES))])
        texts.append(json.dumps(_with_conversation(record), ensure_ascii=False))
    path = folder / "traces.jsonl"
    ids: list[str] = []
    size = 0
    with path.open("w", encoding="utf-8") as file:
        while size < FILE_BYTES:
            sample, task = divmod(len(ids), _DISTINCT)
            old, new = f"task-{10 * task:06d}__sample-000", f"task-{10 * task:06d}__sample-{sample:03d}"
            size += len((text := texts[task].replace(old, new) + "\n").encode())
            file.write(text)
            ids.append(new)
    return path, ids


def _with_conversation(record: dict[str, Any]) -> dict[str, Any]:
    """Add what recorded episodes repeat of every page: tools, messages, the raw response."""
    state = record["reset"]["observation_state"]
    for step in record["steps"]:
        step["tools"] = tool_schemas(state)
        step["model"]["raw_response"] = {"choices": [{"message": step["model"]["reasoning"]}]}
        message = {"role": "assistant", "tool_calls": step["model"]["tool_calls"]}
        record["conversation"] += [message, {"role": "tool", "content": step["observation"]}]
        state = (step["environment"] or {}).get("observation_state") or state
    return record


if __name__ == "__main__":
    main()
