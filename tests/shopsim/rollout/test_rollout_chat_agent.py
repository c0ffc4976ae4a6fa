"""A model behind an endpoint: what it is sent, how its answers are read, what a dead endpoint does."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from shopsim.chat import Endpoint
from shopsim.engine import Engine
from shopsim.errors import UsageError
from shopsim.rollout.agents import AgentSpec, ChatModel, Sampling, agent_spec
from shopsim.rollout.jobs import Job, make_jobs
from shopsim.rollout.manifest import PlanMismatchError
from shopsim.rollout.prompt import system_message
from shopsim.rollout.protocol import PROTOCOL_ERRORS
from shopsim.rollout.runner import RunRequest, open_runs, run
from shopsim.rollout.skill_bank import Skill, SkillBank
from shopsim.rollout.threads import EndpointDownError
from shopsim.rollout.trace import read_records
from shopsim.rollout.verify import check_episode
from tests.factories.chat_endpoint import ChatServer, chat_server, completion
from tests.factories.chat_shopper import oracle_answers, tool_completion

SEARCH = ("search", '{"query": "冰箱"}')
Answers = Callable[[dict[str, Any]], tuple[int, Any]]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with chat_server() as running:
        yield running


def jobs_of(engine: Engine, limit: int | None = None) -> tuple[Job, ...]:
    return make_jobs(engine.splits.ids("test")[:limit], split="test", seed=7)


def request(server: ChatServer, jobs: tuple[Job, ...], **sampling: Any) -> RunRequest:
    endpoint = Endpoint(server.base_url, "tiny", retries=0, timeout_seconds=5.0)
    chat = ChatModel(endpoint, Sampling.from_mapping(sampling), "step-80")
    return RunRequest("asked", AgentSpec("openai", chat=chat), jobs, "test")


def turns(*answers: Any) -> Answers:
    """Answers by turn; the last one goes on."""

    def answer(asked: dict[str, Any]) -> tuple[int, Any]:
        turn = sum(message["role"] == "assistant" for message in asked["messages"])
        return 200, answers[min(turn, len(answers) - 1)]

    return answer


def the_record(engine: Engine, asked: RunRequest) -> dict[str, Any]:
    folder = run(engine, asked).folder
    return next(iter(read_records(folder / "traces.jsonl").latest()))


def test_a_model_that_shops_like_the_oracle_ends_like_it(engine: Engine, server: ChatServer) -> None:
    jobs = jobs_of(engine)
    server.answer = oracle_answers(engine, jobs)
    report = run(engine, request(server, jobs), concurrency=4)
    oracle = run(engine, RunRequest("oracle", agent_spec("oracle"), jobs, "test"))
    assert report.summary["primary"] == oracle.summary["primary"]
    assert report.summary["primary"]["success_rate"] > 0.5
    assert report.summary["cost"]["tokens"]["prompt_tokens"] == 900 * len(server.requests)
    for record in read_records(report.folder / "traces.jsonl").latest():
        assert check_episode(engine, record).identical


def test_every_turn_is_sent_the_conversation_that_the_record_keeps(
    engine: Engine, server: ChatServer
) -> None:
    jobs = jobs_of(engine, 1)
    server.answer = oracle_answers(engine, jobs)
    record = the_record(engine, request(server, jobs, temperature=0.6, max_tokens=512, top_k=20))
    assert len(server.requests) == len(record["steps"])
    for place, (sent, step) in enumerate(zip(server.requests, record["steps"], strict=True)):
        assert sent["messages"] == record["conversation"][: 2 + 2 * place]
        assert sent["tools"] == step["tools"]
        assert sent["tool_choice"] == "auto"
        assert (sent["temperature"], sent["max_tokens"], sent["top_k"]) == (0.6, 512, 20)
        assert "seed" not in sent and "top_p" not in sent and "extra_body" not in sent
        assert step["model"]["raw_response"]["id"] == step["model"]["response_id"] == "completion-1"
        assert step["model"]["metadata"] == {}
        assert step["model"]["tool_calls"][0]["call_id"] == "id-0"


def test_the_plan_names_the_model_and_no_key(
    engine: Engine, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOPSIM_TEST_KEY", "secret-key")
    jobs = jobs_of(engine, 1)
    server.answer = oracle_answers(engine, jobs)
    asked = request(server, jobs, send_seed=True, enable_thinking=True)
    chat = asked.agent.chat
    assert chat is not None
    keyed = replace(chat, endpoint=replace(chat.endpoint, key_variable="SHOPSIM_TEST_KEY"))
    folder = run(engine, replace(asked, agent=replace(asked.agent, chat=keyed))).folder
    assert server.keys[0] == "Bearer secret-key"
    assert server.requests[0]["seed"] == jobs[0].seed
    assert server.requests[0]["enable_thinking"] is True
    plan = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["plan"]
    assert plan["model_id"] == "tiny"
    assert plan["model"] == {
        "provider": "openai_compatible_http",
        "checkpoint_id": "step-80",
        "model": "tiny",
        "base_url": server.base_url,
        "transport": {"timeout_seconds": 5.0, "max_retries": 0},
        "sampling": {
            "temperature": None,
            "max_tokens": None,
            "top_p": None,
            "send_seed": True,
            "tool_choice": "auto",
            "extra_body": {"enable_thinking": True},
        },
    }
    written = b"".join(path.read_bytes() for path in folder.iterdir() if path.is_file())
    assert b"secret-key" not in written and b"SHOPSIM_TEST_KEY" not in written


def test_skills_are_in_the_prompt_the_plan_and_every_record(engine: Engine, server: ChatServer) -> None:
    jobs = jobs_of(engine, 1)
    server.answer = oracle_answers(engine, jobs)
    bank = SkillBank("s0", (Skill("budget", "先看预算。"),))
    record = the_record(engine, replace(request(server, jobs), bank=bank))
    assert server.requests[0]["messages"][0]["content"] == system_message(bank)
    assert record["selected_skills"] == bank.selected()
    assert record["provenance"]["skills"] == bank.identity()
    with pytest.raises(PlanMismatchError, match=r"skills\.provider \(\"bank\" -> \"none\"\)"):
        run(engine, request(server, jobs), resume=True)


def test_another_sampling_is_another_experiment(engine: Engine, server: ChatServer) -> None:
    jobs = jobs_of(engine, 1)
    server.answer = oracle_answers(engine, jobs)
    run(engine, request(server, jobs, temperature=0.6))
    with pytest.raises(PlanMismatchError, match=r"model\.sampling\.temperature \(0\.6 -> 1\.0\)"):
        run(engine, request(server, jobs, temperature=1.0), resume=True)


@pytest.mark.parametrize(
    ("message", "content", "reasoning"),
    [
        ({"content": "", "reasoning_content": "先搜索"}, "", "先搜索"),
        ({"content": None, "reasoning": "先搜索"}, "", "先搜索"),
        ({"content": "<think>\n先搜索\n</think>\n\n"}, "", "先搜索"),
        ({"content": "先搜索\n</think>\n\n"}, "", "先搜索"),
        ({"content": "<think>先搜索"}, "<think>先搜索", ""),
        ({"content": "好的", "reasoning_content": None}, "好的", ""),
        ({"content": [{"type": "thinking", "thinking": "先搜索"}]}, "", "先搜索"),
        (
            {"content": [{"type": "thinking", "thinking": [{"text": "先搜索"}]}, {"text": "好"}]},
            "好",
            "先搜索",
        ),
    ],
)
def test_reasoning_is_no_content_wherever_the_server_puts_it(
    engine: Engine, server: ChatServer, message: dict[str, Any], content: str, reasoning: str
) -> None:
    server.answer = turns(tool_completion(SEARCH, **message))
    record = the_record(engine, request(server, jobs_of(engine, 1)))
    first = record["steps"][0]
    assert (first["model"]["content"], first["model"]["reasoning"]) == (content, reasoning)
    assert (first.get("protocol_error") or {}).get("code") == ("mixed_content" if content else None)
    assert record["conversation"][2]["content"] == (content or None)


def test_broken_calls_are_kept_as_they_came_and_sent_back_as_json(engine: Engine, server: ChatServer) -> None:
    server.answer = turns(
        tool_completion(("search", '{"query": "冰')),
        tool_completion(("search", "[3]")),
        tool_completion(tool_calls=["what"]),
        tool_completion(SEARCH),
    )
    record = the_record(engine, request(server, jobs_of(engine, 1)))
    codes = [(step.get("protocol_error") or {}).get("code") for step in record["steps"][:4]]
    assert codes == ["invalid_tool_arguments", "invalid_tool_arguments", "invalid_tool_call", None]
    assert record["steps"][0]["model"]["tool_calls"][0]["raw_arguments"] == '{"query": "冰'
    assert record["conversation"][2]["tool_calls"][0]["function"]["arguments"] == '{"query": "冰'
    sent = server.requests[3]["messages"]
    told = [json.loads(sent[place]["tool_calls"][0]["function"]["arguments"]) for place in (2, 4, 6)]
    assert told == [{"invalid_arguments": text} for text in ('{"query": "冰', "[3]", '"what"')]
    feedback = [message["content"] for message in sent if message["role"] == "tool"]
    assert feedback[0] == PROTOCOL_ERRORS["invalid_tool_arguments"]


def test_a_turn_without_call_and_text_is_sent_back_with_a_text(engine: Engine, server: ChatServer) -> None:
    server.answer = turns(completion(None), tool_completion(SEARCH))
    record = the_record(engine, request(server, jobs_of(engine, 1)))
    assert record["steps"][0]["protocol_error"]["code"] == "missing_tool_call"
    assert record["steps"][0]["model"]["metadata"] == {"usage_estimated": True}
    assert server.requests[1]["messages"][2] == {"role": "assistant", "content": ""}
    assert server.requests[1]["messages"][3]["role"] == "user"


def test_generation_that_reaches_its_limit_ends_the_episode(engine: Engine, server: ChatServer) -> None:
    server.answer = turns(tool_completion(finish_reason="length", content="想" * 9))
    record = the_record(engine, request(server, jobs_of(engine, 1)))
    assert record["final"]["termination_reason"] == "generation_length"
    assert record["steps"][0]["policy_failure"] == {"code": "generation_length"}


def test_an_answer_that_is_no_completion_is_a_broken_turn_but_not_the_first_one(
    engine: Engine, server: ChatServer
) -> None:
    server.answer = turns(tool_completion(SEARCH), b"<html>", tool_completion(SEARCH))
    record = the_record(engine, request(server, jobs_of(engine, 1)))
    step = record["steps"][1]
    assert step["protocol_error"]["code"] == "invalid_json_response"
    assert step["model"]["finish_reason"] == "invalid_response"
    assert step["protocol_feedback"] == PROTOCOL_ERRORS["invalid_json_response"]
    server.answer = turns(b"<html>")
    failed = the_record(engine, replace(request(server, jobs_of(engine, 1)), experiment="other"))
    assert failed["status"] == "failed"
    assert (failed["error"]["stage"], failed["error"]["type"]) == ("model", "NoCompletionError")


def test_a_dead_endpoint_stops_the_run_and_resume_goes_on(engine: Engine, server: ChatServer) -> None:
    jobs = jobs_of(engine)
    server.answer = lambda _: (401, {"error": "no such key"})
    asked = request(server, jobs)
    with (
        pytest.raises(EndpointDownError, match=r"3 episodes in a row .*HTTP 401.*no such key.*--resume"),
        open_runs(engine, [asked], concurrency=2) as runs,
    ):
        list(runs.play())
    folder = engine.settings.runs_root / "asked"
    assert [record["status"] for record in read_records(folder / "traces.jsonl").latest()] == ["failed"] * 3
    server.answer = oracle_answers(engine, jobs)
    report = run(engine, asked, resume=True)
    assert (report.played, report.summary["counts"]["completed"]) == (len(jobs), len(jobs))


def test_single_failures_do_not_stop_a_run(engine: Engine, server: ChatServer) -> None:
    jobs, count = jobs_of(engine), 0
    good = oracle_answers(engine, jobs)

    def answer(asked: dict[str, Any]) -> tuple[int, Any]:
        nonlocal count
        count += len(asked["messages"]) == 2
        return (500, b"busy") if len(asked["messages"]) == 2 and count % 3 == 0 else good(asked)

    server.answer = answer
    report = run(engine, request(server, jobs))
    assert report.summary["counts"]["failed"] == len(jobs) // 3
    assert report.summary["errors"] == {"ChatError": len(jobs) // 3}


def test_a_stopped_run_waits_for_no_answer(engine: Engine, server: ChatServer) -> None:
    jobs = jobs_of(engine)
    held = threading.Event()
    good = oracle_answers(engine, jobs)
    lock = threading.Lock()
    free = [True]

    def answer(asked: dict[str, Any]) -> tuple[int, Any]:
        with lock:
            mine, free[0] = free[0] or len(asked["messages"]) > 2, False
        if not mine:
            held.wait(30)
        return good(asked)

    server.answer = answer
    with open_runs(engine, [request(server, jobs)], concurrency=2) as runs:
        playing = runs.play()
        assert next(playing) == "asked"
        clock = time.monotonic()
        playing.close()
        assert time.monotonic() - clock < 5.0
    held.set()
    assert read_records(engine.settings.runs_root / "asked" / "traces.jsonl").records == 1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"temperature": -1}, "temperature"),
        ({"temperature": "hot"}, "temperature"),
        ({"temperature": True}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"top_p": 1.5}, "top_p"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": 1.5}, "max_tokens"),
        ({"send_seed": 1}, "send_seed"),
        ({"tool_choice": "maybe"}, "tool_choice"),
        ({"temperature": float("inf")}, "temperature"),
        ({"top_k": float("nan")}, "NaN or Infinity"),
        ({"stop": "\ud83d"}, "half a character"),
        ({"seed": 3}, "seed is set by the runner.*send_seed"),
        ({"stream": True}, "stream is set by the runner"),
        ({"extra_body": [1]}, "extra_body"),
        ({"extra_body": {"temperature": 1}}, "temperature does not belong into extra_body"),
    ],
)
def test_a_sampling_that_cannot_be_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Sampling.from_mapping(values)
