"""Odd answers of a model within an episode: none ends the run, none is sent back as what servers refuse."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from shopsim.engine import Engine
from shopsim.rollout.runner import open_runs, run
from shopsim.rollout.threads import EndpointDownError
from shopsim.rollout.trace import read_records
from tests.factories.chat_endpoint import ChatServer, chat_server
from tests.factories.chat_shopper import oracle_answers, tool_completion
from tests.shopsim.rollout.test_rollout_chat_agent import SEARCH, jobs_of, request, the_record, turns


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with chat_server() as running:
        yield running


@pytest.mark.parametrize(
    ("call", "sent"),
    [
        (("search", '{"query": NaN}'), ("search", {"invalid_arguments": '{"query": NaN}'})),
        (("search", '{"query": "\\ud83d"}'), ("search", {"query": "\ufffd"})),
        (("search", '{"query": "\ud83d"}'), ("search", {"query": "\ufffd"})),
        (("search", '{"query": "\ud83d'), ("search", {"invalid_arguments": '{"query": "\ufffd'})),
        (("", "{}"), ("invalid_tool", {})),
        (("搜索", "{}"), ("invalid_tool", {})),
    ],
)
def test_a_call_is_kept_as_it_came_and_sent_back_as_any_server_reads_it(
    engine: Engine, server: ChatServer, call: tuple[str, str], sent: tuple[str, dict[str, Any]]
) -> None:
    server.answer = turns(tool_completion(call), tool_completion(SEARCH))
    record = the_record(engine, request(server, jobs_of(engine, 1)))
    kept = record["steps"][0]["model"]["tool_calls"][0]
    assert (kept["name"], kept["raw_arguments"]) == call
    function = server.requests[1]["messages"][2]["tool_calls"][0]["function"]
    assert (function["name"], json.loads(function["arguments"])) == sent


def test_calls_of_one_turn_are_answered_under_ids_of_their_own(engine: Engine, server: ChatServer) -> None:
    twice = tool_completion(SEARCH, SEARCH)
    for call in twice["choices"][0]["message"]["tool_calls"]:
        call["id"] = "same"
    server.answer = turns(twice, tool_completion(SEARCH))
    the_record(engine, request(server, jobs_of(engine, 1)))
    said = server.requests[1]["messages"]
    asked = [call["id"] for call in said[2]["tool_calls"]]
    assert asked == ["same", "call-001-2"]
    assert [message["tool_call_id"] for message in said[3:5]] == asked


def test_arguments_nested_beyond_any_use_are_a_broken_turn(engine: Engine, server: ChatServer) -> None:
    deep = '{"query": ' + "[" * 950 + "]" * 950 + "}"
    server.answer = turns(tool_completion(("search", deep)), tool_completion(SEARCH))
    record = the_record(engine, request(server, jobs_of(engine, 1)))
    assert record["steps"][0]["protocol_error"]["code"] == "invalid_tool_arguments"
    assert record["steps"][0]["model"]["tool_calls"][0]["raw_arguments"] == deep


def test_a_count_that_no_column_holds_is_estimated(engine: Engine, server: ChatServer) -> None:
    wrong = {**tool_completion(SEARCH), "usage": {"prompt_tokens": 10**30, "completion_tokens": 3}}
    server.answer = turns(wrong)
    record = the_record(engine, request(server, jobs_of(engine, 1)))
    assert record["steps"][0]["model"]["metadata"] == {"usage_estimated": True}


@pytest.mark.parametrize(
    ("more", "details"),
    [
        ({}, None),
        ({"completion_tokens_details": None}, None),
        ({"completion_tokens_details": {"reasoning_tokens": 0}}, {"reasoning_tokens": 0}),
        ({"completion_tokens_details": {"reasoning_tokens": "many"}}, None),
        ({"reasoning_tokens": 2}, {"reasoning_tokens": 2}),
    ],
)
def test_reasoning_that_nobody_counted_is_no_zero(
    engine: Engine, server: ChatServer, more: dict[str, Any], details: dict[str, int] | None
) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 4, **more}
    server.answer = turns({**tool_completion(SEARCH), "usage": usage})
    record = the_record(engine, request(server, jobs_of(engine, 1)))
    kept = record["steps"][0]["model"]["usage"]
    assert kept.pop("completion_tokens_details", None) == details
    assert kept == {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
    assert record["steps"][0]["model"]["metadata"] == {}


def test_outgrown_conversations_do_not_stop_the_run_of_the_others(engine: Engine, server: ChatServer) -> None:
    jobs = jobs_of(engine)
    good = oracle_answers(engine, jobs)
    too_long = {"error": {"message": "This model's maximum context length is 4096 tokens"}}
    server.answer = lambda asked: good(asked) if len(asked["messages"]) == 2 else (400, too_long)
    report = run(engine, request(server, jobs))
    assert report.summary["errors"] == {"ContextLengthError": len(jobs)}
    server.answer = lambda _: (400, too_long)  # no room for a first turn: nothing can be played
    with (
        pytest.raises(EndpointDownError, match="3 episodes in a row"),
        open_runs(engine, [request(server, jobs)], resume=True) as runs,
    ):
        list(runs.play())
    traces = read_records(engine.settings.runs_root / "asked" / "traces.jsonl")
    assert traces.records == len(jobs) + 3
