"""A real service on a loopback port, in a thread, over a small shop."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from shopsim.engine import Engine
from shopsim.service.options import ServiceOptions
from shopsim.service.server import bind, make_server
from shopsim.tasks.splits import Splits
from tests.factories.shops import SmallShop

__all__ = ["ADMIN_TOKEN", "engine_of", "running_service"]

ADMIN_TOKEN = "only-for-tests"


def engine_of(small: SmallShop) -> Engine:
    """An engine over a small shop; its one split holds every task."""
    splits = Splits({"test": small.goals.ids})
    return Engine(small.settings, small.corpus, small.goals, small.search, splits, small.terms)


@contextmanager
def running_service(small: SmallShop, **options: Any) -> Iterator[str]:
    """Serve ``small`` and yield the address; ``options`` are those of the service (two slots by default)."""
    chosen = ServiceOptions(**{"slots": 2, "admin_token": ADMIN_TOKEN, **options})
    with bind("127.0.0.1", 0) as listener:
        server = make_server(engine_of(small), chosen, "127.0.0.1")
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            deadline = time.monotonic() + 10
            while not server.started and time.monotonic() < deadline:
                time.sleep(0.01)
            assert server.started
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(10)
            assert not thread.is_alive()
