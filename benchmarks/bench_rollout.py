"""Rollouts on the prepared catalogue: what playing, appending and reading cost beyond the unavoidable.

Each figure is a ratio against a baseline of the same run: playing against the environment stepping the same
actions, appending against writing and syncing the same bytes, reading against ``json.loads`` of every line.
Run ``python -m benchmarks.bench_rollout`` after ``shopsim prepare``.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks._timing import best_seconds, line
from shopsim.engine import Engine, open_engine
from shopsim.jsonl import LineWriter, encode_record
from shopsim.rollout.agents import agent_spec, build_agent
from shopsim.rollout.episode import EpisodeSettings, run_episode
from shopsim.rollout.jobs import make_jobs
from shopsim.rollout.trace import read_records

SETTINGS = EpisodeSettings(True, "single_turn", 30, {})


def main() -> None:
    """Measure and print."""
    with open_engine() as engine:
        records = _play(engine)
        start = time.perf_counter()
        records = _play(engine)
        playing = time.perf_counter() - start
        stepping = best_seconds(lambda: _step_again(engine, records), 3)
        line("episodes of the scripted shopper", f"{len(records) / playing:,.0f} a second")
        line("playing / environment alone", f"{playing / stepping:.2f} times")
    lines = [encode_record(record) for record in records]
    megabytes = sum(map(len, lines)) / 1e6
    encoding = best_seconds(lambda: [encode_record(record) for record in records], 3)
    line("encoding records", f"{megabytes / encoding:,.0f} MB a second")
    with tempfile.TemporaryDirectory() as folder:
        _measure_files(Path(folder), lines, megabytes)


def _measure_files(folder: Path, lines: list[bytes], megabytes: float) -> None:
    bare = best_seconds(lambda: _write_bare(folder / "bare.jsonl", lines), 3)
    durable = best_seconds(lambda: _append(folder / "durable.jsonl", lines), 3)
    line("appending / bare write and sync", f"{durable / bare:.2f} times", "<= 1.2", durable <= 1.2 * bare)
    path = folder / "read.jsonl"
    path.write_bytes(b"".join(lines * 5))
    loading = best_seconds(lambda: _load_bare(path), 3)
    reading = best_seconds(lambda: read_records(path), 3)
    line("reading a trace", f"{5 * megabytes / reading:,.0f} MB a second")
    line(
        "reading / json.loads of every line",
        f"{reading / loading:.2f} times",
        "<= 1.2",
        reading <= 1.2 * loading,
    )
    index = read_records(path)
    name = next(iter(index.entries))
    line("one episode by its offset", f"{1000 * best_seconds(lambda: index.read(name)):.2f} ms")


def _play(engine: Engine) -> list[dict[str, Any]]:
    agent = build_agent(agent_spec("shopper-iter40"), engine)
    jobs = make_jobs(engine.splits.ids("test"), split="test", seed=1)
    return [run_episode(engine.new_env(), agent, job, SETTINGS) for job in jobs]


def _step_again(engine: Engine, records: list[dict[str, Any]]) -> None:
    """Only what the environment did in ``records``."""
    for record in records:
        env = engine.new_env()
        env.reset(record["job"]["task_id"])
        for step in record["steps"]:
            if step["action"] is not None:
                env.step(step["action"])


def _write_bare(path: Path, lines: list[bytes]) -> None:
    path.unlink(missing_ok=True)
    with path.open("wb", buffering=0) as file:
        for row in lines:
            file.write(row)
            os.fsync(file.fileno())


def _load_bare(path: Path) -> None:
    with path.open("rb") as file:
        for row in file:
            json.loads(row)


def _append(path: Path, lines: list[bytes]) -> None:
    path.unlink(missing_ok=True)
    with LineWriter(path) as writer:
        for row in lines:
            writer.append_line(row)


if __name__ == "__main__":
    main()
