"""One session: a health check by itself, then workers that share a queue (spec 05 step 3).

Every answer is on the disk before its request counts as done. Whatever ends a session (an error, the
allowance, Ctrl-C), requests under way get some time, because their answers are paid for.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from shopsim.errors import ShopSimError
from shopsim.pipeline.annotate.ask import Ask, next_ask
from shopsim.pipeline.annotate.asking import Asker
from shopsim.pipeline.annotate.errors import (
    AllowanceUsedError,
    AnnotationStoppedError,
    SessionStoppedError,
    UnansweredError,
)
from shopsim.pipeline.annotate.watch import Watch
from shopsim.pipeline.answers import Answer

__all__ = ["FAILURES_IN_A_ROW", "Session"]

FAILURES_IN_A_ROW: Final = 5
"""After so many requests without a usable answer and none with one in between, the session stops."""

_GRACE_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 0.2


class Session:
    """Asks everything in a queue once. ``save`` puts one answer on the disk, called by one thread at a time.

    ``answers`` are known already, ``stop`` is the event that ends the asker's waiting, too. Afterwards
    ``answers`` holds the new ones as well, ``saved`` counts those, and ``failed`` tells why others miss.
    """

    def __init__(
        self,
        asker: Asker,
        asks: Iterable[Ask],
        answers: Mapping[tuple[int, str], Answer],
        save: Callable[[Answer], None],
        stop: threading.Event,
        *,
        workers: int,
        watch: Watch | None = None,
        grace_seconds: float = _GRACE_SECONDS,
    ) -> None:
        self._asker = asker
        self._queue = deque(asks)
        self._save = save
        self._stop = stop
        self._workers = workers
        self._watch = watch or Watch()
        self._grace = grace_seconds
        self._changed = threading.Condition()
        self._under_way = 0
        self._closed = False
        self._in_a_row = 0
        self._error: ShopSimError | None = None
        self.answers = dict(answers)
        self.saved = 0
        self.failed: list[tuple[Ask, str]] = []

    def run(self) -> None:
        """Ask until everything is answered or failed, or the allowance is used.

        Raises the :class:`ShopSimError` that stopped the session early, and KeyboardInterrupt after the
        requests under way had their time.
        """
        if not self._queue:
            return
        self._show_progress()
        if not self._check_health():
            return
        threads = [
            threading.Thread(target=self._work, name=f"annotate-{number}", daemon=True)
            for number in range(min(self._workers, len(self._queue)))
        ]
        try:
            for thread in threads:
                thread.start()
            self._wait(threads)
        finally:
            self._end(threads)
        if self._error is not None:
            raise self._error

    def _check_health(self) -> bool:
        """Ask the first question and save its answer; False when the session may send nothing."""
        ask = self._queue.popleft()
        try:
            self._keep(ask, self._asker.ask(ask))
        except AllowanceUsedError:
            return False
        except UnansweredError as failure:
            raise AnnotationStoppedError(
                f"the first request, {ask}, {failure}",
                hint="Nothing else was sent.",
            ) from None
        self._show_progress()
        return True

    def _wait(self, threads: list[threading.Thread]) -> None:
        """Wait for the workers, or for a reason to stop."""
        with self._changed:
            while not self._stop.is_set() and any(thread.is_alive() for thread in threads):
                self._changed.wait(_LOOK_SECONDS)

    def _end(self, threads: list[threading.Thread]) -> None:
        """Let requests under way finish for a while; answers that come later are nobody's."""
        with self._changed:
            self._stop.set()
            self._changed.notify_all()
        deadline = time.monotonic() + self._grace
        try:
            if under_way := self._asker.under_way:
                self._watch.stopping(under_way, self._grace)
            for thread in threads:
                if thread.ident is not None:
                    thread.join(max(0.0, deadline - time.monotonic()))
        finally:
            with self._changed:
                self._closed = True

    def _work(self) -> None:
        while (ask := self._next()) is not None:
            settled = None
            try:
                settled = self._do(ask)
            finally:
                with self._changed:
                    self._under_way -= 1
                    self._show_progress()
                    self._changed.notify_all()
                if settled is None:
                    self._give_up(AnnotationStoppedError("a worker met an unexpected error, shown above"))
            if not settled:
                return

    def _next(self) -> Ask | None:
        """The next question; one that is under way may yet bring another."""
        with self._changed:
            while not self._queue and self._under_way and not self._stop.is_set():
                self._changed.wait()
            if not self._queue or self._stop.is_set():
                return None
            self._under_way += 1
            return self._queue.popleft()

    def _do(self, ask: Ask) -> bool:
        """Ask and keep what comes of it; False when this worker should end and the question stays open."""
        try:
            answer = self._asker.ask(ask)
            with self._changed:
                self._keep(ask, answer)
        except UnansweredError as failure:
            self._fail(ask, str(failure))
        except (AllowanceUsedError, SessionStoppedError):
            return False
        except ShopSimError as error:
            self._give_up(error)
            return False
        return True

    def _keep(self, ask: Ask, answer: Answer) -> None:
        if self._closed:
            return
        self._save(answer)
        self.answers[answer.task_id, answer.source_field] = answer
        self.saved += 1
        self._in_a_row = 0
        if following := next_ask(ask.task, self.answers):
            self._queue.appendleft(following)

    def _fail(self, ask: Ask, reason: str) -> None:
        with self._changed:
            self.failed.append((ask, reason))
            self._in_a_row += 1
            if self._in_a_row < FAILURES_IN_A_ROW:
                return
        self._give_up(
            AnnotationStoppedError(
                f"{FAILURES_IN_A_ROW} requests in a row came to nothing; the last, {ask}, {reason}"
            )
        )

    def _give_up(self, error: ShopSimError) -> None:
        with self._changed:
            self._error = self._error or error
            self._stop.set()
            self._changed.notify_all()

    def _show_progress(self) -> None:
        done = self.saved + len(self.failed)
        self._watch.progress(done, done + len(self._queue) + self._under_way)
