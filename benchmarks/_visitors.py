"""Visitors of the review pages without a browser: a server in a process of its own, and its websocket.

A visitor sends what the browser sends when a page is chosen in the menu, and reads everything that comes
back until the server says that the run is finished.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlencode
from urllib.request import urlopen

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

__all__ = ["Server", "Visit", "Visitor", "free_port", "serving"]

PROJECT = Path(__file__).resolve().parent.parent
_START_SECONDS = 60.0
_OPTIONS = {
    "server.address": "127.0.0.1",
    "server.headless": "true",
    "server.fileWatcherType": "none",
    "browser.gatherUsageStats": "false",
}


@dataclass(frozen=True, slots=True)
class Server:
    """A running server of the review pages."""

    port: int
    process: subprocess.Popen[bytes]

    def processor_seconds(self) -> float:
        """Processor time that the server's process has used so far, all threads together (Linux)."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_bytes(self) -> int:
        """The most memory that the server's process ever held (Linux)."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


@contextmanager
def serving(environment: Mapping[str, str], log: Path, *, port: int | None = None) -> Iterator[Server]:
    """Serve ``dashboard/app.py`` as ``shopsim-review dashboard`` does, until the block is left.

    ``log`` takes what the server writes. Raises :class:`RuntimeError` when it does not come up.
    """
    port = port or free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(PROJECT / "dashboard" / "app.py")]
    command += [f"--{name}={value}" for name, value in {**_OPTIONS, "server.port": str(port)}.items()]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env=dict(environment), cwd=PROJECT, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        _wait_until_healthy(port, process, log)
        yield Server(port, process)
    finally:
        process.terminate()
        process.wait()


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_healthy(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            with urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"the server did not start: {log.read_text(errors='replace')[-2000:]}")


@dataclass(slots=True)
class Visit:
    """One page as it came over the wire."""

    page: str
    seconds: float
    messages: int
    size: int
    deltas: list[bytes] = field(default_factory=list)


class Visitor:
    """One session of the server: ``async with Visitor(port) as visitor: await visitor.open("rewards")``."""

    def __init__(self, port: int) -> None:
        self._address = f"ws://127.0.0.1:{port}/_stcore/stream"
        self._pages: dict[str, str] = {}

    async def __aenter__(self) -> Self:
        self._connection: ClientConnection = await connect(
            self._address,
            subprotocols=["streamlit"],  # type: ignore[list-item]
            max_size=None,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._connection.close()

    async def open(self, page: str, *, keep: bool = False, **params: str | list[str]) -> Visit:
        """Choose ``page`` in the menu and wait until all of it arrived; ``keep`` keeps its elements.

        Raises :class:`RuntimeError` when the page shows an exception.
        """
        request = BackMsg()
        request.rerun_script.query_string = urlencode(params, doseq=True)
        if page in self._pages:
            request.rerun_script.page_script_hash = self._pages[page]
        else:  # the first run of a session learns how the server names its pages
            request.rerun_script.page_name = page
        start = time.perf_counter()
        await self._connection.send(request.SerializeToString())
        visit = Visit(page, 0.0, 0, 0)
        while True:
            data = await self._connection.recv()
            assert isinstance(data, bytes)
            message = ForwardMsg.FromString(data)
            visit.messages += 1
            visit.size += len(data)
            kind = message.WhichOneof("type")
            if kind == "navigation":
                self._pages = {
                    entry.url_pathname: entry.page_script_hash for entry in message.navigation.app_pages
                }
            elif kind == "delta":
                element = message.delta.new_element
                if element.WhichOneof("type") == "exception":
                    raise RuntimeError(f"{page}: {element.exception.type}: {element.exception.message}")
                if keep:
                    visit.deltas.append(message.delta.SerializeToString(deterministic=True))
            elif kind == "script_finished" and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                visit.seconds = time.perf_counter() - start
                return visit
