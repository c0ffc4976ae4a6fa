"""A session against a real local endpoint: health check, workers, retries by kind, waves, stops."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from shopsim.chat import ChatClient, Endpoint
from shopsim.pipeline.annotate.ask import Ask
from shopsim.pipeline.annotate.asking import Asker, Patience
from shopsim.pipeline.annotate.errors import AnnotationStoppedError
from shopsim.pipeline.annotate.ledger import Ledger
from shopsim.pipeline.annotate.limiter import Limiter
from shopsim.pipeline.annotate.session import FAILURES_IN_A_ROW, Session
from shopsim.pipeline.annotate.watch import Watch
from shopsim.pipeline.answers import Answer
from shopsim.storage import StorageError
from tests.factories.annotators import CountingClock, ask_about, asked_about, reply
from tests.factories.chat_endpoint import ChatServer, chat_server, completion

SIMPLE, FULL = "instruction_simple", "instruction"
Handler = Callable[[dict[str, Any]], tuple[int, Any]]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with chat_server() as running:
        yield running


class Bench:
    """A session and everything around it that tests look at."""

    def __init__(self, server: ChatServer, count: int, **options: Any) -> None:
        self.saved: list[Answer] = []
        self.clock, self.stop = CountingClock(), threading.Event()
        self.limiter = Limiter(options.pop("rate", 32))
        self.ledger = Ledger(options.pop("allowance", None))
        patience = options.pop("patience", Patience())
        endpoint = Endpoint(server.base_url, "m", timeout_seconds=options.pop("timeout", 5.0))
        self.shown: list[tuple[int, int]] = []
        self.told: list[tuple[str, float, float]] = []
        watch = Watch(
            lambda done, total: self.shown.append((done, total)),
            lambda seconds, rate: self.told.append(("pausing", seconds, rate)),
            lambda under_way, seconds: self.told.append(("stopping", under_way, seconds)),
        )
        client = ChatClient(endpoint)
        asker = Asker(client, self.limiter, self.ledger, patience, self.stop, self.clock, watch)
        self.session = Session(
            asker,
            options.pop(
                "asks", [ask_about(f"买个盒子{number}，50元以内", number) for number in range(count)]
            ),
            options.pop("answers", {}),
            options.pop("save", self.saved.append),
            self.stop,
            workers=options.pop("workers", 1),
            watch=watch,
            **options,
        )

    def run(self) -> Bench:
        self.session.run()
        return self


def good(request: dict[str, Any]) -> tuple[int, Any]:
    task_id, _ = asked_about(request)
    return reply(task_id=task_id, kind="hard_upper", amount=50, evidence="50元以内")


def unlimited(request: dict[str, Any]) -> tuple[int, Any]:
    return reply(task_id=asked_about(request)[0], kind="no_budget", amount=None, evidence="")


def first(times: int, answer: tuple[int, Any]) -> Handler:
    """``answer`` so many times, then good ones."""
    left = iter(range(times))
    return lambda request: answer if next(left, None) is not None else good(request)


RATE = (429, {"error": {"message": "RPM limit reached"}})


def test_everything_is_asked_once_and_saved(server: ChatServer) -> None:
    server.answer = good
    bench = Bench(server, 6).run()
    assert sorted(answer.task_id for answer in bench.saved) == list(range(6))
    assert (bench.ledger.sent, bench.session.saved, bench.session.failed) == (6, 6, [])
    assert (bench.ledger.prompt_tokens, bench.ledger.completion_tokens) == (600, 60)
    assert bench.clock.waits == [1.875] * 5, "32 a minute"
    assert bench.shown == [(done, 6) for done in range(7)]


def test_without_a_limit_the_full_text_follows_at_once(server: ChatServer) -> None:
    server.answer = unlimited
    bench = Bench(server, 2).run()
    asked = [(answer.task_id, answer.source_field) for answer in bench.saved]
    assert asked == [(0, SIMPLE), (0, FULL), (1, SIMPLE), (1, FULL)]


def test_what_the_cache_knows_is_not_asked_again(server: ChatServer) -> None:
    server.answer = unlimited
    known = {(0, SIMPLE): Answer(0, SIMPLE, "no_budget", None, "")}
    asks = [ask_about("买个盒子", 0, FULL)]
    assert len(Bench(server, 0, asks=asks, answers=known).run().saved) == 1
    assert len(server.requests) == 1


def test_the_workers_start_only_when_the_first_answer_is_saved(server: ChatServer) -> None:
    under_way, most, saved_before = [0], [0], []
    lock, both = threading.Lock(), threading.Barrier(3, timeout=5)

    def answer(request: dict[str, Any]) -> tuple[int, Any]:
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
            saved_before.append(len(bench.saved))
            alone = len(saved_before) == 1
        if not alone:
            both.wait()
        with lock:
            under_way[0] -= 1
        return good(request)

    server.answer = answer
    bench = Bench(server, 7, workers=3)
    bench.run()
    assert saved_before[0] == 0
    assert all(saved_before[1:]), "nothing is sent before the health check is saved"
    assert most[0] == 3, "then as many at once as there are workers"


@pytest.mark.parametrize(
    ("answer", "match"),
    [
        ((401, {"error": "bad key"}), r"HTTP 401.*key is not accepted"),
        ((403, {"error": "no"}), r"HTTP 403.*topped up"),
        ((404, {"error": "no"}), r"HTTP 404.*--base-url and --model"),
        ((429, {"message": "RPD limit reached"}), r"HTTP 429, a limit that no pause.*RPD limit reached"),
        (
            (400, {"error": "response_format"}),
            r"first request, task 0 \(instruction_simple\), refused: .*400",
        ),
        ((200, completion("sorry")), r"first request, .* unusable after 3 tries: the answer is no JSON"),
        ((200, b"<html>"), r"unusable after 3 tries: .*no chat completion"),
        ((503, {"error": "busy"}), r"first request, .* failed after 5 tries: .*HTTP 503"),
    ],
)
def test_a_bad_health_check_stops_before_anything_else_is_sent(
    server: ChatServer, answer: tuple[int, Any], match: str
) -> None:
    server.answer = lambda _: answer
    bench = Bench(server, 9, workers=4)
    with pytest.raises(AnnotationStoppedError, match=match) as caught:
        bench.run()
    assert "\n" not in str(caught.value)
    assert bench.saved == []
    assert {asked_about(request)[0] for request in server.requests} == {0}


def test_a_wave_pauses_and_the_second_halves_the_rate(server: ChatServer) -> None:
    server.answer = first(2, RATE)
    bench = Bench(server, 3).run()
    assert bench.clock.waits == [65.0, 65.0, 3.75, 3.75]
    assert (bench.limiter.waves, bench.limiter.per_minute, bench.ledger.sent) == (2, 16, 5)
    assert bench.told == [("pausing", 65.0, 32), ("pausing", 65.0, 16)]


def test_the_endpoint_says_how_long(server: ChatServer) -> None:
    server.headers = {"Retry-After": "20"}
    server.answer = first(1, RATE)
    assert Bench(server, 1).run().clock.waits == [20.0]


def test_retries_of_each_kind_are_counted_apart(server: ChatServer) -> None:
    bad, busy = (200, completion("{}")), (500, {"error": "oops"})
    script = iter([RATE, busy, bad] * 2 + [RATE] * 18 + [busy] * 2)
    server.answer = lambda request: next(script, None) or good(request)
    bench = Bench(server, 1).run()
    assert len(bench.saved) == 1
    assert bench.ledger.sent == 20 + 4 + 2 + 1, "20 for the rate, 4 for errors, 2 for bad answers"
    assert bench.limiter.per_minute == 1


@pytest.mark.parametrize(
    ("answer", "tries"), [(RATE, 21), ((500, {}), 5), ((200, completion("{}")), 3), ((400, {}), 1)]
)
def test_a_request_that_gets_nothing_does_not_hold_up_the_others(
    server: ChatServer, answer: tuple[int, Any], tries: int
) -> None:
    server.answer = lambda request: answer if asked_about(request)[0] == 2 else good(request)
    bench = Bench(server, 5).run()
    assert [saved.task_id for saved in bench.saved] == [0, 1, 3, 4]
    ((ask, reason),) = bench.session.failed
    assert ask.task.task_id == 2
    assert tries == 1 or f"after {tries} tries: " in reason
    assert bench.ledger.sent == 4 + tries


def test_failures_in_a_row_stop(server: ChatServer) -> None:
    server.answer = lambda request: good(request) if asked_about(request)[0] in (0, 3) else (400, {"e": 1})
    bench = Bench(server, 20)
    with pytest.raises(AnnotationStoppedError, match=r"5 requests in a row .* task 8 .*refused: .*HTTP 400"):
        bench.run()
    assert len(server.requests) == 4 + FAILURES_IN_A_ROW


def test_an_allowance_bounds_everything_that_is_sent(server: ChatServer) -> None:
    server.answer = first(2, (500, {}))
    bench = Bench(server, 9, allowance=5, workers=4).run()
    assert len(server.requests) == bench.ledger.sent == 5
    assert len(bench.saved) == 3
    server.answer = lambda _: (500, {})
    assert Bench(server, 9, allowance=1).run().saved == []
    assert len(server.requests) == 6


def test_a_quota_that_ends_in_the_middle_keeps_what_is_under_way(server: ChatServer) -> None:
    """The refusal comes while two others wait for their answers, which are paid for and saved."""
    refused = threading.Event()

    def answer(request: dict[str, Any]) -> tuple[int, Any]:
        task_id, _ = asked_about(request)
        if task_id == 3:
            refused.set()
            return 429, {"message": "daily quota used up"}
        if task_id:
            refused.wait(5)
        return good(request)

    server.answer = answer
    bench = Bench(server, 30, workers=3)
    with pytest.raises(AnnotationStoppedError, match="daily quota"):
        bench.run()
    assert {saved.task_id for saved in bench.saved} >= {0, 1, 2}
    assert len(server.requests) <= 6


def test_an_endpoint_that_hangs_is_given_up(server: ChatServer) -> None:
    release = threading.Event()

    def answer(request: dict[str, Any]) -> tuple[int, Any]:
        if asked_about(request)[0] == 1:
            release.wait(10)
        return good(request)

    server.answer = answer
    bench = Bench(server, 3, timeout=0.2, patience=Patience(retries=1)).run()
    release.set()
    assert [saved.task_id for saved in bench.saved] == [0, 2]
    assert "failed after 2 tries" in bench.session.failed[0][1]
    assert "timed out" in bench.session.failed[0][1]


def test_a_disk_that_is_full_stops(server: ChatServer) -> None:
    saved: list[Answer] = []

    def save(answer: Answer) -> None:
        if len(saved) == 2:
            raise StorageError("cache.jsonl: cannot be written (No space left on device)")
        saved.append(answer)

    server.answer = good
    with pytest.raises(StorageError, match="No space left"):
        Bench(server, 40, save=save, workers=2).run()
    assert len(saved) == 2
    assert len(server.requests) <= 5


def test_answers_that_come_after_the_end_are_nobodys(server: ChatServer) -> None:
    release, refused = threading.Event(), threading.Event()

    def answer(request: dict[str, Any]) -> tuple[int, Any]:
        task_id, _ = asked_about(request)
        if task_id == 1:
            refused.set()
            release.wait(10)
        if task_id == 2:
            refused.wait(5)
            return 401, {}
        return good(request)

    server.answer = answer
    bench = Bench(server, 3, workers=2, grace_seconds=0.1)
    with pytest.raises(AnnotationStoppedError, match="HTTP 401"):
        bench.run()
    assert bench.told == [("stopping", 1, 0.1)]
    release.set()
    for thread in threading.enumerate():
        if thread.name.startswith("annotate-"):
            thread.join(5)
    assert [saved.task_id for saved in bench.saved] == [0]


def test_a_worker_that_breaks_is_no_quiet_loss(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answer = good
    broken: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", broken.append)
    saves = iter([None])

    def save(answer: Answer) -> None:
        next(saves)

    with pytest.raises(AnnotationStoppedError, match="unexpected error"):
        Bench(server, 4, save=save).run()
    assert len(broken) == 1


def test_nothing_to_ask_sends_nothing(server: ChatServer) -> None:
    asks: list[Ask] = []
    assert Bench(server, 0, asks=asks).run().shown == []
    assert server.requests == []
