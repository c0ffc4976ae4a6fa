"""``shopsim rlve ...``: every command, what it prints, and with what it exits."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from shopsim.cli import app
from shopsim.cli.process import run_app
from shopsim.cli.rlve.shorthand import action_of
from shopsim.errors import UsageError
from shopsim.rlve.action import parse_action
from shopsim.rlve.agents import EpisodeStart, OracleAgent
from shopsim.rlve.catalogue import load_catalogue
from tests.factories.chat_endpoint import ChatServer, chat_server, completion

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "shopsim.toml").write_text('[rlve]\ncollection = "POLICY,STATUS"\n')
    monkeypatch.setenv("SHOPSIM_HOME", str(tmp_path))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return tmp_path


@pytest.fixture
def rlve(workspace: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    def call(*arguments: object) -> tuple[int, str, str]:
        code = run_app(app, ["rlve", *(str(argument) for argument in arguments)])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as running:
        yield running


def test_tools_and_the_action_as_schemas(rlve: Command) -> None:
    code, out, _ = rlve("tools", "--json")
    names = [tool["function"]["name"] for tool in json.loads(out)]
    assert (code, len(names)) == (0, 15)
    assert "return.exchange(order_id, line_id, new_product_id, new_variant_id?)" in rlve("tools")[1]
    assert "assistant_message" in json.loads(rlve("tools", "--action")[1])["properties"]


def test_sample_shows_the_private_part_only_when_asked(rlve: Command) -> None:
    code, out, _ = rlve("sample", "--env", "cart", "--difficulty", 4, "--count", 2, "--json")
    problems = [json.loads(line) for line in out.splitlines()]
    assert (code, [problem["seed"] for problem in problems]) == (0, [0, 1])
    assert problems[0].keys() == {"env", "difficulty", "seed", "observation"}
    private = json.loads(rlve("sample", "--env", "CART", "--difficulty", 4, "--private", "--json")[1])
    assert private["private"]["target"]["items"]
    assert private["solution"][-1]["answer"]["done"]
    text = rlve("sample", "--env", "JOURNEY", "--private")[1]
    assert "user: " in text
    assert "solution: " in text


def test_a_wrong_call_exits_with_2(rlve: Command) -> None:
    for arguments in (
        ("sample", "--env", "SHOP"),
        ("sample", "--env", "PD", "--difficulty", -1),
        ("check", "--env", "SHOP", "--to-difficulty", 0),
        ("rollout", "--agent", "nobody", "--name", "x"),
        ("rollout", "--agent", "oracle", "--name", "../x"),
        ("rollout", "--agent", "oracle", "--name", "x", "--collection", "C3"),
        ("rollout", "--agent", "oracle", "--name", "x", "--episodes", 0),
        ("rollout", "--agent", "oracle", "--name", "x", "--base-url", "http://h/v1", "--model", "m"),
        ("rollout", "--agent", "openai", "--name", "x"),
        ("rollout", "--agent", "openai", "--name", "x", "--base-url", "http://h/v1"),
        ("rollout", "--agent", "oracle", "--name", "x", "--user-model", "m"),
        ("rollout", "--agent", "openai", "--name", "x", "--sampling", "[1]"),
        ("verify", "no-such-run"),
        ("summary", "no-such-run"),
        ("catalogue", "--products", 3),
        ("check", "--factory", "no.such.module:make"),
    ):
        code, out, err = rlve(*arguments)
        assert (code, out) == (2, ""), arguments
        assert len(err.strip().splitlines()) == 1, arguments


def test_check_reports_every_rule(rlve: Command) -> None:
    code, out, _ = rlve("check", "--env", "POLICY", "--to-difficulty", 1)
    assert code == 0
    assert "ok     oracle" in out
    assert "keeps the contract (POLICY; " in out
    report = json.loads(rlve("check", "--env", "status", "--to-difficulty", 0, "--seeds", 2, "--json")[1])
    assert (report["ok"], report["environments"], len(report["rules"])) == (True, ["STATUS"], 13)


def test_check_of_an_environment_of_ones_own(
    rlve: Command, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace)
    (workspace / "my_rlve_shop.py").write_text(
        "from dataclasses import replace\n"
        "from shopsim.rlve import open_shop\n"
        "from shopsim.settings import load_settings\n"
        "class Mine:\n"
        "    def __init__(self):\n"
        "        self.inner = open_shop(load_settings()).new_env()\n"
        "        self.envs, self.reset = self.inner.envs, self.inner.reset\n"
        "    def step(self, response):\n"
        "        result = self.inner.step(response)\n"
        "        return replace(result, info={**result.info, 'correct': True}) if result.done else result\n"
    )
    code, out, _ = rlve("check", "--factory", "my_rlve_shop:Mine", "--env", "STATUS", "--to-difficulty", 0)
    assert code == 1
    assert "FAILED wrong_answer" in out
    assert "skipped oracle: the environment has no solution()" in out


def test_a_run_is_played_resumed_summarized_and_verified(rlve: Command, workspace: Path) -> None:
    start = ("rollout", "--agent", "clerk-novice", "--name", "probe", "--episodes")
    code, out, _ = rlve(*start, 8)
    assert code == 0
    assert "8 episodes played now, 0 kept" in out
    assert "a script, no trained model" in out
    assert rlve(*start, 8)[0] == 2
    grown = json.loads(rlve(*start, 12, "--resume", "--json")[1])
    assert (grown["played"], grown["kept"]) == (4, 8)
    summary = json.loads(rlve("summary", "probe", "--json")[1])
    assert summary["overall"]["episodes"] == 12
    assert summary == {name: grown[name] for name in summary}
    assert "12 of 12 episodes by scripted-clerk-novice" in rlve("summary", workspace / "runs" / "probe")[1]
    code, out, _ = rlve("verify", "probe")
    assert code == 0
    assert "12 episodes and the saved curriculum replayed, all come out bit for bit" in out


@pytest.mark.parametrize(
    ("kept", "told"),
    [
        (0, "nothing replayed; then a record is missing"),
        (2, "2 episodes replayed, all come out bit for bit; then a record is missing"),
    ],
)
def test_verify_counts_no_record_that_is_missing(
    rlve: Command, workspace: Path, kept: int, told: str
) -> None:
    rlve("rollout", "--agent", "oracle", "--name", "probe", "--episodes", 3)
    path = workspace / "runs" / "probe" / "rlve_episodes.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:kept]))
    code, out, _ = rlve("verify", "probe")
    assert code == 1
    assert f"episode-{kept:06d}: no complete record" in out
    assert out.rstrip().endswith(told)


def test_verify_finds_a_change_and_exits_with_1(rlve: Command, workspace: Path) -> None:
    rlve("rollout", "--agent", "oracle", "--name", "probe", "--episodes", 3)
    path = workspace / "runs" / "probe" / "rlve_episodes.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[1] = lines[1].replace('"correct":true', '"correct":false')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    code, out, _ = rlve("verify", "probe")
    assert code == 1
    assert "episode-000001: end.correct (false -> true)" in out
    report = json.loads(rlve("verify", "probe", "--json")[1])
    assert report["differing"][0]["subject"] == "episode-000001"


def test_an_interrupted_rollout_says_how_to_go_on(
    rlve: Command, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []
    begin = OracleAgent.begin

    def begin_or_stop(self: OracleAgent, start: EpisodeStart) -> None:
        begun.append(start.seed)
        if len(begun) == 4:
            raise KeyboardInterrupt
        begin(self, start)

    monkeypatch.setattr(OracleAgent, "begin", begin_or_stop)
    command = ("rollout", "--agent", "oracle", "--name", "probe", "--episodes", 6)
    code, _, err = rlve(*command)
    assert code == 1
    assert "interrupted; finished episodes are kept. Go on with --resume." in err
    assert json.loads((workspace / "runs" / "probe" / "rlve_curriculum.json").read_text())["episodes"] == 3
    assert json.loads(rlve(*command, "--resume", "--json")[1])["played"] == 3
    assert rlve("verify", "probe")[0] == 0


def test_options_of_a_rollout_reach_the_plan(rlve: Command, workspace: Path) -> None:
    skill = workspace / "careless.json"
    skill.write_text('{"wrong_value": 1.0}')
    options = ("--collection", "POLICY", "--difficulty", 3, "--seed", 5, "--batch", 2, "--skill", skill)
    code, out, _ = rlve("rollout", "--agent", "clerk-expert", "--name", "x", "--episodes", 4, *options)
    assert code == 0
    assert "at difficulty 3" in out
    assert "0-0" not in out  # no window moves
    plan = json.loads((workspace / "runs" / "x" / "rlve_manifest.json").read_text())["plan"]
    assert (plan["difficulty"], plan["seed"], plan["batch"]) == (3, 5, 2)
    assert plan["environment"]["environments"] == ["POLICY"]
    assert plan["model"]["skill"]["label"] == "careless"
    skill.write_text("[]")
    assert rlve("rollout", "--agent", "clerk-expert", "--name", "y", "--skill", skill)[0] == 2
    assert rlve("rollout", "--agent", "oracle", "--name", "y", "--skill", skill)[0] == 2


def test_a_model_plays_and_another_words_the_user(
    rlve: Command, workspace: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOPSIM_TEST_KEY", "secret-key")
    server.answer = lambda request: (
        200,
        completion('{"answer": {"done": true}}' if request["model"] == "agent" else ""),
    )
    ends = ("--base-url", server.base_url, "--model", "agent", "--key-variable", "SHOPSIM_TEST_KEY")
    user = ("--user-base-url", server.base_url, "--user-model", "user", "--sampling", '{"top_p": 0.9}')
    code, out, _ = rlve("rollout", "--agent", "openai", "--name", "m", "--episodes", 3, *ends, *user)
    assert code == 0
    assert "3 of 3 episodes by agent" in out
    assert "user texts now: 0 reworded, 6 kept (length)" in out
    written = "".join(path.read_text() for path in (workspace / "runs" / "m").glob("rlve_*"))
    assert "secret-key" not in written
    assert rlve("verify", "m")[0] == 0
    server.answer = lambda _: (400, {"error": "gone"})
    code, _, err = rlve(
        "rollout", "--agent", "openai", "--name", "m", "--episodes", 5, *ends, *user, "--resume"
    )
    assert code == 1
    assert "HTTP 400" in err


def test_the_catalogue_is_described_and_generated(rlve: Command, workspace: Path) -> None:
    assert json.loads(rlve("catalogue", "--json")[1])["products"] == 3000
    out = workspace / "small.jsonl.gz"
    code, text, _ = rlve("catalogue", "--out", out, "--products", 120, "--seed", 4)
    assert code == 0
    assert text.startswith("120 products")
    assert len(load_catalogue(out)) == 120
    before = out.read_bytes()
    assert rlve("catalogue", "--out", out, "--products", 120, "--seed", 4)[0] == 2
    assert rlve("catalogue", "--out", out, "--products", 120, "--seed", 4, "--force")[0] == 0
    assert out.read_bytes() == before
    assert rlve("catalogue", "--out", workspace / "small.csv")[0] == 2


def test_a_catalogue_of_ones_own_is_used(rlve: Command, workspace: Path) -> None:
    rlve("catalogue", "--out", workspace / "own.jsonl.gz", "--products", 400)
    config = workspace / "configs" / "shopsim.toml"
    config.write_text('[rlve]\ncatalogue = "own.jsonl.gz"\ncollection = "PD,CART"\n')
    assert json.loads(rlve("catalogue", "--json")[1])["products"] == 400
    assert rlve("rollout", "--agent", "oracle", "--name", "own", "--episodes", 4)[0] == 0
    assert rlve("verify", "own")[0] == 0
    config.write_text("[rlve]\n")
    assert rlve("verify", "own")[0] == 2
    config.write_text('[rlve]\ncatalogue = "missing.jsonl"\n')
    assert rlve("catalogue")[0] == 1


# -- playing -----------------------------------------------------------------------------------------


def typing(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_a_person_plays_to_the_end(rlve: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    typing(monkeypatch, "orders", "nonsense", "help", "say one moment please", "done")
    code, out, err = rlve("play", "--env", "status", "--seed", 3)
    assert code == 0
    assert out.count("customer: ") >= 2
    assert "order.list: {" in out
    assert "The end (answer): not correct" in out
    assert "'nonsense': unknown" in err
    typing(monkeypatch, '{"answer": {"done": true}}')
    assert json.loads(rlve("play", "--env", "STATUS", "--json")[1])["termination"] == "answer"


def test_leaving_is_said(rlve: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for lines in (("quit",), ()):
        typing(monkeypatch, *lines)
        code, _, err = rlve("play", "--env", "PD")
        assert code == 1
        assert "before its end" in err


@pytest.mark.parametrize(
    ("line", "action"),
    [
        ("say hello there", {"assistant_message": "hello there"}),
        ("search desk lamp", {"tool_calls": [{"name": "catalog.search", "args": {"query": "desk lamp"}}]}),
        ("cart", {"tool_calls": [{"name": "cart.view", "args": {}}]}),
        (
            "add P1 V2 3",
            {
                "tool_calls": [
                    {"name": "cart.add", "args": {"quantity": 3, "product_id": "P1", "variant_id": "V2"}}
                ]
            },
        ),
        (
            "set L1 2",
            {"tool_calls": [{"name": "cart.set_quantity", "args": {"line_id": "L1", "quantity": 2}}]},
        ),
        (
            "exchange O L P",
            {
                "tool_calls": [
                    {
                        "name": "return.exchange",
                        "args": {"order_id": "O", "line_id": "L", "new_product_id": "P"},
                    }
                ]
            },
        ),
        (
            'call cart.add {"product_id": "P"}',
            {"tool_calls": [{"name": "cart.add", "args": {"product_id": "P"}}]},
        ),
        ("recommend P1 P2", {"answer": {"recommended_product_ids": ["P1", "P2"], "done": True}}),
        ('answer {"policy_answer": 3}', {"answer": {"done": True, "policy_answer": 3}}),
        ("done", {"answer": {"done": True}}),
        ('{"assistant_message": "hi"}', {"assistant_message": "hi"}),
    ],
)
def test_short_forms_are_actions(line: str, action: object) -> None:
    assert json.loads(action_of(line)) == action
    assert not isinstance(parse_action(action_of(line)), str)


@pytest.mark.parametrize(
    "line", ["", "buy", "add", "set L two", "call x [1]", "answer 3", 'get "P', "return O L"]
)
def test_what_is_no_short_form_is_refused(line: str) -> None:
    with pytest.raises(UsageError):
        action_of(line)


def test_a_run_of_the_other_family_is_refused_with_the_mend(rlve: Command, workspace: Path) -> None:
    (workspace / "runs" / "other").mkdir(parents=True)
    for command in ("verify", "summary"):
        code, _, err = rlve(command, "other")
        assert code == 2
        assert "no run of the conversation environments" in err and "shopsim rlve rollout" in err


@pytest.mark.parametrize(
    ("file", "told", "mend"),
    [
        ("traces.jsonl", "a run of shopping tasks", "shopsim-review summary"),
        ("summary.json", "a run of shopping tasks", "shopsim-review verify"),
        ("rlve_episodes.jsonl", "holds episodes but not the plan", "Copy the rlve_manifest.json"),
    ],
)
def test_a_folder_without_a_plan_is_told_what_it_is(
    rlve: Command, workspace: Path, file: str, told: str, mend: str
) -> None:
    (workspace / "runs" / "other").mkdir(parents=True)
    (workspace / "runs" / "other" / file).touch()
    for command in ("verify", "summary"):
        code, _, err = rlve(command, "other")
        assert code == 2 and told in err and mend in err
