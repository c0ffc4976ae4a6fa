"""An index of the searchable texts of a trace, in the lake's cache folder, kept up to date on demand.

A trace's reasoning is in none of the lake's tables, and reading traces of hundreds of megabytes for every
search would take seconds. So the texts of every counting record are written to Parquet once, beside a
folded copy that is what gets compared. Chinese has no word boundaries and searches of two characters are
common, which a trigram index cannot answer; DuckDB's ``contains`` over the folded column can, at more than
the speed that is needed.

A part of the index names the byte offset of each record it was read from. When a trace grows, only new
records are read; when the bytes that were read are no longer the same ones, everything is.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from dashboard.lake import Lake
from dashboard.lake.catalogue import GRACE_SECONDS, fingerprint, source_folder
from dashboard.lake.discovery import TRACES, FileStamp, stamp
from dashboard.review.errors import ReviewError
from dashboard.review.snippets import fold
from dashboard.review.texts import episode_texts
from shopsim.jsonio import FileError, atomic_path, read_json, write_json
from shopsim.locking import RunLockedError, folder_lock
from shopsim.rollout.lines import parse_line

__all__ = ["Progress", "index_files"]

FORMAT: Final = "text-1"
_STATE: Final = "state.json"
_RETIRED: Final = "retired.json"
_LOCK_SECONDS: Final = 120.0
_MOST_PARTS: Final = 8
_SCHEMA: Final = pa.schema(
    [
        ("run_id", pa.string()),
        ("episode_id", pa.string()),
        ("line_offset", pa.int64()),
        ("kind", pa.string()),
        ("position", pa.int32()),
        ("text", pa.large_string()),
        ("folded", pa.large_string()),
    ]
)
_RECORDS_A_GROUP: Final = 200

Place = tuple[str, int, int]
"""Episode id, byte offset and length of a counting record."""

Row = dict[str, Any]

Progress = Callable[[int, int], None]
"""Called with the bytes read so far and in all while an index is built."""


@dataclass(slots=True)
class _State:
    """What a run's index was made of. ``covered`` bytes of the trace had the fingerprint ``sample``."""

    stamp: FileStamp
    covered: int = 0
    sample: str = ""
    parts: list[str] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)


def index_files(lake: Lake, run_ids: Sequence[str], progress: Progress | None = None) -> list[Path]:
    """The Parquet files that hold the texts of the runs, after bringing them up to date.

    Rows: ``run_id, episode_id, line_offset, kind, position, text, folded``; records that no longer count may
    still be among them. Raises :class:`ReviewError` when the cache cannot be written or a trace cannot be
    read, :class:`~dashboard.lake.errors.UnknownRunError` for an unknown run.
    """
    work = []
    for run_id in run_ids:
        folder, trace = _folder(lake, run_id), lake.run(run_id).path / TRACES
        places = [tuple(row) for row in lake.rows("triage_text_places", run_id=run_id)]
        work.append((run_id, folder, trace, places, _missing(folder, trace, places)))
    total = sum(length for *_, missing in work for _, _, length in missing)
    files, done = [], 0
    for run_id, folder, trace, places, missing in work:
        if missing:
            before = done

            def tell(read: int, before: int = before) -> None:
                if progress is not None:
                    progress(before + read, total)

            _update(run_id, folder, trace, places, tell)
            done += sum(length for _, _, length in missing)
        state = _load(folder)
        files += [folder / name for name in (state.parts if state else ())]
    return files


def _folder(lake: Lake, run_id: str) -> Path:
    trace = lake.run(run_id).path / TRACES
    return lake.cache_dir / FORMAT / source_folder(lake.cache_dir, trace, run_id).name


def _missing(folder: Path, trace: Path, places: Sequence[Place]) -> list[Place]:
    """The counting records that the index does not hold."""
    known = set(state.offsets) if (state := _usable(folder, trace)) else set()
    return [place for place in places if place[1] not in known]


