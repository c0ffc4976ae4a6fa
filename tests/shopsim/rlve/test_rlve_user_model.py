"""The user's texts in a model's words: a real endpoint, facts that must stay, counted fallbacks."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any

import pytest

from shopsim.chat import ChatClient, Endpoint
from shopsim.rlve.tasks.discovery import DiscoveryTask
from shopsim.rlve.user import UserAct, UserSimulator
from shopsim.rlve.user.model import ModelVerbaliser, lost_facts
from tests.factories.rlve_walk import make_world

TEXT = 'A lamp! It should cost at most $25.50. The color should be "Deep Blue". It should not be washable.'
KEY_VARIABLE = "SHOPSIM_TEST_USER_KEY"
Answering = Callable[[dict[str, Any]], tuple[int, str]]


class Model:
    """A chat endpoint on a local port; ``answer`` makes status and text of a request."""

    def __init__(self) -> None:
        self.answer: Answering = lambda request: (200, request["messages"][-1]["content"])
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                model.requests.append(request)
                model.keys.append(self.headers.get("Authorization"))
                status, text = model.answer(request)
                body = json.dumps({"choices": [{"message": {"content": text}}]}).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def verbaliser(self) -> ModelVerbaliser:
        url = f"http://127.0.0.1:{self.server.server_port}/v1"
        endpoint = Endpoint(url, "tiny", key_variable=KEY_VARIABLE, timeout_seconds=5, retries=1)
        return ModelVerbaliser(ChatClient(endpoint, sleep=lambda _: None))


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Model]:
    monkeypatch.setenv(KEY_VARIABLE, "secret-key")
    running = Model()
    yield running
    running.server.shutdown()
    running.server.server_close()


def test_reply_that_keeps_the_facts_is_used(model: Model) -> None:
    reply = 'Hey, got a "Deep Blue" lamp for $25.50 or less? Must NOT be washable, at most two cords.'
    model.answer = lambda _: (200, reply)
    verbaliser = model.verbaliser()
    assert verbaliser.rewrite(TEXT, UserAct.ELABORATE) == reply
    assert (verbaliser.rewritten, sum(verbaliser.fallbacks.values())) == (1, 0)
    assert model.keys == ["Bearer secret-key"]
    assert model.requests[0]["messages"][-1] == {"role": "user", "content": TEXT}


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ('A "Deep Blue" lamp, at most $25, not washable.', "facts"),
        ('A "Deep Blue" lamp, at most $25.50, not washable, within 3 days.', "facts"),
        ("A deep blue lamp, at most $25.50, not washable.", "facts"),
        ('A washable "Deep Blue" lamp for at most $25.50.', "facts"),
        ('A "Deep Blue" lamp for $25.50, not washable.', "facts"),
        ('A "Deep Blue" lamp for at most $25.50, nothing that goes into water, not that.', "facts"),
        ("  ", "length"),
        (f"{TEXT} {'Really. ' * 900}", "length"),
    ],
)
def test_reply_that_loses_or_invents_a_fact_is_not_used(model: Model, reply: str, reason: str) -> None:
    model.answer = lambda _: (200, reply)
    verbaliser = model.verbaliser()
    assert verbaliser.rewrite(TEXT, UserAct.ELABORATE) == TEXT
    assert verbaliser.fallbacks == {reason: 1}
    assert verbaliser.rewritten == 0


@pytest.mark.parametrize("status", [400, 401, 500])
def test_failing_endpoint_leaves_the_template(model: Model, status: int) -> None:
    model.answer = lambda _: (status, "no")
    verbaliser = model.verbaliser()
    assert verbaliser.rewrite(TEXT, UserAct.CLARIFY) == TEXT
    assert verbaliser.fallbacks == {"endpoint": 1}


def test_endpoint_that_recovers_is_used(model: Model) -> None:
    model.answer = lambda request: (
        500 if len(model.requests) == 1 else 200,
        request["messages"][-1]["content"],
    )
    verbaliser = model.verbaliser()
    assert verbaliser.rewrite(TEXT, UserAct.CLARIFY) == TEXT
    assert (verbaliser.rewritten, len(model.requests)) == (1, 2)


def test_conversation_in_the_models_words_sees_nothing_but_the_users_texts(model: Model) -> None:
    model.answer = lambda request: (200, f"Well. {request['messages'][-1]['content']}")
    world = make_world(3)
    problem = DiscoveryTask().generate(world, world.difficulty, Random(3))
    plain = UserSimulator(problem, lambda _: DiscoveryTask(), Random(1)).open()
    verbaliser = model.verbaliser()
    worded = UserSimulator(problem, lambda _: DiscoveryTask(), Random(1), verbaliser=verbaliser).open()
    assert (worded.act, worded.told, verbaliser.rewritten) == (plain.act, plain.told, 1)
    assert worded.text != plain.text
    sent = json.dumps(model.requests)
    assert problem.target.product_id not in sent
    untold = [fact.text for fact in problem.facts if fact.name not in worded.told]
    assert not any(json.dumps(text)[1:-1] in sent for text in untold)


@pytest.mark.parametrize(
    ("text", "reply", "lost"),
    [
        ("It should arrive within 2 days.", "Get it here in 2 days max.", ()),
        ("It should arrive within 2 days.", "Get it here in 2 days.", ("upper bound",)),
        ("It should be rated 4.2 stars or better.", "At least 4.2 stars please", ()),
        ("It should be rated 4.2 stars or better.", "4.2 stars please", ("lower bound",)),
        ("My order is ORD-12.", "The order (ORD-12), please.", ()),
        ("My order is ORD-12.", "The order ORD-13.", ("ORD-12", "ORD-13")),
        ("I need 2 of it. I need 2 of that.", "I need 2 of both.", ("2",)),
        ("It should be washable.", "I want it to be washable!", ()),
        ("It should be washable.", "Something to wash.", ("washable",)),
        ("Good, carry on.", "Go on", ()),
    ],
)
def test_lost_facts(text: str, reply: str, lost: tuple[str, ...]) -> None:
    assert lost_facts(text, reply) == lost
