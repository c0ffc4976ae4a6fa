from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from typing import Any
from urllib.parse import urlsplit

import pytest

from shopsim.env import ShopEnv
from shopsim.env.conformance import check_env
from shopsim.formats import ENVIRONMENT_VERSION, OBSERVATION_VERSION
from shopsim.service import ClientError, ShopClient
from tests.factories.services import ADMIN_TOKEN, running_service
from tests.factories.shops import SmallShop

BUY_SOAP = ("search[皂角]", "click[600000000007]", "click[buy now]")


def exchange(
    url: str, data: bytes, *, path: str = "/api/shop_agent", method: str = "POST", **headers: str
) -> tuple[int, dict[str, Any]]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=10)
    shown = {"Content-Type": "application/json", **{k.replace("_", "-"): v for k, v in headers.items()}}
    connection.request(method, path, data, shown)
    reply = connection.getresponse()
    content = reply.read()
    connection.close()
    return reply.status, json.loads(content) if content.startswith(b"{") else {}


def post(url: str, body: Any, **headers: str) -> tuple[int, dict[str, Any]]:
    status, answer = exchange(url, json.dumps(body).encode(), **headers)
    return status, answer["result"]


def lease_of(answer: dict[str, Any]) -> dict[str, Any]:
    return {key: answer[key] for key in ("env_idx", "lease_id")}


