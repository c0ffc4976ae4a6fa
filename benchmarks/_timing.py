"""Timing helpers of the benchmarks: repeated measurement, and one line a figure."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import TypeVar

__all__ = ["best_seconds", "line", "peak_gib", "percentile", "timed"]

T = TypeVar("T")


def best_seconds(call: Callable[[], object], repeats: int = 5) -> float:
    """The shortest of ``repeats`` runs in seconds: the one that the rest of the machine disturbed least."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def timed(call: Callable[[], T]) -> tuple[T, float]:
    """What ``call()`` returns, and the seconds that it took once."""
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def percentile(values: list[float], share: float) -> float:
    """The value below which ``share`` (0 to 1) of ``values`` lie, by nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def peak_gib() -> float:
    """The most memory that this process has held so far, in GiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**30 if sys.platform == "darwin" else peak / 2**20


def line(name: str, figure: str, target: str = "", met: bool | None = None) -> None:
    """Print one figure, with its target and whether it was met where there is one."""
    verdict = "" if met is None else ("  ok" if met else "  MISSED")
    print(f"{name:<44} {figure:>22}  {target}{verdict}")
