from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

import pytest

from shopsim.service.errors import BusyError, LeaseError
from shopsim.service.leases import LeasePool
from shopsim.service.options import ServiceOptions


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def pool(clock: Clock | None = None, **options: Any) -> LeasePool[int]:
    numbers = count()
    return LeasePool(ServiceOptions(**options), lambda: next(numbers), clock or Clock())


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(5):
            await test()

    asyncio.run(bounded())


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_every_lease_has_a_slot_a_fresh_resource_and_an_unguessable_name() -> None:
    async def test() -> None:
        leases = pool(slots=3)
        taken = [await leases.acquire() for _ in range(3)]
        assert sorted(lease.slot for lease in taken) == [0, 1, 2]
        assert sorted(lease.resource for lease in taken) == [0, 1, 2]
        assert len({lease.lease_id for lease in taken}) == 3
        assert all(len(lease.lease_id) >= 32 for lease in taken)
        assert taken[0].lease_id not in repr(taken[0])
        leases.release(taken[1].slot, taken[1].lease_id)
        again = await leases.acquire()
        assert (again.slot, again.resource) == (taken[1].slot, 3)
        assert again.lease_id != taken[1].lease_id

    run(test)


def test_waiting_requests_are_served_in_their_order() -> None:
    async def test() -> None:
        leases = pool(slots=1)
        first = await leases.acquire()
        order: list[int] = []

        async def wait(number: int) -> None:
            lease = await leases.acquire()
            order.append(number)
            leases.release(lease.slot, lease.lease_id)

        tasks = [asyncio.create_task(wait(number)) for number in range(5)]
        await settle()
        assert (leases.waiting, order) == (5, [])
        leases.release(first.slot, first.lease_id)
        await asyncio.gather(*tasks)
        assert order == [0, 1, 2, 3, 4]
        assert (leases.waiting, leases.free_slots) == (0, 1)

    run(test)


def test_the_queue_is_bounded_in_length_and_time() -> None:
    async def test() -> None:
        leases = pool(slots=1, max_waiting=1, max_wait_seconds=0.05)
        held = await leases.acquire()
        waiting = asyncio.create_task(leases.acquire())
        await settle()
        with pytest.raises(BusyError, match="all 1 slots are taken and 1 requests wait"):
            await leases.acquire()
        with pytest.raises(BusyError, match="no slot came free"):
            await waiting
        assert leases.waiting == 0
        leases.release(held.slot, held.lease_id)
        assert leases.free_slots == 1

    run(test)


def test_who_leaves_the_queue_takes_no_slot() -> None:
    async def test() -> None:
        leases = pool(slots=1)
        held = await leases.acquire()
        leaver, stayer = (asyncio.create_task(leases.acquire()) for _ in range(2))
        await settle()
        leases.release(held.slot, held.lease_id)  # the slot is handed to the first in line ...
        leaver.cancel()  # ... who leaves before it could take it
        lease = await stayer
        assert lease.slot == held.slot
        leases.release(lease.slot, lease.lease_id)
        assert leases.free_slots == 1
        with pytest.raises(asyncio.CancelledError):
            await leaver

    run(test)


def test_a_stale_foreign_or_invented_lease_is_refused() -> None:
    async def test() -> None:
        leases = pool(slots=2)
        mine, yours = await leases.acquire(), await leases.acquire()
        leases.release(mine.slot, mine.lease_id)
        for slot, lease_id in (
            (mine.slot, mine.lease_id),
            (mine.slot, yours.lease_id),
            (yours.slot, "invented"),
            (yours.slot, ""),
            (yours.slot, "\ud83d"),
            (99, yours.lease_id),
        ):
            with pytest.raises(LeaseError, match="stale or belongs to somebody else"):
                async with leases.use(slot, lease_id):
                    pass
            with pytest.raises(LeaseError):
                leases.release(slot, lease_id)
        async with leases.use(yours.slot, yours.lease_id) as resource:
            assert resource == yours.resource

    run(test)


def test_requests_of_one_lease_run_one_after_the_other() -> None:
    async def test() -> None:
        leases = pool(slots=1)
        lease = await leases.acquire()
        inside = 0

        async def work() -> None:
            nonlocal inside
            async with leases.use(lease.slot, lease.lease_id):
                inside += 1
                assert inside == 1
                await settle()
                inside -= 1

        await asyncio.gather(*(work() for _ in range(8)))
        waiting = [asyncio.create_task(work()) for _ in range(8)]
        await settle()
        with pytest.raises(BusyError, match="of this lease"):
            await work()
        await asyncio.gather(*waiting)

    run(test)


def test_a_request_that_waited_while_its_lease_ended_is_refused() -> None:
    async def test() -> None:
        leases = pool(slots=1)
        lease = await leases.acquire()

        async def late() -> None:
            async with leases.use(lease.slot, lease.lease_id):
                pass

        async with leases.use(lease.slot, lease.lease_id):
            task = asyncio.create_task(late())
            await settle()
            leases.release(lease.slot, lease.lease_id)
        with pytest.raises(LeaseError):
            await task

    run(test)


def test_idle_leases_are_taken_back_but_not_under_a_running_request() -> None:
    async def test() -> None:
        clock = Clock()
        leases = pool(clock, slots=2, idle_seconds=10.0)
        idle, busy = await leases.acquire(), await leases.acquire()
        clock.now = 11.0
        async with leases.use(busy.slot, busy.lease_id):
            assert leases.reclaim_idle() == 1
            assert leases.free_slots == 1
        with pytest.raises(LeaseError):
            leases.release(idle.slot, idle.lease_id)
        clock.now = 20.0
        assert leases.reclaim_idle() == 0, "a request counts as use"
        clock.now = 22.0
        assert leases.reclaim_idle() == 1

    run(test)


def test_release_all_serves_those_who_wait() -> None:
    async def test() -> None:
        leases = pool(slots=2)
        held = [await leases.acquire(), await leases.acquire()]
        waiting = asyncio.create_task(leases.acquire())
        await settle()
        assert leases.release_all() == 2
        lease = await waiting
        assert leases.free_slots == 1
        leases.drop(held[0])
        leases.drop(lease)
        leases.drop(lease)
        assert leases.free_slots == 2

    run(test)