def wait_until(condition: Any, seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


def free_slots(url: str) -> int:
    return int(ShopClient(url).health()["free_slots"])


def test_an_episode_over_the_wire(url: str) -> None:
    status, first = post(url, {"action": "reset", "idx": 7, "if_persona": True})
    assert status == 200
    assert first["idx"] == 7 and first["environment_version"] == ENVIRONMENT_VERSION
    assert "private_task_instruction" not in first
    key = lease_of(first)
    for response in BUY_SOAP:
        status, answer = post(url, {"action": "interact", "response": response, **key})
        assert status == 200 and "lease_id" not in answer
    assert (answer["done"], answer["reward"], answer["termination_reason"]) == (True, 1.0, "purchase")
    assert free_slots(url) == 1, "a finished episode keeps its slot"
    status, late = post(url, {"action": "interact", "response": "click[buy now]", **key})
    assert status == 409 and "ended" in late["error"]
    assert post(url, {"action": "release_one", **key}) == (200, {"released": True, "env_idx": key["env_idx"]})
    assert free_slots(url) == 2
    assert post(url, {"action": "release_one", **key})[0] == 409


def test_a_runner_can_terminate(url: str) -> None:
    _, first = post(url, {"action": "reset", "idx": 0, "interaction_mode": "multi_turn"})
    key = lease_of(first)
    status, answer = post(url, {"action": "terminate", "termination_reason": "purchase", **key})
    assert status == 400 and "refused" in answer["error"]
    status, answer = post(url, {"action": "terminate", "termination_reason": "generation_length", **key})
    assert (status, answer["done"], answer["reward"]) == (200, True, 0.0)


def test_the_private_goal_on_request(url: str) -> None:
    _, answer = post(url, {"action": "reset", "idx": 0, "include_private_goal": True})
    assert answer["goal_options"] == ["月光白", "官方标配"]


@pytest.mark.parametrize(
    ("body", "status", "part"),
    [
        ({}, 400, "action: missing"),
        ({"action": 3}, 400, "action: must be a text"),
        ({"action": "finish"}, 400, "unknown"),
        ({"action": "reset"}, 400, "idx: missing"),
        ({"action": "reset", "idx": "0"}, 400, "idx: must be a whole number"),
        ({"action": "reset", "idx": True}, 400, "idx: must be a whole number"),
        ({"action": "reset", "idx": 0, "env_idx": 0}, 400, "env_idx"),
        ({"action": "reset", "idx": 0, "env_idx": None}, 400, "env_idx"),
        ({"action": "reset", "idx": 0, "if_persona": "yes"}, 400, "if_persona"),
        ({"action": "reset", "idx": 0, "interaction_mode": "endless"}, 400, "interaction_mode"),
        ({"action": "reset", "idx": 4711}, 404, "task 4711"),
        ({"action": "interact", "response": "x"}, 400, "env_idx: missing"),
        ({"action": "interact", "env_idx": 0, "response": "x"}, 400, "lease_id: missing"),
        ({"action": "interact", "env_idx": 0, "lease_id": "x"}, 400, "response: missing"),
        ({"action": "interact", "env_idx": 0, "lease_id": "x", "response": ["x"]}, 400, "response"),
        ({"action": "interact", "env_idx": 0, "lease_id": "x", "response": "x"}, 409, "stale"),
        ({"action": "interact", "env_idx": 99, "lease_id": "x", "response": "x"}, 409, "stale"),
        ({"action": "terminate", "env_idx": 0, "lease_id": "x"}, 400, "termination_reason: missing"),
        ({"action": "release_one", "env_idx": 0.0, "lease_id": "x"}, 400, "env_idx"),
        ({"action": "release_all"}, 403, "administrator"),
    ],
)
def test_wrong_requests_get_their_status_and_hold_no_slot(
    url: str, body: dict[str, Any], status: int, part: str
) -> None:
    found, answer = post(url, body)
    assert (found, part in answer["error"]) == (status, True), answer
    assert "\n" not in answer["error"]
    assert free_slots(url) == 2


def test_release_all_is_the_administrators(url: str) -> None:
    post(url, {"action": "reset", "idx": 0})
    post(url, {"action": "reset", "idx": 1})
    assert post(url, {"action": "release_all"}, Authorization="Bearer wrong")[0] == 403
    assert post(url, {"action": "release_all"}, Authorization=f"Basic {ADMIN_TOKEN}")[0] == 403
    assert post(url, {"action": "release_all"}, Authorization=f"Bearer {ADMIN_TOKEN}") == (
        200,
        {"released": 2},
    )
    assert free_slots(url) == 2


def test_without_a_token_release_all_is_refused_to_everybody(served_shop: SmallShop) -> None:
    with running_service(served_shop, admin_token=None) as url:
        assert post(url, {"action": "release_all"}, Authorization="Bearer ")[0] == 403


def test_bodies_are_bounded_declared_and_valid(served_shop: SmallShop) -> None:
    with running_service(served_shop, max_body_bytes=2048, body_seconds=0.3) as url:
        assert exchange(url, b'{"action": "' + b"x" * 4096 + b'"}')[0] == 413
        assert exchange(url, b"{}", Content_Type="text/plain")[0] == 415
        assert exchange(url, b"{}", Content_Type="application/json; charset=utf-8")[0] == 400
        for data in (b"", b"{", b"[]", b"null", b"\xff", b"[" * 1500):
            status, answer = exchange(url, data)
            assert status == 400 and answer["result"]["error"]
        assert slow_body(url).startswith(b"HTTP/1.1 408")


def slow_body(url: str) -> bytes:
    parts = urlsplit(url)
    with socket.create_connection((str(parts.hostname), parts.port or 0), timeout=5) as connection:
        connection.sendall(
            b"POST /api/shop_agent HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 100\r\n\r\n{"
        )
        return connection.recv(200)


def test_other_paths_methods_and_names_are_refused(url: str) -> None:
    assert exchange(url, b"", path="/", method="GET")[0] == 404
    status, answer = exchange(url, b"", method="GET")
    assert status == 405 and "error" in answer["result"]
    for path, method, host, expected in (
        ("/api/shop_agent/", "POST", "localhost", 404),
        ("/api/shop_agent", "POST", "evil.example", 400),
        ("/healthz", "GET", "evil.example:8000", 400),
        ("/healthz", "GET", "[::2]:8000", 400),
    ):
        status, answer = exchange(url, b"{}", path=path, method=method, Host=host)
        assert status == expected and answer["result"]["error"], (path, host)
    for host in ("localhost", "LOCALHOST:1", "127.0.0.1:99", "[::1]:8000"):
        assert exchange(url, b"", path="/healthz", method="GET", Host=host)[0] == 200


def test_what_cannot_start_is_refused_before_it_waits(served_shop: SmallShop) -> None:
    with running_service(served_shop, slots=1, max_wait_seconds=30) as url, ShopClient(url) as holder:
        holder.reset(0)
        start = time.monotonic()
        status, answer = post(url, {"action": "reset", "idx": 100_000_000})
        assert status == 404 and "100000000" in answer["error"]
        status, answer = post(url, {"action": "reset", "idx": 0, "interaction_mode": "zz"})
        assert status == 400 and "'zz'" in answer["error"]
        assert time.monotonic() - start < 10


def test_who_hangs_up_during_a_step_leaves_its_environment_to_nobody(
    served_shop: SmallShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread of the step goes on: the next request of the lease waits for it (spec 01 §1: the budget)."""
    running, most = 0, 0
    step = ShopEnv.step

    def slow(env: ShopEnv, response: str) -> dict[str, Any]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        time.sleep(0.4)
        try:
            return step(env, response)
        finally:
            running -= 1

    monkeypatch.setattr(ShopEnv, "step", slow)
    with running_service(served_shop) as url:
        _, first = post(url, {"action": "reset", "idx": 0})
        body = json.dumps({"action": "interact", "response": "search[茶]", **lease_of(first)}).encode()
        parts = urlsplit(url)
        with socket.create_connection((str(parts.hostname), parts.port or 0)) as connection:
            head = f"POST /api/shop_agent HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
            connection.sendall((head + "Content-Type: application/json\r\n\r\n").encode() + body)
            time.sleep(0.15)
        status, answer = post(url, {"action": "interact", "response": "click[zz]", **lease_of(first)})
    assert (status, most) == (200, 1)
    assert answer["observation_state"]["page_type"] == "search_results"
    assert answer["observation_state"]["last_action"]["action"] == "click[zz]"


def test_health_says_what_is_served(url: str) -> None:
    assert ShopClient(url).health() == {
        "ready": True,
        "environment_slots": 2,
        "free_slots": 2,
        "tasks": 8,
        "environment_version": ENVIRONMENT_VERSION,
        "primary_reward": "r_strict",
        "observation_version": OBSERVATION_VERSION,
    }


def test_text_that_utf8_cannot_carry_survives(url: str) -> None:
    _, first = post(url, {"action": "reset", "idx": 0})
    status, answer = post(url, {"action": "interact", "response": "search[\ud83d]", **lease_of(first)})
    assert status == 200
    assert answer["observation_state"]["search_text"] == "\ud83d"


def test_a_reset_waits_its_turn(url: str) -> None:
    holders = [ShopClient(url) for _ in range(2)]
    for holder in holders:
        holder.reset(0)
    answers: list[dict[str, Any]] = []
    waiting = threading.Thread(target=lambda: answers.append(ShopClient(url).reset(1)))
    waiting.start()
    time.sleep(0.2)
    assert answers == []
    holders[0].close()
    waiting.join(5)
    assert answers[0]["idx"] == 1
    holders[1].close()
    assert free_slots(url) == 1


def test_who_hangs_up_while_waiting_gets_no_slot(url: str) -> None:
    holders = [ShopClient(url) for _ in range(2)]
    for holder in holders:
        holder.reset(0)
    with pytest.raises(ClientError, match="no answer"):
        ShopClient(url, timeout=0.2).reset(1)
    time.sleep(0.2)
    for holder in holders:
        holder.close()
    assert wait_until(lambda: free_slots(url) == 2)


def test_a_full_queue_is_refused_at_once(served_shop: SmallShop) -> None:
    with running_service(served_shop, slots=1, max_waiting=0) as url, ShopClient(url) as holder:
        holder.reset(0)
        with pytest.raises(ClientError, match="all 1 slots are taken") as caught:
            ShopClient(url).reset(0)
        assert caught.value.status == 503


def test_the_lease_of_an_owner_who_went_away_is_reclaimed(served_shop: SmallShop) -> None:
    with running_service(served_shop, slots=1, idle_seconds=0.3) as url:
        gone = ShopClient(url)
        gone.reset(0)
        with ShopClient(url, timeout=5) as other:
            assert other.reset(1)["idx"] == 1
        with pytest.raises(ClientError) as caught:
            gone.step("search[茶]")
        assert caught.value.status == 409
        gone.close()


def test_many_clients_play_at_once_without_disturbing_each_other(served_shop: SmallShop) -> None:
    failures: list[str] = []

    def play(url: str, task_id: int) -> None:
        with ShopClient(url) as client:
            for _ in range(5):
                answer = client.reset(task_id)
                if answer["idx"] != task_id:
                    failures.append(f"task {task_id} got {answer['idx']}")
                for response in BUY_SOAP:
                    answer = client.step(response)
                if answer["goal"]["task_id"] != task_id or answer["purchase"]["asin"] != "600000000007":
                    failures.append(f"task {task_id} ended with {answer['goal']['task_id']}")

    with running_service(served_shop, slots=3) as url:
        threads = [threading.Thread(target=play, args=(url, number)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert failures == []
        assert free_slots(url) == 3


def test_the_served_environment_keeps_the_contract(url: str) -> None:
    with ShopClient(url) as client:
        report = check_env(client, [0, 7])
    assert [result.failures for result in report.results if not result.passed] == []
