"""Work that waits for endpoints, in threads that nobody has to wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TypeVar

__all__ = ["in_threads"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    threads: int,
    stopped: threading.Event | None = None,
) -> Generator[tuple[int, Future[Result]]]:
    """Call ``work`` for every item, ``threads`` at a time; yields ``(place, finished future)`` as they end.

    Closing it returns at once: ``stopped`` is set, no further item is begun, and what is still under way may
    look at ``stopped`` and give up. No executor, because the threads of one are waited for at
    the end of the process, for as long as an endpoint makes them wait.
    """
    ended = stopped or threading.Event()
    finished: SimpleQueue[tuple[int, Future[Result]]] = SimpleQueue()
    waiting = iter(enumerate(items))
    lock = threading.Lock()

    def take() -> tuple[int, Item] | None:
        with lock:
            return None if ended.is_set() else next(waiting, None)

    def worker() -> None:
        while (taken := take()) is not None:
            place, item = taken
            future: Future[Result] = Future()
            try:
                future.set_result(work(item))
            except BaseException as error:  # noqa: BLE001 - it is raised where the result is asked for
                future.set_exception(error)
            finished.put((place, future))

    try:
        for _ in range(min(threads, len(items))):
            threading.Thread(target=worker, daemon=True).start()
        for _ in items:
            yield finished.get()
    finally:
        ended.set()
