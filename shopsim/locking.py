"""One writer a folder: an advisory lock that the system drops when its process ends."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shopsim.errors import ShopSimError

__all__ = ["RunLockedError", "folder_lock"]

_LOCK_FILE = ".lock"
_POLL_SECONDS = 0.05


class RunLockedError(ShopSimError):
    """Another process is writing the folder."""

    code = "run_locked"
    http_status = 409


@contextmanager
def folder_lock(
    folder: Path,
    *,
    wait_seconds: float = 0.0,
    what: str = "this run",
    mend: str = "Wait for it to end, or choose another name.",
) -> Iterator[None]:
    """Hold the folder's lock (the folder is created), waiting up to ``wait_seconds`` for it.

    ``what`` is written there and ``mend`` is what to do, for the error. Raises :class:`RunLockedError` when
    another process, or another holder in this one, keeps it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder / _LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        deadline = time.monotonic() + wait_seconds
        while not _try_lock(handle):
            if time.monotonic() >= deadline:
                raise RunLockedError(f"{folder}: another process is writing {what}", hint=mend)
            time.sleep(_POLL_SECONDS)
        yield
    finally:
        os.close(handle)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
