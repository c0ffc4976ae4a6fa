"""What endpoints answer besides plain completions: parts, errors with status 200, trickles, cut bodies."""

from __future__ import annotations

import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import pytest

from shopsim.chat import ChatClient, ChatError, ContextLengthError, Endpoint, NoCompletionError
from tests.factories.chat_endpoint import ChatServer, chat_server, completion

MESSAGES = [{"role": "user", "content": "hello"}]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with chat_server() as running:
        yield running


def client(base_url: str, **options: Any) -> ChatClient:
    return ChatClient(Endpoint(base_url, "tiny", **{"retries": 0, **options}), sleep=lambda _: None)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([], ""),
        ([{"type": "text", "text": "好"}, {"type": "text", "text": "的"}], "好的"),
        ([{"type": "thinking", "thinking": "想"}, {"type": "text", "text": "好"}, "的", 3, None], "好的"),
    ],
)
def test_a_content_of_parts_is_their_text(server: ChatServer, content: list[object], text: str) -> None:
    server.answer = lambda _: (200, {"choices": [{"message": {"content": content}}]})
    assert client(server.base_url).complete(MESSAGES).text == text


@pytest.mark.parametrize("usage", ["12 tokens", [3], None, 7])
def test_a_usage_that_is_none_loses_no_answer(server: ChatServer, usage: object) -> None:
    server.answer = lambda _: (200, {**completion("好"), "usage": usage})
    answer = client(server.base_url).complete(MESSAGES)
    assert (answer.text, answer.usage) == ("好", {})


def test_an_answer_nested_beyond_any_use_is_no_completion(server: ChatServer) -> None:
    deep = b'{"choices": [{"message": {"content": "x"}}], "more": ' + b"[" * 400 + b"]" * 400 + b"}"
    server.answer = lambda _: (200, deep)
    with pytest.raises(NoCompletionError):
        client(server.base_url).complete(MESSAGES)


@pytest.mark.parametrize(
    ("error", "passing", "asked"),
    [
        ({"message": "upstream overloaded", "code": 503}, True, 3),
        ({"message": "upstream overloaded", "code": 402}, False, 1),
        ("upstream overloaded", True, 3),
    ],
)
def test_an_error_with_status_200_is_the_endpoints_and_tells_it(
    server: ChatServer, error: object, passing: bool, asked: int
) -> None:
    server.answer = lambda _: (200, {"error": error, "choices": []})
    with pytest.raises(ChatError, match="answered an error: upstream overloaded") as caught:
        client(server.base_url, retries=2).complete(MESSAGES)
    assert not isinstance(caught.value, NoCompletionError)
    assert (caught.value.passing, len(server.requests)) == (passing, asked)


@pytest.mark.parametrize(
    "told",
    [
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
        "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
        "the request exceeds the available context size, try increasing it",
        "prompt is too long: 5000 tokens > 4096 maximum",
        "context_length_exceeded",
    ],
)
def test_a_conversation_that_is_too_long_is_named(server: ChatServer, told: str) -> None:
    for answer in ((400, {"error": {"message": told}}), (200, {"error": {"message": told}})):
        server.answer = partial(lambda answer, _: answer, answer)
        with pytest.raises(ContextLengthError) as caught:
            client(server.base_url, retries=2).complete(MESSAGES)
        assert not caught.value.passing
    server.answer = lambda _: (400, {"error": {"message": "max_tokens must be at least 1"}})
    with pytest.raises(ChatError) as other:
        client(server.base_url).complete(MESSAGES)
    assert not isinstance(other.value, ContextLengthError)


def test_half_a_character_is_sent_as_a_replacement(server: ChatServer) -> None:
    server.answer = lambda _: (200, completion("好"))
    client(server.base_url).complete([{"role": "user", "content": "嗨 \ud83d😀"}])
    assert server.requests[0]["messages"][0]["content"] == "嗨 \ufffd😀"


@contextmanager
def raw_server(head: bytes, piece: bytes, pieces: int) -> Iterator[str]:
    """An endpoint that sends ``head``, then ``piece`` after ``piece``, and hangs up."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(1 << 16)
            with suppress(OSError):  # the client has left
                self.request.sendall(head)
                for _ in range(pieces):
                    self.request.sendall(piece)
                    time.sleep(0.05)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as served:
        served.daemon_threads = True
        threading.Thread(target=served.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{served.server_address[1]}/v1"
        served.shutdown()


@pytest.mark.parametrize(("status", "said"), [(b"200 OK", "no answer .timed out"), (b"500 No", "HTTP 500")])
def test_a_trickle_is_given_up_at_the_timeout(
    monkeypatch: pytest.MonkeyPatch, status: bytes, said: str
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    clock = time.monotonic()
    with raw_server(b"HTTP/1.1 " + status + b"\r\nContent-Length: 9999\r\n\r\n", b" ", 80) as url:
        with pytest.raises(ChatError, match=said) as caught:
            client(url, timeout_seconds=0.3).complete(MESSAGES)
        assert time.monotonic() - clock < 2.0
    assert caught.value.passing


@pytest.mark.parametrize(("status", "said"), [(b"200 OK", "no answer"), (b"503 No", "HTTP 503 half")])
def test_a_body_that_is_cut_off_may_come_whole_next_time(
    monkeypatch: pytest.MonkeyPatch, status: bytes, said: str
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    head = b"HTTP/1.1 " + status + b"\r\nContent-Length: 9999\r\n\r\n"
    with raw_server(head, b"half", 1) as url, pytest.raises(ChatError, match=said) as caught:
        client(url).complete(MESSAGES)
    assert caught.value.passing and not isinstance(caught.value, NoCompletionError)