def _usable(folder: Path, trace: Path) -> _State | None:
    """The state of an index whose bytes are still what the trace holds, else None."""
    state = _load(folder)
    now = stamp(trace)
    if state is None or now is None or not all((folder / name).is_file() for name in state.parts):
        return None
    if tuple(state.stamp) == now:
        return state
    try:
        same = now[2] >= state.covered and fingerprint(trace, state.covered) == state.sample
    except OSError:
        return None
    return state if same else None


def _load(folder: Path) -> _State | None:
    try:
        return _State(**read_json(folder / _STATE))
    except (FileError, TypeError):
        return None


def _update(
    run_id: str, folder: Path, trace: Path, places: Sequence[Place], tell: Callable[[int], None]
) -> None:
    """Read what is missing into one more part, under the folder's lock."""
    try:
        with folder_lock(folder, wait_seconds=_LOCK_SECONDS):
            now = stamp(trace)
            state = _usable(folder, trace)  # asked again: another process may have been faster
            missing = _missing(folder, trace, places)
            if now is None or not missing:
                return
            before = state or _State(now)
            merged = before.parts if len(before.parts) >= _MOST_PARTS else []
            name = f"{uuid.uuid4().hex[:12]}.parquet"
            with atomic_path(folder / name) as temporary:
                read = _write(
                    temporary, [folder / part for part in merged], _rows(run_id, trace, missing, tell)
                )
            covered = max([before.covered, *(offset + length for _, offset, length in missing)])
            covered = min(covered, now[2])
            parts = [*(part for part in before.parts if part not in merged), name]
            state = _State(now, covered, fingerprint(trace, covered), parts, sorted({*before.offsets, *read}))
            write_json(folder / _STATE, asdict(state), indent=None)
            _retire(folder, parts)
    except RunLockedError:
        raise ReviewError(
            f"{folder}: another process has been making this text index for {_LOCK_SECONDS:g} seconds",
            hint="Search again when it has ended.",
        ) from None
    except OSError as error:
        raise ReviewError(
            f"{error.filename or folder}: the text index cannot be made ({error.strerror or error})",
            hint="Give permission or free space there, or set SHOPSIM_LAKE to another folder.",
        ) from None


def _write(path: Path, merged: Sequence[Path], records: Iterator[tuple[int, list[Row]]]) -> list[int]:
    """Write older parts and new records into one file; return the offsets of the new ones."""
    offsets: list[int] = []
    with pq.ParquetWriter(path, _SCHEMA, compression="zstd") as writer:
        for part in merged:
            with pq.ParquetFile(part) as older:
                for group in range(older.num_row_groups):
                    writer.write_table(older.read_row_group(group))
        while batch := list(islice(records, _RECORDS_A_GROUP)):
            offsets += [offset for offset, _ in batch]
            rows = [row for _, part in batch for row in part]
            writer.write_table(pa.Table.from_pylist(rows, _SCHEMA))
    return offsets


def _rows(
    run_id: str, trace: Path, places: Sequence[Place], tell: Callable[[int], None]
) -> Iterator[tuple[int, list[Row]]]:
    """Offset and rows of one record after the other. A line that changed meanwhile is passed over."""
    read = 0
    with trace.open("rb") as file:
        for episode_id, offset, length in places:
            file.seek(offset)
            record, _ = parse_line(file.read(length))
            read += length
            tell(read)
            if record is None or record["episode_id"] != episode_id:
                continue
            common = {"run_id": run_id, "episode_id": episode_id, "line_offset": offset}
            yield (
                offset,
                [{**common, **text._asdict(), "folded": fold(text.text)} for text in episode_texts(record)],
            )


def _retire(folder: Path, parts: Sequence[str]) -> None:
    """Delete parts that stopped counting a while ago: a search may still read one that just did."""
    retired = folder / _RETIRED
    known: dict[str, float] = {}
    if retired.is_file():
        known = read_json(retired)
    now = time.time()
    left: dict[str, float] = {}
    for path in folder.glob("*.parquet"):
        if path.name in parts:
            continue
        since = known.get(path.name, now)
        if now - since > GRACE_SECONDS:
            path.unlink(missing_ok=True)
        else:
            left[path.name] = since
    if left != known:
        write_json(retired, left, indent=None)
