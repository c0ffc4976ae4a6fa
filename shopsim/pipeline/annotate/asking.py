"""One question with all its retries: what the workers do (spec 05 step 3)."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass
from typing import Protocol

from shopsim.chat import ChatClient, ChatError, retry_pause
from shopsim.pipeline.annotate.ask import Ask, read_completion
from shopsim.pipeline.annotate.errors import SessionStoppedError, UnansweredError
from shopsim.pipeline.annotate.ledger import Ledger
from shopsim.pipeline.annotate.limiter import Limiter, Turn
from shopsim.pipeline.annotate.prompt import REQUEST_FIELDS, messages_of
from shopsim.pipeline.annotate.refusal import Refusal, judge, stopping
from shopsim.pipeline.annotate.watch import Watch
from shopsim.pipeline.answers import Answer, AnswerFault

__all__ = ["Asker", "Clock", "Patience", "StoppableClock"]


@dataclass(frozen=True, slots=True)
class Patience:
    """Tries after the first one, each kind counted by itself."""

    rate_retries: int = 20
    """After a minute-scale 429."""
    retries: int = 4
    """After a network error, a timeout or a 5xx."""
    answer_retries: int = 2
    """After an answer that breaks a rule."""

    def of(self, refusal: Refusal) -> int:
        """How many tries ``refusal`` leaves; none for what will not pass."""
        return {
            Refusal.RATE: self.rate_retries,
            Refusal.PASSING: self.retries,
            Refusal.BAD_ANSWER: self.answer_retries,
        }.get(refusal, 0)


class Clock(Protocol):
    """A steady clock whose waiting ends early when the session does."""

    def now(self) -> float:
        """Seconds."""

    def wait(self, seconds: float) -> None:
        """Let ``seconds`` pass."""


class StoppableClock:
    """The real clock; setting ``stop`` wakes everybody who waits."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop

    def now(self) -> float:
        """Seconds of the monotonic clock."""
        return time.monotonic()

    def wait(self, seconds: float) -> None:
        """Wait ``seconds``, or until the session stops."""
        self._stop.wait(seconds)


class Asker:
    """Asks one endpoint; the workers share it."""

    def __init__(
        self,
        client: ChatClient,
        limiter: Limiter,
        ledger: Ledger,
        patience: Patience,
        stop: threading.Event,
        clock: Clock | None = None,
        watch: Watch | None = None,
    ) -> None:
        self._client = client
        self._limiter = limiter
        self._ledger = ledger
        self._patience = patience
        self._stop = stop
        self._clock = clock or StoppableClock(stop)
        self._watch = watch or Watch()

    @property
    def under_way(self) -> int:
        """Requests that were sent and have no answer yet."""
        return self._ledger.under_way

    def ask(self, ask: Ask) -> Answer:
        """The checked answer to ``ask``.

        Raises :class:`UnansweredError` when no retry is left, ``AllowanceUsedError`` and
        ``SessionStoppedError`` when it may not be sent (again), and :class:`AnnotationStoppedError` for an
        error after which no request would fare better.
        """
        tries: Counter[Refusal] = Counter()
        while True:
            turn = self._turn()
            try:
                return self._once(ask)
            except ChatError as error:
                refusal, reason, pause = self._refused(error, turn, tries[Refusal.PASSING])
            except AnswerFault as fault:
                refusal, reason, pause = Refusal.BAD_ANSWER, self._client.without_key(str(fault)), 0.0
            tries[refusal] += 1
            if tries[refusal] > self._patience.of(refusal):
                raise UnansweredError(_told(refusal, tries[refusal], reason))
            self._clock.wait(pause)

    def _once(self, ask: Ask) -> Answer:
        messages = messages_of(ask.task.task_id, ask.text)
        with self._ledger.sending():
            chat = self._client.complete_once(messages, **REQUEST_FIELDS)
        self._ledger.count_tokens(chat.usage)
        return read_completion(chat, ask)

    def _refused(self, error: ChatError, turn: Turn, number: int) -> tuple[Refusal, str, float]:
        """What the error means, its reason, and the seconds before this request may try again."""
        refusal = judge(error)
        if refusal is Refusal.STOP:
            raise stopping(error) from None
        if refusal is Refusal.RATE:
            seconds = self._limiter.refused(turn, self._clock.now(), error.retry_after)
            if seconds is not None:
                self._watch.pausing(seconds, self._limiter.per_minute)
        pause = retry_pause(number, error.retry_after) if refusal is Refusal.PASSING else 0.0
        return refusal, str(error), pause

    def _turn(self) -> Turn:
        """Wait until the limiter lets a request start."""
        self._ledger.spend()
        while not self._stop.is_set():
            turn = self._limiter.take(self._clock.now())
            if not turn.wait:
                return turn
            self._clock.wait(turn.wait)
        self._ledger.give_back()
        raise SessionStoppedError


def _told(refusal: Refusal, tries: int, reason: str) -> str:
    times = f" after {tries} tries" if tries > 1 else ""
    return f"{refusal.value}{times}: {reason}"
