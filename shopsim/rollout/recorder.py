"""A person as the agent: an interactive play that becomes an episode record of a sandbox run.

A sandbox run ``runs/sandbox-<name>/`` is open-ended: its plan has ``task_split`` "sandbox" and a list of
jobs that grows by one with every saved play. That is no mixing of plans. A plan fixes what a record means -
environment, versions, product data, persona mode, who played - and all of these must still agree before a
play is added; the job list of an evaluation says in advance what will be asked, that of a sandbox says
afterwards what was. Where the plan does not agree (another catalogue, persona switched off) the play goes
to ``sandbox-<name>-2`` and so on: a finished play is never refused.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shopsim.env.actions import Action, parse_response
from shopsim.errors import UsageError
from shopsim.jsonl import LineWriter
from shopsim.locking import folder_lock
from shopsim.rollout.folder import MANIFEST_FILE, TRACES_FILE, checked_name, run_plan, write_summary
from shopsim.rollout.jobs import Job, episode_seed
from shopsim.rollout.manifest import plan_differences, provenance, read_manifest, write_manifest
from shopsim.rollout.model import ModelResponse, ToolCall, Usage
from shopsim.rollout.record import EpisodeBuilder
from shopsim.rollout.tools import TOOL_ARGUMENTS, tool_schemas
from shopsim.rollout.trace import TraceIndex, read_records
from shopsim.storage import storing

if TYPE_CHECKING:
    from shopsim.engine import Engine

__all__ = ["SANDBOX_PREFIX", "SANDBOX_SPLIT", "PlayRecorder", "SavedPlay"]

SANDBOX_PREFIX = "sandbox-"
SANDBOX_SPLIT = "sandbox"

_LOCK_WAIT_SECONDS = 10.0
_HUMAN = {"provider": "human", "simulated": False, "model": "human", "base_url": None}


@dataclass(frozen=True, slots=True)
class SavedPlay:
    """Where a play was saved."""

    folder: Path
    episode_id: str
    before: bool = False
    """Whether the same play was there already, so that nothing was added."""


class PlayRecorder:
    """One play of one task. Show ``page``, feed what the person does to :meth:`act`, then :meth:`save`.

    It owns its environment, and keeps no file open: it may live in a page's session for hours.
    """

    def __init__(
        self, engine: Engine, task_id: int, *, persona: bool = True, interaction_mode: str = "single_turn"
    ) -> None:
        self._engine = engine
        self._persona = persona
        self._mode = interaction_mode
        self._env = engine.new_env()
        job = Job(task_id, 0, episode_seed(0, task_id, 0), SANDBOX_SPLIT)
        self._builder = EpisodeBuilder(job, provenance(self._plan("")))
        self.start: Mapping[str, Any] = self._env.reset(
            task_id, persona=persona, interaction_mode=interaction_mode
        )
        self.page: Mapping[str, Any] = self.start
        self.saved: SavedPlay | None = None
        self._builder.begin(self.start)
        self._shown_at = time.perf_counter()

    @property
    def done(self) -> bool:
        """Whether the play has ended and can be saved."""
        return bool(self.page.get("done"))

    @property
    def steps_left(self) -> int:
        """Actions left of the budget."""
        return self._env.action_limit - self._env.steps_taken

    def act(self, response: str) -> Mapping[str, Any]:
        """Take one action, a canonical string or whatever was typed, and return the new page.

        The time since the page was shown is recorded as the turn's latency.
        """
        observation, state = self.page["observation"], self.page["observation_state"]
        latency_ms = (time.perf_counter() - self._shown_at) * 1000.0
        answer = self._env.step(response)
        action = parse_response(response)
        turn = self._builder.turn(observation, tool_schemas(state), _as_model(response, action), latency_ms)
        canonical = action.canonical if isinstance(action, Action) else None
        self._builder.executed(turn, canonical, answer)
        self.page = answer
        self._shown_at = time.perf_counter()
        return answer

    def save(self, name: str, *, once: bool = False) -> SavedPlay:
        """Add the finished play to ``sandbox-<name>`` and return where it went; saving twice is one save.

        With ``once`` a play of the same task and actions that is there already stands for this one: a play
        that was opened again by its link is no new one. Safe while other processes save into the same folder.
        Raises :class:`UsageError` for a play that has not ended or a name that is no plain folder name, and
        :class:`~shopsim.locking.RunLockedError` when the folder stays locked and
        :class:`~shopsim.storage.StorageError` when it cannot be written.
        """
        if not self.done:
            raise UsageError("the play has not ended", hint="Buy something or use up the actions first.")
        if not name.strip():
            raise UsageError("a play is saved under a name", hint="Type one, such as your first name.")
        if self.saved is None:
            self.saved = self._save(checked_name(f"{SANDBOX_PREFIX}{name}"), once)
        return self.saved

    def _save(self, name: str, once: bool) -> SavedPlay:
        for number in count(1):
            experiment = name if number == 1 else f"{name}-{number}"
            folder = self._engine.settings.runs_root / experiment
            saving = storing(folder, hint="Free space there, then save again: the play is kept.")
            with saving, folder_lock(folder, wait_seconds=_LOCK_WAIT_SECONDS):
                if (saved := self._add(folder, experiment, once)) is not None:
                    return saved
        raise AssertionError("unreachable: the count does not end")

    def _add(self, folder: Path, experiment: str, once: bool) -> SavedPlay | None:
        """Append to ``folder`` under its lock; None when it holds something else."""
        manifest_path, traces = folder / MANIFEST_FILE, folder / TRACES_FILE
        plan = self._plan(experiment)
        created_at = None
        if manifest_path.exists():
            manifest = read_manifest(manifest_path)
            created_at = manifest.get("created_at")
            plan["jobs"] = manifest["plan"].get("jobs", [])
            if plan_differences(manifest["plan"], plan):
                return None
        elif traces.exists():
            return None
        index = read_records(traces) if traces.exists() else None
        if once and index is not None and (same := self._same(index)) is not None:
            return SavedPlay(folder, same, before=True)
        recorded = index.entries if index is not None else {}
        taken = {*recorded, *(Job.from_wire(job).episode_id for job in plan["jobs"])}
        self._builder.job = _free_job(self._builder.job.task_id, taken)
        plan["jobs"] = [*plan["jobs"], self._builder.job.to_wire()]
        write_manifest(manifest_path, plan, created_at=created_at)
        with LineWriter(traces) as writer:
            writer.append(self._builder.completed(self.page))
        write_summary(folder)
        return SavedPlay(folder, self._builder.job.episode_id)

    def _same(self, index: TraceIndex) -> str | None:
        """The episode of ``index`` in which the same was done for the same task, if there is one."""
        mine = self._builder.completed(self.page)
        for record in index.latest():
            if record["job"]["task_id"] == self._builder.job.task_id and _done(record) == _done(mine):
                return str(record["episode_id"])
        return None

    def _plan(self, experiment: str) -> dict[str, Any]:
        return run_plan(
            self._engine,
            experiment=experiment,
            model=_HUMAN,
            jobs=(),
            split=SANDBOX_SPLIT,
            persona=self._persona,
            interaction_mode=self._mode,
            concurrency=1,
        )


def _done(record: Mapping[str, Any]) -> list[Any]:
    """What a person did, turn by turn: the canonical action, or what was typed instead of one."""
    return [step["action"] or step["model"]["content"] for step in record["steps"]]


def _free_job(task_id: int, taken: set[str]) -> Job:
    """The first sample of a task that has no record and no job yet."""
    for sample_id in count():
        job = Job(task_id, sample_id, episode_seed(0, task_id, sample_id), SANDBOX_SPLIT)
        if job.episode_id not in taken:
            return job
    raise AssertionError("unreachable: the count does not end")


def _as_model(response: str, action: object) -> ModelResponse:
    """What a person did, in the shape of a model's answer; a person uses no tokens."""
    metadata, usage = {"human": True}, Usage(0, 0)
    if isinstance(action, Action):
        call = ToolCall.of(action.verb, **{TOOL_ARGUMENTS[action.verb]: action.argument})
        return ModelResponse(tool_calls=(call,), usage=usage, metadata=metadata)
    return ModelResponse(content=response, finish_reason="stop", usage=usage, metadata=metadata)
