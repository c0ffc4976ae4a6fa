"""Demo agents on another weight set, in the background: what it does end to end, beside the proxy.

The runs are ordinary ones, under the workspace's run folder, named ``weights-<set>-<agent>``. FTS5 stores
no weights, so that the workspace's own index is searched with those of the set; the manifest names the set
and holds its numbers.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from dashboard.ui.workspace import current_workspace
from shopsim.engine import Engine
from shopsim.errors import ShopSimError, UsageError
from shopsim.rollout.agents import agent_spec
from shopsim.rollout.demo import DEMO_SEED, DEMO_SPLIT
from shopsim.rollout.jobs import make_jobs
from shopsim.rollout.runner import RunRequest, open_runs
from shopsim.search import FieldWeights, SearchIndex

__all__ = ["DemoJob", "current_job", "experiment_name", "start_job", "weighted_engine"]


@dataclass(frozen=True)
class _WeightedEngine(Engine):
    """An engine whose manifests also hold the numbers of its weights."""

    def provenance(self) -> dict[str, Any]:
        return {**super().provenance(), "search_weight_values": self.search.weights.as_mapping()}


def weighted_engine(engine: Engine, name: str, weights: FieldWeights) -> Engine:
    """The same engine, searching with the set ``name``. Close its ``search`` after use."""
    search = engine.settings.search.model_copy(update={"weights": name})
    index = SearchIndex(engine.search.path, engine.search.manifest, weights)
    settings = engine.settings.model_copy(update={"search": search})
    return _WeightedEngine(settings, engine.corpus, engine.goals, index, engine.splits, engine.terms)


def experiment_name(name: str, agent: str) -> str:
    """The run folder of an agent on a set."""
    return f"weights-{name}-{agent}"


@dataclass
class DemoJob:
    """Runs that are being played. Read by any session, written by its own thread."""

    engine: Engine
    sets: dict[str, FieldWeights]
    agents: tuple[str, ...]
    total: int = 0
    done: int = 0
    doing: str = ""
    error: str = ""
    finished: bool = False
    thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=self._work, name="weights-demo", daemon=True)

    @property
    def share(self) -> float:
        """How much is played, 0 to 1."""
        return self.done / self.total if self.total else float(self.finished)

    def _work(self) -> None:
        problem = "it stopped unexpectedly: the server's log says why"
        try:
            jobs = make_jobs(self.engine.splits.ids(DEMO_SPLIT), split=DEMO_SPLIT, seed=DEMO_SEED)
            self.total = len(jobs) * len(self.agents) * len(self.sets)
            for name, weights in self.sets.items():
                self._play(name, weights, jobs)
            problem = ""
        except (ShopSimError, OSError) as error:
            problem = str(error)
        finally:
            self.error = problem
            self.finished = True

    def _play(self, name: str, weights: FieldWeights, jobs: tuple[Any, ...]) -> None:
        engine = weighted_engine(self.engine, name, weights)
        requests = [
            RunRequest(experiment_name(name, agent), agent_spec(agent), jobs, DEMO_SPLIT)
            for agent in self.agents
        ]
        mend = "The set or the catalogue changed since: move that folder away, or save the set anew."
        try:
            with open_runs(engine, requests, resume=True, mend=mend) as runs:
                self.done += len(jobs) * len(self.agents) - runs.pending
                for self.doing in runs.play():
                    self.done += 1
                runs.reports()
        finally:
            engine.close()


class _Desk:
    """The one place of this process where demo jobs are started: one at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.job: DemoJob | None = None


@st.cache_resource(show_spinner=False, max_entries=4)
def _desk(workspace: str) -> _Desk:
    return _Desk()


def _here() -> _Desk:
    return _desk(str(current_workspace().settings.workspace))


def current_job() -> DemoJob | None:
    """The job that runs or ran last in this process."""
    return _here().job


def start_job(engine: Engine, sets: dict[str, FieldWeights], agents: Sequence[str]) -> DemoJob:
    """Start playing; what is there already is kept. Raises :class:`UsageError` while another one runs."""
    if not agents:
        raise UsageError("no agent chosen", hint="Choose at least one.")
    desk = _here()
    with desk.lock:
        if desk.job is not None and not desk.job.finished:
            raise UsageError("another demo is still running", hint="Wait until it has finished.")
        desk.job = DemoJob(engine, dict(sets), tuple(agents))
        desk.job.thread.start()
        return desk.job
