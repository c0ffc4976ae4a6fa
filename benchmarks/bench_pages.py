"""Script runs of every page over 10 runs of 400 episodes: cold (a new process, traces ingested) and warm.

Warm is the next run of the same session, as after a click. Ingest is measured apart: it happens once; so
does compiling the modules, which every start but the very first finds done.
"""

from __future__ import annotations

import compileall
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks._timing import best_seconds, line

__all__ = ["main"]

RUNS, EPISODES = 10, 400
COLD_SECONDS, WARM_SECONDS = 2.0, 0.5
PROJECT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Print seconds of every page and whether they meet the targets."""
    from dashboard.ui.navigation import available_pages

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "runs"
        _write_runs(root)
        environment = os.environ | {
            "SHOPSIM_HOME": str(PROJECT),
            "SHOPSIM_ROOTS": str(root),
            "SHOPSIM_LAKE": str(Path(folder) / "lake"),
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for package in ("dashboard", "shopsim"):
            compileall.compile_dir(PROJECT / package, quiet=1)
        os.environ.update(environment)
        size = sum(path.stat().st_size for path in root.glob("*/traces.jsonl"))
        start = time.perf_counter()
        opened_lake().refresh()
        line("first ingest", f"{time.perf_counter() - start:.2f} s", f"{size / 1e6:,.0f} MB of traces")
        line("opening the ingested lake", f"{best_seconds(lambda: opened_lake().refresh(), 3):.3f} s")
        for page in available_pages():
            _report(page.title, measured(page.name, environment))


def _write_runs(root: Path) -> None:
    from dashboard.ui.catalogue import catalogue_sha256
    from tests.factories.episodes import provenance
    from tests.factories.traces import sample_run

    os.environ["SHOPSIM_HOME"] = str(PROJECT)
    plan: dict[str, Any] = {
        "environment": provenance()["environment"] | {"product_data_sha256": catalogue_sha256()}
    }
    for number in range(RUNS):
        name = f"bench-iter{8 * number:02d}"
        sample_run(root / name, tasks=EPISODES, success=0.2 + 0.06 * number, seed=number, **plan)


def opened_lake() -> Any:
    from dashboard.lake import Lake
    from dashboard.ui.workspace import current_workspace

    workspace = current_workspace()
    return Lake(workspace.roots, workspace.cache_dir)


def measured(page: str, environment: dict[str, str]) -> dict[str, Any]:
    code = "import sys; from benchmarks.bench_pages import measure_page; measure_page(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", code, page], env=environment, cwd=PROJECT, capture_output=True, text=True
    )
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure_page(page: str) -> None:
    """Print cold and warm seconds of one page as JSON (the child process of :func:`main`)."""
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_file(str(PROJECT / "dashboard" / "app.py"), default_timeout=120)
    app.switch_page(f"pages/{page}.py")
    start = time.perf_counter()
    app.run()
    cold = time.perf_counter() - start
    if app.exception:
        raise SystemExit(f"{page}: {app.exception[0].message}")
    warm = best_seconds(app.run)
    print(json.dumps({"cold": cold, "warm": warm}))


def _report(title: str, seconds: dict[str, Any]) -> None:
    if "error" in seconds:
        line(title, seconds["error"], "", False)
        return
    for kind, limit in (("cold", COLD_SECONDS), ("warm", WARM_SECONDS)):
        value = float(seconds[kind])
        line(f"{title}, {kind}", f"{value:.3f} s", f"<= {limit} s", value <= limit)


if __name__ == "__main__":
    main()
