"""Updates of the pages Search quality and Search weights on the bundled catalogue: target one second.

An update is a script run after a choice that was never made before, so that nothing of it is cached: other
weights, another split, another filter. The processor's seconds tell what a busy machine adds. The last line
of a page is the next run of the same view, where all is cached.
The runs hold what a scripted shopper really typed: one is played, the others are copies of it. What satisfies
the tasks was worked out before, as `shopsim prepare` does; how long that takes is a line of its own.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks._timing import best_seconds, line

__all__ = ["main"]

RUNS, EPISODES = 10, 400
UPDATE_SECONDS, WARM_SECONDS = 1.0, 0.5
PROJECT = Path(__file__).resolve().parent.parent

Update = tuple[str, Callable[[Any], object]]


def main() -> None:
    """Print the seconds of each update and of the run after it."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder) / "workspace"
        _prepare(workspace)
        os.environ |= {"SHOPSIM_HOME": str(workspace), "SHOPSIM_LAKE": str(Path(folder) / "lake")}
        os.environ.pop("SHOPSIM_ROOTS", None)
        _measure("search_quality", _QUALITY)
        _measure("search_weights", _WEIGHTS)


def _prepare(workspace: Path) -> None:
    """A workspace with the prepared catalogue of the project and :data:`RUNS` runs on it."""
    from shopsim.engine import open_engine
    from shopsim.rollout.agents import agent_spec
    from shopsim.rollout.jobs import make_jobs
    from shopsim.rollout.runner import RunRequest, run
    from shopsim.settings import load_settings
    from shopsim.solved_tasks import open_solutions

    shutil.copytree(PROJECT / "configs", workspace / "configs")
    shutil.copytree(load_settings(PROJECT).prepared_dir, workspace / "data" / "prepared")
    with open_engine(load_settings(workspace)) as engine:
        jobs = make_jobs(engine.splits.ids("all")[:EPISODES], split="all", seed=1)
        request = RunRequest("played-0", agent_spec("shopper-iter60"), jobs, "all")
        played = run(engine, request, concurrency=2).folder
        start = time.perf_counter()
        solved = open_solutions(engine).solve_persona_tasks(engine.splits.ids("all"))
        line("solving the persona tasks, once", f"{time.perf_counter() - start:.2f} s", f"{solved} tasks")
    for number in range(1, RUNS):
        shutil.copytree(played, played.with_name(f"played-{number}"))


def _select(key: str, value: object) -> Callable[[Any], object]:
    return lambda app: app.selectbox(key=key).set_value(value)


def _slide(key: str, value: float) -> Callable[[Any], object]:
    return lambda app: app.slider(key=key).set_value(value)


_QUALITY: tuple[Update, ...] = (
    ("every query instead of the first", _select("pick", "every")),
    ("the best query", _select("pick", "best")),
    ("oracle queries of all splits", _select("split", "all")),
    ("misses of a run", _select("queries", "played-3")),
    ("misses of the first page", _select("miss", 20)),
    ("any satisfying product", _select("relevance", "any")),
)
_WEIGHTS: tuple[Update, ...] = (
    ("sliders shown", lambda app: app.toggle(key="custom").set_value(True)),
    ("a slider moved, test", _slide("w_title", 7.0)),
    ("a slider moved again, test", _slide("w_bullets", 5.0)),
    ("train split, all sets", _select("split", "train")),
    ("a slider moved, train", _slide("w_title", 6.0)),
    ("both kinds of query", _select("kind", "both")),
    ("a slider moved, train, both kinds", _slide("w_brand", 4.0)),
    ("all splits, both kinds, all sets", _select("split", "all")),
    ("a slider moved, all splits, both kinds", _slide("w_options", 3.0)),
    ("by domain", _select("by", "domain")),
    ("another query explained", lambda app: app.selectbox(key="task").select_index(200)),
)


def _measure(page: str, updates: tuple[Update, ...]) -> None:
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_file(str(PROJECT / "dashboard" / "app.py"), default_timeout=120)
    app.switch_page(f"pages/{page}.py")
    start = time.perf_counter()
    app.run()
    line(f"{page}, first run", f"{time.perf_counter() - start:.3f} s")
    for name, update in updates:
        update(app)
        start, worked = time.perf_counter(), time.process_time()
        app.run()
        seconds, worked = time.perf_counter() - start, time.process_time() - worked
        if app.exception:
            raise SystemExit(f"{page}, {name}: {app.exception[0].message}")
        figure = f"{seconds:.3f} s ({worked:.2f} s cpu)"
        line(f"  {name}", figure, f"<= {UPDATE_SECONDS} s", seconds <= UPDATE_SECONDS)
    warm = best_seconds(app.run)
    line("  the same view again", f"{warm:.3f} s", f"<= {WARM_SECONDS} s", warm <= WARM_SECONDS)


if __name__ == "__main__":
    main()
