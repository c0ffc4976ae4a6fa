"""Every run's style, given once and kept: runs that come or go change no other run's colour or marker.

What was given is appended to ``styles/runs.jsonl`` in the lake's cache folder, one line a run:
``{"run": folder, "place": k}``, where ``place`` is :func:`dashboard.ui.theme.style_at`'s and ``folder`` is
relative to the cache, so that a workspace may be moved as a whole. Lines are never changed: a run that was
taken away and comes back has its style again. A lock lets several processes share the file. Where it cannot
be written (full disk, read-only folder), runs without a line get theirs in the order of their folders, for
this time only. Needs no Streamlit.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from dashboard.ui.theme import PALETTE, STYLES, RunStyle, style_at
from shopsim.errors import ShopSimError
from shopsim.locking import folder_lock

__all__ = ["kept_styles", "new_places"]

_FOLDER: Final = "styles"
_FILE: Final = "runs.jsonl"
_WAIT_SECONDS: Final = 2.0


def kept_styles(cache_dir: Path, folders: Mapping[str, str]) -> dict[str, RunStyle]:
    """The style of every run of ``folders`` (run id -> folder); runs that are new are given one."""
    keys = _keys(cache_dir, folders)
    path = cache_dir / _FOLDER / _FILE
    known = _read(path)
    if not known.keys() >= set(keys.values()):
        try:
            with folder_lock(path.parent, wait_seconds=_WAIT_SECONDS):
                known = _read(path)  # another process may have come first
                fresh = new_places(known, keys.values())
                known |= fresh
                _append(path, fresh)
        except (OSError, ShopSimError):
            known |= new_places(known, keys.values())
    return {run_id: style_at(known[key]) for run_id, key in keys.items()}


def new_places(known: Mapping[str, int], present: Iterable[str]) -> dict[str, int]:
    """Places for those of ``present`` that have none in ``known``, in sorted order.

    The colour that the fewest present runs have, and of it the first marker that no run ever had.
    """
    names = sorted(set(present))
    places: dict[str, int] = {}
    colours = Counter(known[name] % len(PALETTE) for name in names if name in known)
    given = Counter(known.values())
    for name in names:
        if name in known:
            continue
        place = min(range(STYLES), key=lambda k: (given[k], colours[k % len(PALETTE)], k))
        places[name] = place
        given[place] += 1
        colours[place % len(PALETTE)] += 1
    return places


def _keys(cache_dir: Path, folders: Mapping[str, str]) -> dict[str, str]:
    """What names each run in the file; runs that share a folder are told apart by their ids."""
    shared = Counter(folders.values())
    keys = {}
    for run_id, folder in folders.items():
        try:
            key = Path(os.path.relpath(folder, cache_dir)).as_posix()
        except ValueError:  # on another drive
            key = Path(folder).as_posix()
        keys[run_id] = key if shared[folder] == 1 else f"{key}#{run_id}"
    return keys


def _read(path: Path) -> dict[str, int]:
    """The places given so far; the first line of a run counts, and lines that are none are passed over."""
    try:
        lines = path.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    places: dict[str, int] = {}
    for line in lines:
        try:
            entry = json.loads(line)
            run, place = entry["run"], entry["place"]
        except (ValueError, TypeError, KeyError):
            continue
        if isinstance(run, str) and isinstance(place, int) and place >= 0:
            places.setdefault(run, place)
    return places


def _append(path: Path, places: Mapping[str, int]) -> None:
    lines = "".join(f"{json.dumps({'run': run, 'place': place})}\n" for run, place in places.items())
    with path.open("ab") as file:
        torn = file.tell() and not _ends_in_newline(path)
        file.write(("\n" * bool(torn) + lines).encode("utf-8"))
        file.flush()
        os.fsync(file.fileno())


def _ends_in_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
