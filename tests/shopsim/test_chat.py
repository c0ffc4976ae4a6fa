"""The client of chat endpoints: what passes is tried again, what will not is told at once, keys stay out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shopsim.chat import ChatClient, ChatError, Endpoint
from shopsim.errors import UsageError
from tests.factories.chat_endpoint import ChatServer, chat_server, completion

MESSAGES = [{"role": "user", "content": "hello"}]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with chat_server() as running:
        yield running


class Clock:
    def __init__(self) -> None:
        self.pauses: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)


def client(server: ChatServer, clock: Clock | None = None, **changes: object) -> ChatClient:
    fields: dict[str, object] = {"base_url": server.base_url, "model": "tiny", "timeout_seconds": 5.0}
    endpoint = Endpoint(**(fields | changes))  # type: ignore[arg-type]
    return ChatClient(endpoint, sleep=(clock or Clock()).sleep)


def test_a_request_holds_model_messages_and_sampling(server: ChatServer) -> None:
    server.answer = lambda _: (200, completion("hi", total_tokens=7))
    answer = client(server, sampling={"temperature": 0.5}).complete(MESSAGES)
    assert (answer.text, answer.finish_reason, answer.usage) == ("hi", "stop", {"total_tokens": 7})
    assert server.requests == [
        {"path": "/v1/chat/completions", "model": "tiny", "messages": MESSAGES, "temperature": 0.5}
    ]
    assert server.keys == [None]


def test_the_key_comes_from_the_environment_and_is_nowhere_else(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOPSIM_TEST_KEY", "secret-key")
    asking = client(server, key_variable="SHOPSIM_TEST_KEY")
    asking.complete(MESSAGES)
    assert server.keys == ["Bearer secret-key"]
    assert "secret" not in repr(asking.endpoint)
    assert "SHOPSIM_TEST_KEY" not in str(asking.endpoint.to_model())
    monkeypatch.delenv("SHOPSIM_TEST_KEY")
    with pytest.raises(ChatError, match="SHOPSIM_TEST_KEY"):
        asking.complete(MESSAGES)


def test_what_may_pass_is_tried_again_with_growing_pauses(server: ChatServer) -> None:
    statuses = iter([503, 429, 500, 200])
    server.answer = lambda _: (next(statuses), completion("at last"))
    clock = Clock()
    assert client(server, clock).complete(MESSAGES).text == "at last"
    assert clock.pauses == [0.5, 1.0, 2.0]


def test_the_endpoint_may_say_how_long_to_wait_but_not_forever(server: ChatServer) -> None:
    server.headers["Retry-After"] = "3600"
    statuses = iter([429, 200])
    server.answer = lambda _: (next(statuses), completion("yes"))
    clock = Clock()
    client(server, clock).complete(MESSAGES)
    assert clock.pauses == [30.0]


def test_what_will_not_pass_is_told_at_once(server: ChatServer) -> None:
    server.answer = lambda _: (404, {"error": "no such model"})
    with pytest.raises(ChatError, match=r"HTTP 404 .*no such model"):
        client(server).complete(MESSAGES)
    assert len(server.requests) == 1


def test_after_all_tries_the_last_problem_is_named(server: ChatServer) -> None:
    server.answer = lambda _: (500, b"out of memory")
    with pytest.raises(ChatError, match="HTTP 500 out of memory"):
        client(server, retries=2).complete(MESSAGES)
    assert len(server.requests) == 3


def test_a_closed_port_is_no_answer() -> None:
    with chat_server() as server:
        gone = client(server, retries=1)
    with pytest.raises(ChatError, match="no answer"):
        gone.complete(MESSAGES)


@pytest.mark.parametrize(
    "body", [b"<html>", b"[]", {"choices": []}, {"choices": [{"message": {"content": 3}}]}]
)
def test_what_is_no_completion_is_an_error(server: ChatServer, body: object) -> None:
    server.answer = lambda _: (200, body)
    with pytest.raises(ChatError, match="no chat completion"):
        client(server).complete(MESSAGES)


def test_an_empty_answer_is_an_empty_text(server: ChatServer) -> None:
    server.answer = lambda _: (200, completion(None))
    assert client(server).complete(MESSAGES).text == ""


@pytest.mark.parametrize(
    "changes",
    [
        {"base_url": "ftp://host/v1"},
        {"base_url": "file:///etc/passwd"},
        {"base_url": "http:///v1"},
        {"base_url": "http://me:secret@host/v1"},
        {"model": ""},
        {"timeout_seconds": 0.0},
        {"timeout_seconds": float("nan")},
        {"timeout_seconds": float("inf")},
        {"base_url": "http://[host/v1"},
        {"base_url": "http://host:99999/v1"},
        {"base_url": "http://host/模型"},
        {"base_url": "http://host/v 1"},
        {"model": "\udcff"},
        {"sampling": {"top_k": float("nan")}},
        {"sampling": {"stop": "\ud83d"}},
        {"retries": -1},
    ],
)
def test_an_endpoint_that_cannot_be_is_refused(changes: dict[str, object]) -> None:
    fields: dict[str, object] = {"base_url": "http://host/v1", "model": "tiny"}
    with pytest.raises(UsageError) as refused:
        Endpoint(**(fields | changes))  # type: ignore[arg-type]
    assert "secret" not in str(refused.value)


def test_an_error_tells_what_the_endpoint_said_but_never_the_key(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOPSIM_TEST_KEY", "secret-key")
    server.answer = lambda _: (401, {"error": "x" * 300 + " wrong: secret-key", "hint": "end"})
    with pytest.raises(ChatError) as caught:
        client(server, key_variable="SHOPSIM_TEST_KEY").complete_once(MESSAGES)
    assert "end" in caught.value.detail and "end" not in str(caught.value)
    assert "wrong: [key]" in caught.value.detail
    assert "secret" not in f"{caught.value} {caught.value.detail}"


@pytest.mark.parametrize(
    ("key", "said"), [("", "holds no key"), ("密钥", "no key has"), ("a\nb", "no key has")]
)
def test_what_can_be_no_key_is_told_and_never_shown(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch, key: str, said: str
) -> None:
    monkeypatch.setenv("SHOPSIM_TEST_KEY", key)
    asking = client(server, key_variable="SHOPSIM_TEST_KEY")
    for attempt in (asking.check_key, lambda: asking.complete_once(MESSAGES)):
        with pytest.raises(ChatError, match=f"environment variable SHOPSIM_TEST_KEY: .*{said}") as caught:
            attempt()
        assert not key or key not in str(caught.value)
    client(server).check_key()
    assert server.requests == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_takes_the_key_elsewhere(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv("SHOPSIM_TEST_KEY", "secret-key")
    with chat_server() as elsewhere:
        server.headers = {"Location": f"{elsewhere.base_url}/chat/completions"}
        server.answer = lambda _: (status, {})
        with pytest.raises(ChatError, match=f"HTTP {status}") as caught:
            client(server, key_variable="SHOPSIM_TEST_KEY").complete_once(MESSAGES)
        assert elsewhere.requests == []
    assert not caught.value.passing
