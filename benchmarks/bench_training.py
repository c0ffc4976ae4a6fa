"""Training rounds at the team's size: 2,560 groups of 8 rollouts, read first, opened again, one changed.

The files (about 2.2 GB, half of them indented over many lines) are generated in a temporary folder and
deleted afterwards. Reading is compared with DuckDB's bare ``read_json`` over the same files and columns.
``BENCH_GROUPS`` sets another number of groups, ``TMPDIR`` another place.
"""

from __future__ import annotations

import json
import os
import random
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb

from benchmarks._timing import line, timed
from dashboard.lake import Lake
from dashboard.lake.audit import audit_lake
from dashboard.lake.structure import structure_columns
from dashboard.lake.training import Training
from tests.factories.training import CHUNKS, group_folder, rollout_record, triage, write_json_file

GROUPS = int(os.environ.get("BENCH_GROUPS", "2560"))
SIZE = 8
PER_ROUND = 640
OUTCOMES = (
    "success",
    "success",
    "success",
    "wrong_option",
    "wrong_product",
    "missing_attribute",
    "action_limit",
)
WANTED_BYTES = 115_000
LIMIT_SECONDS, REOPEN_SECONDS = 60.0, 2.0


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="bench-training-") as name:
        folder = Path(name)
        start = time.perf_counter()
        files, size = _generate(folder / "runs" / "slime-training")
        line("generated", f"{files:,} files, {size / 1e9:.2f} GB", f"in {time.perf_counter() - start:.0f} s")
        bare = _bare(folder, "runs/*/*/*/rollout-*.json")
        line("bare DuckDB read_json of the files", f"{bare:.1f} s, {size / bare / 1e6:,.0f} MB/s")
        lined = _bare_lines(folder)
        line("the same in one file of lines", f"{lined / 1e6:,.0f} MB/s")
        training, seconds = timed(lambda: _opened(folder))
        ingest = seconds
        allowed = LIMIT_SECONDS * max(1, GROUPS / 2560)
        line("first ingest", f"{seconds:.1f} s", f"<= {allowed:.0f} s", seconds <= allowed)
        line("first ingest / bare", f"{seconds / bare:.2f} times")
        line("first ingest / as one file of lines", f"{seconds * lined / size:.2f} times")
        _check(training)
        _, seconds = timed(lambda: _opened(folder))
        line("opened again", f"{seconds:.2f} s", f"<= {REOPEN_SECONDS:.0f} s", seconds <= REOPEN_SECONDS)
        _, seconds = timed(training.refresh)
        line("looked again, nothing new", f"{seconds:.2f} s")
        _change_one(folder / "runs" / "slime-training")
        _, seconds = timed(training.refresh)
        line("one group changed", f"{seconds:.2f} s")
        _, seconds = timed(lambda: training.query("training_steps", source="slime-training"))
        line("figures of all steps", f"{1000 * seconds:.0f} ms")
        lake = Lake([folder / "runs"], folder / "cache")
        lake.refresh()
        report, audited = timed(lambda: audit_lake(lake, training=training))
        line("audit of every round", f"{audited:.2f} s", f"{len(report.checked)} rounds")
        line("audit / first ingest", f"{audited / ingest:.1%}")
        line(
            "peak memory of this process",
            f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB",
        )


def _opened(folder: Path) -> Training:
    training = Training([folder / "runs"], folder / "cache")
    training.refresh()
    return training


def _check(training: Training) -> None:
    rows = training.query("training_rounds", source="slime-training")
    assert int(rows["rollouts"].sum()) == SIZE * GROUPS, rows
    assert int(rows["problems"].sum()) == 0, rows


def _bare(folder: Path, pattern: str) -> float:
    """Seconds of the plainest read of the same columns; many files cost DuckDB more than their bytes."""
    sql = f"""
        SELECT count(*), sum(len(steps)), sum(length(CAST(final.reward AS VARCHAR)))
        FROM read_json(?, columns = {structure_columns()}, maximum_object_size = 1048576)
    """
    with duckdb.connect() as connection:
        start = time.perf_counter()
        connection.execute(sql, [str(folder / pattern)]).fetchall()
        return time.perf_counter() - start


def _bare_lines(folder: Path) -> float:
    """Bytes a second of that read over the rollouts of the first round as lines of one file."""
    path = folder / "lines.ndjson"
    with path.open("wb") as lines:
        for file in sorted((folder / "runs").glob("*/round-000/*/rollout-*.json")):
            lines.write(file.read_bytes().replace(b"\n", b" ") + b"\n")
    speed = path.stat().st_size / _bare(folder, path.name)
    path.unlink()
    return speed


def _generate(rounds: Path) -> tuple[int, int]:
    source = random.Random(20260901)
    templates = [_template(k, source) for k in range(len(OUTCOMES))]
    files = size = 0
    for group in range(GROUPS):
        folder = group_folder(rounds / f"round-{group // PER_ROUND:03d}", group)
        folder.mkdir(parents=True)
        mode = "skill_free" if source.random() < 0.2 else "assisted"
        chosen = [name for name in CHUNKS if mode == "assisted" and source.random() < 0.5]
        told = triage(group, [], mode=mode, skill_ids=chosen)
        assignment = json.dumps(told["assignment"])
        noted = []
        for place in range(SIZE):
            record, text = templates[source.randrange(len(templates))][group % 2]
            name = f"train-group-{group:09d}-sample-{SIZE * group + place:09d}"
            data = text.replace("@EPISODE@", name).replace('"@ASSIGNMENT@"', assignment).encode()
            (folder / f"rollout-{SIZE * group + place:09d}.json").write_bytes(data)
            files, size = files + 1, size + len(data)
            noted.append(record | {"episode_id": name})
        write_json_file(folder / "triage.json", triage(group, noted, mode=mode, skill_ids=chosen), indent=2)
    return files, size


def _template(number: int, source: random.Random) -> list[tuple[dict[str, Any], str]]:
    """One record of the usual size, as compact and as indented text."""
    record = rollout_record(number, 0, OUTCOMES[number], mode="assisted", skill_ids=CHUNKS)
    record["episode_id"] = "@EPISODE@"
    record["conversation"] = []
    record["provenance"]["skills"]["assignment"] = "@ASSIGNMENT@"
    missing = WANTED_BYTES - len(json.dumps(record, ensure_ascii=False).encode())
    words = ("用户", "想要", "的", "商品", "要", "满足", "所有", "条件", "先", "看", "结果", "颜色", "尺码")
    for step in record["steps"]:
        count = max(0, missing // len(record["steps"]) // 9)
        thought = "".join(source.choice(words) for _ in range(count))
        step["model"]["raw_output"] = f"<think>{thought}</think>"
        record["conversation"].append({"role": "assistant", "content": thought[: len(thought) // 4]})
    return [(record, json.dumps(record, ensure_ascii=False, indent=indent)) for indent in (None, 2)]


def _change_one(rounds: Path) -> None:
    path = next(group_folder(rounds / "round-000", 0).glob("rollout-*.json"))
    path.write_bytes(path.read_bytes() + b"\n")


if __name__ == "__main__":
    main()
