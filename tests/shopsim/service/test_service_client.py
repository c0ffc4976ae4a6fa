from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from shopsim.cli import app
from shopsim.cli.process import run_app
from shopsim.service import ClientError, ServiceError, ServiceOptions, ShopClient
from shopsim.service.server import bind, is_loopback
from tests.factories.services import ADMIN_TOKEN


def test_the_client_is_an_environment_that_gives_its_slot_back(url: str) -> None:
    with ShopClient(url) as client:
        assert client.reset(7)["task_instruction"] == "买点天然皂角的洗衣皂，二十块以内"
        client.reset(7)
        assert client.health()["free_slots"] == 1, "a second reset releases the first slot"
        client.step("search[皂角]")
        assert client.terminate("action_limit")["termination_reason"] == "action_limit"
    assert ShopClient(url).health()["free_slots"] == 2


def test_an_administrator_can_release_everything(url: str) -> None:
    ShopClient(url).reset(0)
    assert ShopClient(url, admin_token=ADMIN_TOKEN).release_all() == 1
    with pytest.raises(ClientError, match="administrator"):
        ShopClient(url).release_all()


def test_a_refused_reset_leaves_the_client_without_an_episode(url: str) -> None:
    with ShopClient(url) as client:
        client.reset(0)
        with pytest.raises(ClientError, match="task 4711") as caught:
            client.reset(4711)
        assert caught.value.status == 404
        with pytest.raises(ClientError, match="no episode is running"):
            client.step("search[茶]")


def test_nobody_there_is_one_clear_line() -> None:
    with bind("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(ClientError, match=f"127.0.0.1:{port}: no answer") as caught:
        ShopClient(f"http://127.0.0.1:{port}", timeout=1).health()
    assert caught.value.status is None


@pytest.mark.parametrize("url", ["", "127.0.0.1:5700", "ftp://host", "http://"])
def test_an_address_must_be_one(url: str) -> None:
    with pytest.raises(ClientError, match="must be an http"):
        ShopClient(url)


class _Oddity(BaseHTTPRequestHandler):
    body = b"<html>a proxy's page</html>"

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.body)

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""


@pytest.mark.parametrize("body", [b"<html>a proxy's page</html>", b"[]", b'{"result": 3}', b""])
def test_an_answer_of_something_else_is_refused(body: bytes) -> None:
    server = HTTPServer(("127.0.0.1", 0), type("Odd", (_Oddity,), {"body": body}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        with pytest.raises(ClientError):
            ShopClient(f"http://127.0.0.1:{server.server_port}", timeout=5).reset(0)
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def test_a_taken_port_is_one_clear_line() -> None:
    with bind("127.0.0.1", 0) as listener, pytest.raises(ServiceError, match="cannot listen"):
        bind("127.0.0.1", listener.getsockname()[1])


def test_only_loopback_is_loopback() -> None:
    assert is_loopback("127.0.0.1") and is_loopback("localhost") and is_loopback("::1")
    assert not is_loopback("0.0.0.0") and not is_loopback("shop.example")


def test_options_are_bounded_and_keep_the_token_to_themselves() -> None:
    with pytest.raises(ValueError, match="slots"):
        ServiceOptions(slots=0)
    with pytest.raises(ValueError, match="admin_token"):
        ServiceOptions(admin_token="short")
    assert ADMIN_TOKEN not in repr(ServiceOptions(admin_token=ADMIN_TOKEN))


def test_serve_is_called_wrongly(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_app(app, ["serve", "--slots", "99999"]) == 2
    monkeypatch.setenv("SHOPSIM_ADMIN_TOKEN", "short")
    assert run_app(app, ["serve", "--port", "0"]) == 2
    error = capsys.readouterr().err
    assert "slots" in error and "admin_token" in error and "short\n" not in error
