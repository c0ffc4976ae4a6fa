"""A fixed number of environment slots, lent to one owner at a time.

Everything here runs in the event loop's thread, so its state needs no lock; what an owner does with its
environment runs in worker threads, one request of a lease after the other.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from shopsim.service.errors import BusyError, LeaseError
from shopsim.service.options import ServiceOptions

__all__ = ["Lease", "LeasePool"]

T = TypeVar("T")
_TOKEN_BYTES = 24
_MAX_REQUESTS = 8
"""Requests of one lease at a time: one runs, the others wait for it."""


@dataclass(slots=True, eq=False)
class Lease(Generic[T]):
    """One slot in use. ``lease_id`` is unguessable; ``resource`` is new for every lease."""

    slot: int
    resource: T
    last_used: float
    lease_id: str = field(default_factory=lambda: secrets.token_urlsafe(_TOKEN_BYTES), repr=False)
    requests: int = 0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)


class LeasePool(Generic[T]):
    """Lends slots first come, first served. ``make`` builds the resource of each new lease."""

    def __init__(
        self, options: ServiceOptions, make: Callable[[], T], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._options = options
        self._make = make
        self._clock = clock
        self._free: deque[int] = deque(range(options.slots))
        self._leases: dict[int, Lease[T]] = {}
        self._waiting: deque[asyncio.Future[int]] = deque()

    @property
    def free_slots(self) -> int:
        """Slots that nobody holds."""
        return len(self._free)

    @property
    def waiting(self) -> int:
        """Requests that wait for a slot."""
        return sum(not future.done() for future in self._waiting)

    async def acquire(self) -> Lease[T]:
        """Wait for the next free slot and lease it.

        Raises :class:`BusyError` at once when too many wait already, or after the longest wait allowed. A
        caller that is cancelled while it waits takes no slot.
        """
        slot = self._free.popleft() if self._free else await self._wait_for_slot()
        lease = Lease(slot, self._make(), self._clock())
        self._leases[slot] = lease
        return lease

    @asynccontextmanager
    async def use(self, slot: int, lease_id: str) -> AsyncIterator[T]:
        """Give the resource of a lease to its owner, when its earlier requests are done.

        Raises :class:`LeaseError` when the lease is not (or no longer, after waiting) the slot's, and
        :class:`BusyError` when too many requests of this lease wait already.
        """
        lease = self._owned(slot, lease_id)
        if lease.requests >= _MAX_REQUESTS:
            raise BusyError(f"env_idx {slot}: {lease.requests} requests of this lease are waiting already")
        lease.requests += 1
        try:
            async with lease.turn:
                self._owned(slot, lease_id)
                yield lease.resource
        finally:
            lease.requests -= 1
            lease.last_used = self._clock()

    def release(self, slot: int, lease_id: str) -> None:
        """Give a slot back. Raises :class:`LeaseError` for a lease that is not the slot's."""
        self._end(self._owned(slot, lease_id))

    def drop(self, lease: Lease[T]) -> None:
        """End a lease if it has not ended already."""
        if self._leases.get(lease.slot) is lease:
            self._end(lease)

    def release_all(self) -> int:
        """End every lease; returns how many there were."""
        leases = list(self._leases.values())
        for lease in leases:
            self._end(lease)
        return len(leases)

    def reclaim_idle(self) -> int:
        """End the leases that were idle for too long; returns how many. Requests under way keep theirs."""
        oldest = self._clock() - self._options.idle_seconds
        idle = [lease for lease in self._leases.values() if not lease.requests and lease.last_used < oldest]
        for lease in idle:
            self._end(lease)
        return len(idle)

    def _owned(self, slot: int, lease_id: str) -> Lease[T]:
        lease = self._leases.get(slot)
        given, right = lease_id.encode("utf-8", "replace"), lease.lease_id.encode() if lease else b""
        if lease is None or not secrets.compare_digest(given, right):
            raise LeaseError(
                f"env_idx {slot}: the lease is stale or belongs to somebody else",
                hint="Reset to get a new one.",
            )
        return lease

    def _end(self, lease: Lease[T]) -> None:
        del self._leases[lease.slot]
        self._hand_over(lease.slot)

    def _hand_over(self, slot: int) -> None:
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(slot)
                return
        self._free.append(slot)

    async def _wait_for_slot(self) -> int:
        if self.waiting >= self._options.max_waiting:
            raise BusyError(
                f"all {self._options.slots} slots are taken and {self.waiting} requests wait",
                hint="Try later.",
            )
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        try:
            async with asyncio.timeout(self._options.max_wait_seconds):
                return await future
        except TimeoutError:
            self._forget(future)
            raise BusyError(
                f"no slot came free in {self._options.max_wait_seconds:g} seconds", hint="Try later."
            ) from None
        except asyncio.CancelledError:
            self._forget(future)
            raise

    def _forget(self, future: asyncio.Future[int]) -> None:
        """Leave the queue; a slot that was handed over in the same moment goes to the next in line."""
        if future.done() and not future.cancelled():
            self._hand_over(future.result())
            return
        future.cancel()
        if future in self._waiting:
            self._waiting.remove(future)
