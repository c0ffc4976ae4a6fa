"""Plays whole runs, here or one a process. What is played where changes no record but its timing."""

from __future__ import annotations

import multiprocessing
from collections.abc import Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from shopsim.rlve.errors import DemoError
from shopsim.rlve.rollout import RunRequest, open_run
from shopsim.rlve.shop import Shop, open_shop
from shopsim.rollout.parent import follow_parent

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized
    from multiprocessing.synchronize import Event

    from shopsim.settings import Settings

__all__ = ["play_here", "play_in_processes"]

_POLL_SECONDS: Final = 0.1


def play_here(shop: Shop, runs_root: Path, requests: Sequence[RunRequest]) -> Generator[int]:
    """Play what is missing of ``requests``, one after the other; yields 1 for each episode on disk."""
    for request in requests:
        with open_run(shop, runs_root, request, resume=True) as run, closing(run.play()) as records:
            for _ in records:
                yield 1


def play_in_processes(settings: Settings, requests: Sequence[RunRequest], workers: int) -> Generator[int]:
    """Play each of ``requests`` in one of ``workers`` processes; yields 1 for each episode on disk.

    Closing it stops the workers after the episode at hand. Raises :class:`DemoError` when a process dies.
    """
    context: Any = multiprocessing.get_context("spawn")
    played, stop = context.Value("q", 0), context.Event()
    pool = ProcessPoolExecutor(
        workers, mp_context=context, initializer=_start_worker, initargs=(settings, played, stop)
    )
    told = 0
    try:
        running: set[Future[None]] = {pool.submit(_work, request) for request in requests}
        while running:
            done, running = wait(running, _POLL_SECONDS, FIRST_COMPLETED)
            for future in done:
                future.result()
            count = played.value
            yield from (1 for _ in range(count - told))
            told = count
    except BrokenProcessPool:
        raise DemoError("a worker process died", hint="Run `shopsim rlve demo` for the rest.") from None
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)


class _Worker:
    """What a worker process holds: opened once, used for every run that it plays."""

    settings: Settings
    shop: Shop
    played: Synchronized[int]
    stop: Event


def _start_worker(settings: Settings, played: Synchronized[int], stop: Event) -> None:
    follow_parent()
    _Worker.settings, _Worker.shop = settings, open_shop(settings)
    _Worker.played, _Worker.stop = played, stop


def _work(request: RunRequest) -> None:
    with closing(play_here(_Worker.shop, _Worker.settings.runs_root, [request])) as episodes:
        for one in episodes:
            with _Worker.played.get_lock():
                _Worker.played.value += one
            if _Worker.stop.is_set():
                return
