"""A chat endpoint on a local port that answers what a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["ChatServer", "chat_server", "completion"]


def completion(text: str | None, **usage: int) -> dict[str, Any]:
    """The body of a chat completion."""
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"choices": [choice], "usage": usage}


class ChatServer:
    """``answer(request)`` gives status and body (an object, or bytes as they are) of each request."""

    def __init__(self) -> None:
        self.answer: Callable[[dict[str, Any]], tuple[int, Any]] = lambda _: (200, completion("{}"))
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.headers: dict[str, str] = {}
        self.port = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    """Serve until the block ends."""
    chat = ChatServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            chat.requests.append({"path": self.path, **request})
            chat.keys.append(self.headers.get("Authorization"))
            status, answer = chat.answer(request)
            body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            for name, value in chat.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(ConnectionError):  # a client that timed out has left
                self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    chat.port = server.server_port
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield chat
    finally:
        server.shutdown()
        server.server_close()
