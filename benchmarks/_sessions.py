"""Ten sessions at once against a real server: what each of them waits for a page.

Every session is a visitor of its own over the server's websocket and presses the next page the moment the
last one is there, so that all ten always wait for the one Python process behind them. Nobody reads a page in
between: people press far less often.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchmarks._visitors import Server, Visit, Visitor

__all__ = ["SESSIONS", "Waits", "on_cold_pages", "on_different_pages", "on_the_same_page", "warm_up"]

SESSIONS = 10
_TICK_SECONDS = 0.05

Walk = Callable[[Visitor, int, asyncio.Barrier], Awaitable[list[Visit]]]


@dataclass(frozen=True, slots=True)
class Waits:
    """What the sessions waited, every page run of every session.

    ``stood_still`` is the longest time in seconds that this measuring process, which does next to nothing,
    did not get to run: a machine that halts (a virtual one, a laptop) makes every session wait as long.
    """

    visits: list[Visit]
    stood_still: float

    @property
    def seconds(self) -> list[float]:
        """The waits."""
        return [visit.seconds for visit in self.visits]

    @property
    def slowest(self) -> Visit:
        """The page run that took longest."""
        return max(self.visits, key=lambda visit: visit.seconds)


def warm_up(server: Server, pages: Sequence[str]) -> dict[str, float]:
    """One visitor opens every page once, as the first reviewer of the day does; seconds by page."""

    async def walk() -> dict[str, float]:
        async with Visitor(server.port) as visitor:
            return {page: (await visitor.open(page)).seconds for page in pages}

    return asyncio.run(walk())


def on_different_pages(server: Server, pages: Sequence[str], *, rounds: int = 2) -> Waits:
    """All sessions go through all pages, each from another one on and nobody waiting for anybody."""

    async def walk(visitor: Visitor, number: int, ready: asyncio.Barrier) -> list[Visit]:
        await visitor.open(pages[number % len(pages)])
        await ready.wait()
        turns = range(rounds * len(pages))
        return [await visitor.open(pages[(number + turn) % len(pages)]) for turn in turns]

    return asyncio.run(_together(server, walk))


def on_the_same_page(server: Server, pages: Sequence[str], *, rounds: int = 2) -> Waits:
    """All sessions press the same page at the same moment, page after page."""

    async def walk(visitor: Visitor, number: int, ready: asyncio.Barrier) -> list[Visit]:
        visits = []
        await visitor.open(pages[0])
        for _ in range(rounds):
            for page in pages:
                await ready.wait()
                visits.append(await visitor.open(page))
        return visits

    return asyncio.run(_together(server, walk))


def on_cold_pages(server: Server, pages: Sequence[str]) -> Waits:
    """Like :func:`on_the_same_page` on a server of which nobody opened any page before."""

    async def walk(visitor: Visitor, number: int, ready: asyncio.Barrier) -> list[Visit]:
        visits = []
        for page in pages:
            await ready.wait()
            visits.append(await visitor.open(page))
        return visits

    return asyncio.run(_together(server, walk))


async def _together(server: Server, walk: Walk) -> Waits:
    ready = asyncio.Barrier(SESSIONS)

    async def session(number: int) -> list[Visit]:
        async with Visitor(server.port) as visitor:
            return await walk(visitor, number, ready)

    ticks = [time.perf_counter()]
    ticking = asyncio.create_task(_tick(ticks))
    found = await asyncio.gather(*map(session, range(SESSIONS)))
    ticking.cancel()
    stood_still = max(after - before for before, after in pairwise([*ticks, time.perf_counter()]))
    return Waits([visit for visits in found for visit in visits], stood_still - _TICK_SECONDS)


async def _tick(ticks: list[float]) -> None:
    while True:
        await asyncio.sleep(_TICK_SECONDS)
        ticks.append(time.perf_counter())
