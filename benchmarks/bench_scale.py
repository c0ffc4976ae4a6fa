"""2.6 GB of traces, 20,480 episodes: first ingest, every page cold and warm, memory, ten sessions at once.

The ingest is held against a bare DuckDB projection of the same columns of the same files. Run
``python -m benchmarks scale``; it needs about 6 GB of free disk in the temporary folder.

The sessions are visitors of a real server (``streamlit run dashboard/app.py``) in a process of its own, over
its own websocket, and press the next page the moment the last one is there; a page run ends when the server
says so and everything it sent arrived. They visit every page of the menu in two ways: each session on another
page than the others, and all sessions on the same page at the same moment. A first visitor opened every page
before. Then all of them open page after page of a new server that nobody visited (its lake is ingested). A
machine that halts meanwhile spoils the figures: then the measuring process stands still as well, and that
part is measured again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

from benchmarks import _sessions
from benchmarks._sessions import Waits
from benchmarks._timing import line, percentile
from benchmarks._visitors import serving
from benchmarks.bench_pages import PROJECT, measured
from dashboard.lake.structure import structure_columns
from tests.factories.traces import OUTCOMES, episode_record, run_manifest

RUNS = 32
EPISODES = 640
TOTAL_BYTES = 2_600_000_000
WARM_SECONDS, COLD_SECONDS, SESSION_SECONDS = 1.0, 3.0, 2.0
HALT_SECONDS = 0.5
MAX_RESIDENT = 1.5 * (1 << 30)


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "runs"
        size = write_runs(root)
        environment = os.environ | {
            "SHOPSIM_HOME": str(PROJECT),
            "SHOPSIM_ROOTS": str(root),
            "SHOPSIM_LAKE": str(Path(name) / "lake"),
        }
        _measure_ingest(root, size, environment)
        from dashboard.ui.navigation import available_pages

        for page in available_pages():
            seconds = measured(page.name, environment)
            if "error" in seconds:
                line(page.title, seconds["error"], "", False)
                continue
            for kind, limit in (("cold", COLD_SECONDS), ("warm", WARM_SECONDS)):
                line(
                    f"{page.title}, {kind}", f"{seconds[kind]:.2f} s", f"<= {limit} s", seconds[kind] <= limit
                )
        _measure_sessions(environment, [page.name for page in available_pages()], Path(name) / "server.log")


def write_runs(root: Path) -> int:
    """Write the runs, each record padded with a field that nobody reads; returns the bytes."""
    records = [episode_record(10 * k, outcome=OUTCOMES[k % len(OUTCOMES)]) for k in range(EPISODES)]
    bare = sum(len(json.dumps(record, ensure_ascii=False).encode()) for record in records) // EPISODES
    pad = "页面说明" * max(0, (TOTAL_BYTES // (RUNS * EPISODES) - bare) // 12)
    lines = []
    for record in records:
        record["steps"][0]["model"]["raw_response"] = {"padding": pad}
        lines.append(json.dumps(record, ensure_ascii=False) + "\n")
    for number in range(RUNS):
        folder = root / f"bench-iter{number:02d}"
        folder.mkdir(parents=True)
        manifest = run_manifest(
            folder.name, [record["job"] for record in records], checkpoint=f"iter{number}"
        )
        (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        with (folder / "traces.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(lines)
    return sum(path.stat().st_size for path in root.glob("*/traces.jsonl"))


def _measure_ingest(root: Path, size: int, environment: dict[str, str]) -> None:
    start = time.perf_counter()
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE projected AS SELECT * FROM read_json($files, format = 'newline_delimited', "
            f"columns = {structure_columns()})",
            {"files": [str(path) for path in sorted(root.glob("*/traces.jsonl"))]},
        )
    bare = time.perf_counter() - start
    code = (
        "import time; t = time.perf_counter(); from benchmarks.bench_pages import opened_lake; "
        "opened_lake().refresh(); print(time.perf_counter() - t)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=PROJECT, capture_output=True, text=True, check=True
    )
    ours, limit = float(done.stdout), 10 + 2 * bare
    line("bare read_json projection", f"{bare:.1f} s", f"{size / 1e9:.2f} GB, {RUNS * EPISODES:,} episodes")
    line(
        "first ingest, process start included",
        f"{ours:.1f} s",
        f"<= 10 s + 2 x bare = {limit:.1f} s",
        ours <= limit,
    )


def _measure_sessions(environment: dict[str, str], pages: list[str], log: Path) -> None:
    """Ten sessions at a server in a process of its own: pages that others opened before, and cold ones."""

    def on_a_new_server() -> Waits:
        with serving(environment, log) as server:
            return _sessions.on_cold_pages(server, pages)

    with serving(environment, log) as server:
        _sessions.warm_up(server, pages)
        different = _undisturbed(lambda: _sessions.on_different_pages(server, pages))
        same = _undisturbed(lambda: _sessions.on_the_same_page(server, pages))
        resident = server.peak_bytes()
    cold = _undisturbed(on_a_new_server)
    sessions = f"{_sessions.SESSIONS} sessions"
    seconds = different.seconds + same.seconds
    line(f"{sessions} at once, page runs", f"{len(seconds)}", f"median {percentile(seconds, 0.5):.2f} s")
    for name, waits, limit in (
        ("each on another page", different, SESSION_SECONDS),
        ("all on the same page", same, SESSION_SECONDS),
        ("all on a page that nobody opened", cold, COLD_SECONDS + SESSION_SECONDS),
    ):
        worst = waits.slowest
        line(
            f"{sessions}, {name}",
            f"{worst.seconds:.2f} s",
            f"<= {limit} s; slowest: {worst.page}",
            worst.seconds <= limit,
        )
    line(
        "the measuring process stood still for",
        f"{max(w.stood_still for w in (different, same, cold)):.2f} s",
    )
    line(
        "peak memory of the server",
        f"{resident / (1 << 20):.0f} MiB",
        "<= 1536 MiB",
        resident <= MAX_RESIDENT,
    )


def _undisturbed(measure: Callable[[], Waits]) -> Waits:
    """Measure again, twice at most, when the machine halted meanwhile: that says nothing about the pages."""
    waits = measure()
    for _ in range(2):
        if waits.stood_still <= HALT_SECONDS:
            break
        waits = measure()
    return waits


if __name__ == "__main__":
    main()
