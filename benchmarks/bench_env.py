"""Environment speed on the prepared catalogue: steps a second without search, and the cost of reset.

A step includes the observation state and the rendered text. Searching is timed apart, because it belongs to
the index. Run ``python -m benchmarks.bench_env`` after ``shopsim prepare``.
"""

from __future__ import annotations

import json
import random
import time
from typing import Any

from benchmarks._timing import best_seconds, line, percentile
from shopsim.engine import Engine, open_engine
from shopsim.env import ShopEnv, click, search

TASKS = 100
STEPS_A_TASK = 29
MIN_STEPS_A_SECOND = 5_000
MAX_RESET_SECONDS = 0.002


def main() -> None:
    """Measure and print."""
    start = time.perf_counter()
    engine = open_engine()
    line("open the engine", f"{time.perf_counter() - start:.2f} s", "well under 1 s")
    task_ids = list(engine.goals.ids)
    cold = _reset_times(engine.new_env(), task_ids)
    warm = _reset_times(engine.new_env(), task_ids)
    for name, times in (("reset, first time of each task", cold), ("reset, again", warm)):
        worst = percentile(times, 0.99)
        figure = f"{1000 * percentile(times, 0.5):.3f} / {1000 * worst:.3f} ms"
        line(f"{name} (median / p99)", figure, "<= 2 ms", worst <= MAX_RESET_SECONDS)
    _walk(engine, task_ids[:TASKS], [])  # fills the product cache, as a long run would
    answers: list[dict[str, Any]] = []
    rates = [_walk(engine, task_ids[:TASKS], answers) for _ in range(3)]
    steps_a_second, searches_a_second = (max(column) for column in zip(*rates, strict=True))
    met = steps_a_second >= MIN_STEPS_A_SECOND
    line("steps without search", f"{steps_a_second:,.0f} a second", f">= {MIN_STEPS_A_SECOND:,}", met)
    line("search steps, with the index", f"{searches_a_second:,.0f} a second")
    sample = answers[: TASKS * STEPS_A_TASK]
    dump = best_seconds(lambda: [json.dumps(answer, ensure_ascii=False) for answer in sample])
    ratio = (len(sample) / steps_a_second) / dump
    line("a step / writing its answer as JSON", f"{ratio:.2f} times")
    engine.close()


def _reset_times(env: ShopEnv, task_ids: list[int]) -> list[float]:
    times = []
    for task_id in task_ids:
        start = time.perf_counter()
        env.reset(task_id)
        times.append(time.perf_counter() - start)
    return times


def _walk(engine: Engine, task_ids: list[int], answers: list[dict[str, Any]]) -> tuple[float, float]:
    """A seeded walk over offered actions that never buys; returns (steps, searches) a second.

    ``answers`` collects the answers of the steps that are no search.
    """
    env = engine.new_env()
    chooser = random.Random(7)
    spent = {True: 0.0, False: 0.0}
    counts = {True: 0, False: 0}
    for task_id in task_ids:
        instruction = env.reset(task_id)["task_instruction"]
        actions: list[str] = []
        for _ in range(STEPS_A_TASK):
            offered = [action for action in actions if action not in ("buy now", "back to search")]
            is_search = not actions
            response = search(instruction) if is_search else click(chooser.choice(offered or actions))
            start = time.perf_counter()
            answer = env.step(response)
            spent[is_search] += time.perf_counter() - start
            counts[is_search] += 1
            actions = answer["observation_state"]["actions"]
            if not is_search:
                answers.append(answer)
    return counts[False] / spent[False], counts[True] / spent[True]


if __name__ == "__main__":
    main()
