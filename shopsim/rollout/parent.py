"""What a worker process owes to the one that started it: to leave interrupts to it, and to end with it."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import threading

__all__ = ["follow_parent"]


def follow_parent() -> None:
    """From now on this process ignores Ctrl-C, and ends when its parent does, however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)
