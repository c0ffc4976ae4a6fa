"""The demo runs: a scripted shopper at five stages of skill, the oracle above, chance below.

Nothing here was trained. The stages are named like checkpoints because the pages compare iterations; the
manifests say ``provider: scripted``, ``simulated: true`` and list the skill parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from shopsim.errors import ShopSimError
from shopsim.formats import MANIFEST_SCHEMA
from shopsim.rollout.agents import SKILLS, agent_spec
from shopsim.rollout.clearing import clear_scripted_runs
from shopsim.rollout.folder import MANIFEST_FILE, SUMMARY_FILE, TRACES_FILE
from shopsim.rollout.jobs import make_jobs
from shopsim.rollout.report import RunReport
from shopsim.rollout.runner import OpenRuns, RunRequest, open_runs

if TYPE_CHECKING:
    from shopsim.engine import Engine

__all__ = ["DEMO_AGENTS", "DEMO_SEED", "DemoError", "demo_requests", "open_demo", "run_demo"]

DEMO_SEED = 20260901
DEMO_SPLIT = "test"
#: Experiment name -> agent name, in the order in which they are listed.
DEMO_AGENTS = {
    **{f"demo-{label}": f"shopper-{label}" for label in SKILLS},
    "demo-oracle": "oracle",
    "demo-random": "random",
}

Progress = Callable[[Iterable[str], str, int], Iterator[str]]


class DemoError(ShopSimError):
    """A demo folder holds something that the demo did not write."""

    code = "demo"


def demo_requests(engine: Engine) -> list[RunRequest]:
    """The runs of the demo: every agent on the whole test split, in persona mode as published runs are."""
    jobs = make_jobs(engine.splits.ids(DEMO_SPLIT), split=DEMO_SPLIT, seed=DEMO_SEED)
    return [
        RunRequest(experiment, agent_spec(agent), jobs, DEMO_SPLIT)
        for experiment, agent in DEMO_AGENTS.items()
    ]


@contextmanager
def open_demo(engine: Engine, *, force: bool = False, concurrency: int = 1) -> Iterator[OpenRuns]:
    """Check and lock the demo's folders; only what is missing is pending, with ``force`` everything."""
    if force:
        clear_scripted_runs(
            [engine.settings.runs_root / experiment for experiment in DEMO_AGENTS],
            (SUMMARY_FILE, TRACES_FILE, MANIFEST_FILE),
            manifest=MANIFEST_FILE,
            schema=MANIFEST_SCHEMA,
            error=DemoError,
        )
    with open_runs(
        engine,
        demo_requests(engine),
        concurrency=concurrency,
        resume=True,
        mend="Run `shopsim demo --force` to make the demo runs again.",
    ) as runs:
        yield runs


def run_demo(
    engine: Engine, *, force: bool = False, concurrency: int = 1, progress: Progress | None = None
) -> list[RunReport]:
    """Play what is missing of the demo and report every run."""
    with open_demo(engine, force=force, concurrency=concurrency) as runs:
        episodes: Iterator[str] = runs.play()
        if progress is not None:
            episodes = progress(episodes, "demo episodes", runs.pending)
        for _ in episodes:
            pass
        return runs.reports()
