"""Work in threads: every item once, errors where results are asked for, nobody waits at the end."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from shopsim.threads import in_threads


@pytest.mark.parametrize("threads", [1, 3, 50])
def test_every_item_is_worked_on_once(threads: int) -> None:
    working = in_threads(lambda item: item * 2, range(20), threads)
    found = {place: future.result() for place, future in working}
    assert found == {place: place * 2 for place in range(20)}


def test_no_items_are_no_work() -> None:
    assert list(in_threads(str, [], 4)) == []


def test_so_many_at_a_time_and_no_more() -> None:
    lock, now, most = threading.Lock(), 0, 0

    def work(_: int) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.01)
        with lock:
            now -= 1

    assert len(list(in_threads(work, range(30), 4))) == 30
    assert 1 < most <= 4


def test_an_error_is_raised_where_the_result_is_asked_for() -> None:
    def work(item: int) -> int:
        return 12 // item

    ended = dict(in_threads(work, [3, 0, 4], 2))
    assert (ended[0].result(), ended[2].result()) == (4, 3)
    with pytest.raises(ZeroDivisionError):
        ended[1].result()


def test_closing_begins_nothing_more_and_waits_for_nothing() -> None:
    begun: list[int] = []
    held, stopped = threading.Event(), threading.Event()

    def work(item: int) -> int:
        begun.append(item)
        if item:
            held.wait(30)
        return item

    working = in_threads(work, range(100), 2, stopped)
    assert next(working)[0] == 0
    while len(begun) < 3:
        time.sleep(0.001)
    working.close()
    assert stopped.is_set()
    held.set()
    time.sleep(0.05)
    assert begun == [0, 1, 2]


def test_a_process_ends_though_work_still_waits() -> None:
    script = (
        "import threading\n"
        "from shopsim.threads import in_threads\n"
        "working = in_threads(lambda item: item and threading.Event().wait(), range(9), 2)\n"
        "next(working)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=20)
