"""2.6 GB of traces, 20,480 episodes: first ingest, every page cold and warm, memory, ten sessions at once.

The ingest is held against a bare DuckDB projection of the same columns of the same files. Run
``python -m benchmarks scale``; it needs about 6 GB of free disk in the temporary folder.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import duckdb

from benchmarks._timing import line, percentile
from benchmarks.bench_pages import PROJECT, measured
from dashboard.lake.structure import structure_columns
from tests.factories.traces import OUTCOMES, episode_record, run_manifest

RUNS = 32
EPISODES = 640
TOTAL_BYTES = 2_600_000_000
SESSIONS = 10
WARM_SECONDS, COLD_SECONDS, SESSION_SECONDS = 1.0, 3.0, 2.0
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
        _measure_sessions(environment)


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


def _measure_sessions(environment: dict[str, str]) -> None:
    code = "from benchmarks.bench_scale import measure_sessions; measure_sessions()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=PROJECT, capture_output=True, text=True, check=True
    )
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    worst = told["worst"]
    line(
        f"{SESSIONS} sessions at once, slowest run",
        f"{worst:.2f} s",
        f"<= {SESSION_SECONDS} s",
        worst <= SESSION_SECONDS,
    )
    resident = told["resident"]
    line(
        "peak memory of that process",
        f"{resident / (1 << 20):.0f} MiB",
        "<= 1536 MiB",
        resident <= MAX_RESIDENT,
    )


def measure_sessions() -> None:
    """Ten sessions open the main pages one after the other in one process (child of :func:`main`)."""
    from streamlit.testing.v1 import AppTest

    pages = ("overview", "rewards", "terminations", "failures", "diagnosis")
    times: list[float] = []

    ready = threading.Barrier(SESSIONS)

    def visit(number: int) -> None:
        app = AppTest.from_file(str(PROJECT / "dashboard" / "app.py"), default_timeout=120)
        app.run()  # AppTest looks through all installed packages here, a server once when it starts
        ready.wait()
        for turn in range(len(pages)):
            app.switch_page(f"pages/{pages[(number + turn) % len(pages)]}.py")
            start = time.perf_counter()
            app.run()
            times.append(time.perf_counter() - start)

    app = AppTest.from_file(str(PROJECT / "dashboard" / "app.py"), default_timeout=120)
    for page in pages:  # sessions share what the first visitor opened
        app.switch_page(f"pages/{page}.py")
        app.run()
    sessions = [threading.Thread(target=visit, args=(number,)) for number in range(SESSIONS)]
    for session in sessions:
        session.start()
    for session in sessions:
        session.join()
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"median": percentile(times, 0.5), "worst": max(times), "resident": resident}))


if __name__ == "__main__":
    main()
