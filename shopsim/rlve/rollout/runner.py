"""Running episodes into a folder: in order, resumable, with the curriculum between them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from shopsim.errors import ShopSimError, UsageError
from shopsim.jsonl import LineWriter
from shopsim.locking import folder_lock
from shopsim.rlve.rollout.draws import Course
from shopsim.rlve.rollout.plan import (
    CURRICULUM_FILE,
    EPISODES_FILE,
    RunRequest,
    build_plan,
    settle_plan,
)
from shopsim.rlve.rollout.records import Draw, episode_id, is_complete, play, read_episodes
from shopsim.rollout.folder import RESUME_LATER
from shopsim.rollout.manifest import ANOTHER_NAME
from shopsim.rollout.trace import TraceIndex
from shopsim.storage import storing
from shopsim.threads import in_threads

if TYPE_CHECKING:
    from shopsim.rlve.shop import Shop
    from shopsim.rlve.user.simulator import Verbaliser

__all__ = ["OpenRun", "TracesMismatchError", "UserVoice", "open_run"]

_MOST_THREADS: Final = 32
_SAVED_EVERY: Final = 32
"""Episodes between two savings of the curriculum; the records alone would be enough to rebuild it."""


class TracesMismatchError(ShopSimError):
    """A recorded episode is not the one that the plan draws: the file was changed, or is of another run."""

    code = "rlve_traces_mismatch"


@dataclass(frozen=True, slots=True)
class UserVoice:
    """Who words the user's texts: ``identity`` for the plan, ``build`` makes the verbaliser of a thread."""

    identity: Mapping[str, Any]
    build: Callable[[], Verbaliser | None]


TEMPLATES_VOICE: Final = UserVoice({"provider": "templates"}, lambda: None)


class OpenRun:
    """A run whose folder is checked and locked. Iterate :meth:`play` to its end."""

    def __init__(
        self, shop: Shop, request: RunRequest, voice: UserVoice, folder: Path, plan: Mapping[str, Any]
    ) -> None:
        self.folder = folder
        self.plan = plan
        self.played = 0
        self._shop = shop
        self._request = request
        self._voice = voice
        self._course = Course(plan)
        path = folder / EPISODES_FILE
        self._index = read_episodes(path) if path.exists() else TraceIndex(path, complete=is_complete)
        self._recorded = self._index.complete_ids
        self._local = threading.local()

    @property
    def episodes(self) -> int:
        """Episodes of the run: as many as were asked for, now or before."""
        count: int = self.plan["episodes"]
        return count

    @property
    def kept(self) -> int:
        """Episodes of the run that were recorded before."""
        return sum(episode_id(number) in self._recorded for number in range(self.episodes))

    @property
    def pending(self) -> int:
        """Episodes that :meth:`play` has to play."""
        return self.episodes - self.kept

    def play(self) -> Generator[dict[str, Any]]:
        """Play what is missing; each record is on disk before it is yielded. Closing it saves the curriculum.

        Raises :class:`~shopsim.rlve.agents.AgentError` when the agent fails for good (what was played stays),
        :class:`TracesMismatchError` for records that this run cannot have, and
        :class:`~shopsim.storage.StorageError` when the disk is full.
        """
        with LineWriter(self.folder / EPISODES_FILE) as writer:
            try:
                while draws := self._course.batch(self.episodes):
                    yield from self._play_batch(draws, writer)
                    if (draws[-1].episode + 1) % _SAVED_EVERY < len(draws):
                        self._save()
            finally:
                self._save()

    def _play_batch(self, draws: list[Draw], writer: LineWriter) -> Generator[dict[str, Any]]:
        missing = [draw for draw in draws if episode_id(draw.episode) not in self._recorded]
        for draw in draws:
            if draw not in missing:
                record = self._index.read(episode_id(draw.episode))
                _check_draw(self.folder, draw, record)
                self._course.record(draw, record["end"])
        with closing(self._records(missing)) as records:
            for draw, record in zip(missing, records, strict=True):
                with storing(self.folder, hint=RESUME_LATER):
                    writer.append(record)
                self._course.record(draw, record["end"])
                self.played += 1
                yield record

    def _records(self, draws: list[Draw]) -> Generator[dict[str, Any]]:
        """The records in the order of ``draws``; several are played in threads, at the same time."""
        if len(draws) < 2:
            yield from map(self._play_one, draws)
            return
        early: dict[int, Future[dict[str, Any]]] = {}
        place = 0
        with closing(in_threads(self._play_one, draws, _MOST_THREADS)) as finished:
            for ended, future in finished:
                early[ended] = future
                while place in early:
                    yield early.pop(place).result()
                    place += 1

    def _play_one(self, draw: Draw) -> dict[str, Any]:
        """One episode on this thread's own environment and agent."""
        if not hasattr(self._local, "env"):
            self._local.env = self._shop.new_env(verbaliser=self._voice.build())
            self._local.agent = self._request.agent.build()
        return play(self._local.env, self._local.agent, draw)

    def _save(self) -> None:
        with storing(self.folder, hint=RESUME_LATER):
            self._course.curriculum.save(self.folder / CURRICULUM_FILE)


@contextmanager
def open_run(
    shop: Shop,
    runs_root: Path,
    request: RunRequest,
    *,
    voice: UserVoice = TEMPLATES_VOICE,
    resume: bool = False,
    mend: str = ANOTHER_NAME,
) -> Iterator[OpenRun]:
    """Check and lock the folder of ``request`` under ``runs_root``.

    With ``resume`` only what is missing is played, and a run may be made longer; without it a folder with
    episodes is refused. Raises :class:`~shopsim.rollout.manifest.PlanMismatchError` when the folder holds
    another run (``mend`` is what to tell people then) and :class:`~shopsim.locking.RunLockedError`
    when someone else writes it.
    """
    folder = runs_root / request.experiment
    with storing(folder), folder_lock(folder):
        plan = build_plan(request, shop.settings, shop.catalogue, voice.identity)
        plan = settle_plan(folder, plan, mend=mend)
        run = OpenRun(shop, request, voice, folder, plan)
        if run.kept and not resume:
            raise UsageError(
                f"{folder}: already holds {run.kept} episodes",
                hint="Pass --resume to play what is missing, or choose another name.",
            )
        yield run


def _check_draw(folder: Path, draw: Draw, record: Mapping[str, Any]) -> None:
    for name, value in draw.to_wire().items():
        if record.get(name) != value:
            raise TracesMismatchError(
                f"{folder / EPISODES_FILE}: {record['episode_id']}: {name} is {record.get(name)!r}, "
                f"the plan draws {value!r}",
                hint=ANOTHER_NAME,
            )
