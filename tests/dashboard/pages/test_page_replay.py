"""The page Replay: every recorded field of a step, moving about, dirt of every kind."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.ui import data
from dashboard.ui.long_text import FIRST_CHARACTERS
from shopsim.engine import Engine, open_engine
from shopsim.env.terms import TermExtractor
from shopsim.jsonl import encode_record
from shopsim.rollout.agents import agent_spec
from shopsim.rollout.jobs import make_jobs
from shopsim.rollout.runner import RunRequest, run
from shopsim.rollout.trace import read_records
from tests.factories.episode_pages import (
    go_to,
    links,
    no_exception,
    open_page,
    sent_text,
    shown_html,
    table,
    use_workspace,
)
from tests.factories.tiny_workspace import tiny_workspace
from tests.factories.traces import OUTCOMES, Episode, episode_id, episode_record, write_run

HOSTILE = "<script>alert(1)</script> **fett** [x](javascript:alert(1)) $x$ :red[rot] \ud83d"


def write_records(folder: Path, *records: dict[str, Any]) -> None:
    """A run of exactly these records, whatever they hold."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "traces.jsonl").write_bytes(b"".join(map(encode_record, records)))


def headings(app: AppTest) -> list[str]:
    return [heading.value for heading in app.subheader]


def press(app: AppTest, label: str) -> AppTest:
    next(button for button in app.button if button.label == label).click()
    return no_exception(app.run())


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run with an episode of every outcome, tasks 0, 10, 20 ... in the order of OUTCOMES."""
    home = tmp_path_factory.mktemp("replay")
    records = [episode_record(10 * place, outcome=outcome) for place, outcome in enumerate(OUTCOMES)]
    write_run(home / "runs" / "run-a", records)
    write_run(home / "runs" / "run-b", records[:2])
    return home


@pytest.fixture
def workspace(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    use_workspace(monkeypatch, home)
    return home


def open_outcome(outcome: str, **query: str) -> AppTest:
    return open_page("replay", run="run-a", episode=episode_id(10 * OUTCOMES.index(outcome)), **query)


def test_every_step_shows_what_was_recorded(workspace: Path) -> None:
    trace = read_records(workspace / "runs" / "run-a" / "traces.jsonl")
    record = trace.read(episode_id(10 * OUTCOMES.index("wrong_option")))
    app = open_outcome("wrong_option")
    for position, step in enumerate(record["steps"], 1):
        go_to(app, step=str(position))
        assert f"Step {position} of {len(record['steps'])}" in headings(app)
        told = "\n".join(shown_html(app))
        for text in (step["observation"], step["model"]["reasoning"], step["action"]):
            assert escaped(text) in told
        (call,) = step["model"]["tool_calls"]
        assert escaped(f"{call['name']}({call['raw_arguments']})") in told
        assert escaped(step["environment"].get("observation", "")) in told
        usage = step["model"]["usage"]
        figures = [c.value for c in app.caption if "prompt tokens" in c.value][-1]
        for count in (
            f"{usage['prompt_tokens']:,} prompt tokens",
            f"{usage['completion_tokens']:,} completion tokens",
            f"{usage['completion_tokens_details']['reasoning_tokens']:,} reasoning tokens",
        ):
            assert count in figures
        notes = [note.value for note in (*app.success, *app.warning)]
        assert any(step["environment"]["action_feedback"]["message"].rstrip("。") in note for note in notes)


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def test_the_timeline_against_the_record(workspace: Path) -> None:
    trace = read_records(workspace / "runs" / "run-a" / "traces.jsonl")
    record = trace.read(episode_id(0))
    shown = table(open_outcome("success"), f"timeline-run-a-{episode_id(0)}")
    assert list(shown["did"]) == [step["action"] for step in record["steps"]]
    assert list(shown["latency"]) == [step["model"]["latency_ms"] for step in record["steps"]]
    kinds = ["search", "paginate", "paginate", "open product", "backtrack", "open product", "select option"]
    assert list(shown["kind"]) == [*kinds, "invalid action", "select option", "purchase"]
    valid = [step["environment"]["action_feedback"]["valid"] for step in record["steps"]]
    assert [result == "executed" for result in shown["result"]] == valid


def test_the_verdict_and_the_figures_of_the_episode(workspace: Path) -> None:
    trace = read_records(workspace / "runs" / "run-a" / "traces.jsonl")
    app = open_outcome("success")
    for place in range(len(OUTCOMES)):
        record = trace.read(episode_id(10 * place))
        go_to(app, episode=episode_id(10 * place))
        final = record["final"]
        if final is None:
            assert headings(app)[0] == "Failed technically"
            continue
        word = "Success" if final["reward_detail"]["r_success"] == 1 else "No success"
        assert headings(app)[0] == f"{word}: strict reward {final['reward_detail']['r_strict']:.3f}"
        facts = next(c.value for c in app.caption if c.value.startswith("ended by")).replace("\\", "")
        assert facts.startswith(f"ended by {final['termination_reason']} · {len(record['steps'])} step")
        total = sum(step["model"]["usage"]["total_tokens"] for step in record["steps"])
        assert f"{total / 1000:.3g}k tokens" in facts and f"seed {record['job']['seed']}" in facts


def test_hits_and_misses_of_a_purchase(workspace: Path) -> None:
    told = "\n".join(shown_html(open_outcome("wrong_option")))
    assert "1 of 2 wanted options met" in told and "2 of 2 wanted attributes met" in told
    assert re.search(r"月光白</td><td[^>]*><span[^>]*>✗</span> missing", told)
    assert re.search(r"XL</td><td[^>]*><span[^>]*>✓</span> 尺码 = xl", told)


def test_where_the_wanted_product_was_shown(workspace: Path) -> None:
    trace = read_records(workspace / "runs" / "run-a" / "traces.jsonl")
    record = trace.read(episode_id(10 * OUTCOMES.index("wrong_product")))
    goal = record["final"]["goal"]
    products = record["steps"][0]["environment"]["observation_state"]["products"]
    rank = next(product["rank"] for product in products if product["asin"] == goal["asin"])
    captions = [caption.value.replace("\\", "") for caption in open_outcome("wrong_product").caption]
    (told,) = [text for text in captions if text.startswith("The wanted product was shown")]
    assert f"at rank {rank} for" in told and told.endswith("(step 1), not opened.")
    captions = [caption.value for caption in open_outcome("action_limit").caption]
    assert "The wanted product was on no result page that the agent saw\\." in captions


def test_protocol_errors_and_policy_failures(workspace: Path) -> None:
    app = open_outcome("generation_length", step="2")
    assert any("Protocol error missing" in note.value for note in app.warning)
    assert "请只调用一个工具。" in "\n".join(shown_html(app))
    app = open_outcome("generation_length", step="3")
    assert any("it ended the episode" in note.value for note in app.warning)


def test_a_failed_episode_tells_stage_type_and_message(workspace: Path) -> None:
    app = open_outcome("failed")
    (error,) = app.error
    assert (
        error.value.replace("\\", "") == "TimeoutError at stage environment_step: TimeoutError while waiting"
    )
    assert "Traceback: TimeoutError while waiting" in "\n".join(shown_html(app))
    assert any("does not tell what the task wanted" in caption.value for caption in app.caption)


def test_stepping_and_leafing_by_buttons(workspace: Path) -> None:
    app = press(open_outcome("success"), "Next step")
    assert "Step 2 of 10" in headings(app) and app.query_params["step"] in ("2", ["2"])
    assert "Step 1 of 10" in headings(press(app, "Previous step"))
    app = press(press(app, "Next step"), "Next episode")
    assert app.query_params["episode"] in (episode_id(10), [episode_id(10)])
    assert "Step 1 of 9" in headings(app)
    app = press(app, "Previous episode")
    assert "Step 1 of 10" in headings(app)
    ends = {button.label: button.disabled for button in app.button}
    assert ends["Previous episode"] and ends["Previous step"] and not ends["Next episode"]


def test_leafing_through_what_did_not_succeed(workspace: Path) -> None:
    app = press(open_outcome("success", kept="failed"), "Next episode")
    assert app.query_params["episode"] in (episode_id(10), [episode_id(10)])
    options = next(box for box in app.selectbox if box.key == "episode").options
    assert len(options) == len(OUTCOMES) - 1 and not any("✓" in option for option in options)


def test_the_same_episode_of_another_run_begins_at_its_first_step(workspace: Path) -> None:
    app = open_page("replay", run="run-a", episode=episode_id(10), step="5")
    next(box for box in app.selectbox if box.key == "run").set_value("run-b")
    no_exception(app.run())
    assert "Step 1 of 9" in headings(app)
    assert app.query_params["episode"] in (episode_id(10), [episode_id(10)])


@pytest.mark.parametrize(("step", "shown"), [("999", 10), ("0", 1), ("x", 1), ("²", 1), ("9" * 5000, 1)])
def test_a_step_that_is_none_is_the_nearest(workspace: Path, step: str, shown: int) -> None:
    assert f"Step {shown} of 10" in headings(open_outcome("success", step=step))


def test_a_link_to_another_episode_begins_at_its_first_step(workspace: Path) -> None:
    app = open_outcome("success", step="5")
    app.switch_page("pages/failures.py")
    app.query_params.pop("step", None)
    replays = [address for page, address in links(no_exception(app.run())) if page == "replay"]
    assert replays and not any("step" in address for address in replays)


def test_unknown_run_and_episode_are_named(workspace: Path) -> None:
    app = open_page("replay", run="no-run", episode="no-episode")
    notes = [note.value.replace("\\", "") for note in app.warning[:2]]
    assert notes[0].startswith("There is no run “no-run” here. Shown instead: ")
    assert notes[1].startswith("This run has no episode “no-episode”. Shown instead: ")
    assert headings(app)[0] == "Success: strict reward 1.000"


def test_the_page_as_a_shop_marks_what_was_clicked(workspace: Path) -> None:
    app = open_outcome("success", step="4", shop="1")
    assert "click[600000000003]" in sent_text(app) and "模拟商城" in sent_text(app)


def test_the_raw_record_in_parts_and_whole(workspace: Path) -> None:
    trace = read_records(workspace / "runs" / "run-a" / "traces.jsonl")
    record = trace.read(episode_id(0))
    app = open_outcome("success", raw="1", step="2")
    assert json.loads(app.code[0].value) == record["steps"][1]
    app = open_outcome("success", raw="1", part="final")
    assert json.loads(app.code[0].value) == record["final"]


def test_links_to_the_task_and_no_sandbox_of_another_catalogue(workspace: Path) -> None:
    pages = dict(links(open_outcome("wrong_option", step="3")))
    assert pages["failures"] == {"task": ["10"]} and "sandbox" not in pages


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    engine = open_engine(tiny_workspace(tmp_path_factory.mktemp("own")), terms=TermExtractor())
    jobs = make_jobs(engine.splits.ids("test"), split="test", seed=1)
    for agent in ("oracle", "random"):
        run(engine, RunRequest(agent, agent_spec(agent), jobs, "test"))
    return engine


def test_a_point_of_an_episode_opens_in_the_sandbox(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    use_workspace(monkeypatch, engine.settings.workspace)
    record = read_records(engine.settings.runs_root / "oracle" / "traces.jsonl").read(episode_id(0))
    query = {"run": "oracle", "episode": episode_id(0), "step": "3"}
    (address,) = [where for page, where in links(open_page("replay", **query)) if page == "sandbox"]
    actions = [step["action"] for step in record["steps"][:2]]
    assert address == {"task": ["0"], "act": actions, "persona": ["1"]}
    sandbox = open_page("sandbox", **address)
    assert escaped(record["steps"][2]["observation"]) in "\n".join(shown_html(sandbox))
    assert {metric.label: metric.value for metric in sandbox.metric}["Taken"] == "2"


def test_the_end_of_a_replayed_link_is_the_recorded_end(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_workspace(monkeypatch, engine.settings.workspace)
    record = read_records(engine.settings.runs_root / "random" / "traces.jsonl").read(episode_id(5))
    last = str(len(record["steps"]))
    app = open_page("replay", run="random", episode=episode_id(5), step=last)
    (address,) = [where for page, where in links(app) if page == "sandbox"]
    sandbox = open_page("sandbox", **address)
    assert escaped(record["steps"][-1]["observation"]) in "\n".join(shown_html(sandbox))


def test_a_failed_episode_on_the_own_catalogue_tells_its_goal(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    use_workspace(monkeypatch, engine.settings.workspace, tmp_path)
    folder = tmp_path / "broken"
    folder.mkdir()
    manifest = (engine.settings.runs_root / "oracle" / "manifest.json").read_bytes()
    (folder / "manifest.json").write_bytes(manifest)
    record = read_records(engine.settings.runs_root / "oracle" / "traces.jsonl").read(episode_id(0))
    error = {"stage": "model", "type": "TimeoutError", "message": "late", "traceback": ""}
    write_records(folder, record | {"status": "failed", "final": None, "error": error, "steps": []})
    app = open_page("replay", run="broken", episode=episode_id(0))
    told = "\n".join(shown_html(app))
    assert "冰点家 迷你小冰箱" in told and "at most 300" in told
    assert any("No step was recorded" in note.value for note in app.info)


def hostile_record() -> dict[str, Any]:
    record = Episode(0).search(HOSTILE).protocol_error().open(0).invalid(f"click[{HOSTILE}]").buy().record()
    for step in record["steps"]:
        step["model"] |= {"reasoning": HOSTILE, "content": HOSTILE, "finish_reason": HOSTILE}
        step["observation"] = HOSTILE
    record["steps"][1]["protocol_error"] = {"code": HOSTILE, "message": HOSTILE}
    record["steps"][1]["protocol_feedback"] = HOSTILE
    record["steps"][3]["environment"]["action_feedback"] |= {"message": HOSTILE, "reason": HOSTILE}
    record["final"]["goal"] |= {"name": HOSTILE, "attributes": [HOSTILE], "goal_options": [HOSTILE]}
    record["final"]["purchase"] |= {"name": HOSTILE, "options": {HOSTILE: HOSTILE}}
    record["final"]["termination_reason"] = HOSTILE
    record["reset"] |= {"task_instruction": HOSTILE, "user_persona": {HOSTILE: HOSTILE}}
    record["selected_skills"] = [{"skill_id": HOSTILE, "version": 1, "content": HOSTILE}]
    record["provenance"]["model"] |= {"model": HOSTILE, "checkpoint_id": HOSTILE}
    return record


@pytest.mark.parametrize("view", [{}, {"shop": "1", "raw": "1"}])
def test_what_was_recorded_is_shown_as_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, view: dict[str, str]
) -> None:
    use_workspace(monkeypatch, tmp_path)
    write_records(tmp_path / "runs" / "hostile", hostile_record())
    app = open_page("replay", run="hostile", episode=episode_id(0), **view)
    for step in ("1", "2", "4", "5"):
        assert_only_text(go_to(app, step=step), step)


def assert_only_text(app: AppTest, step: str) -> None:
    assert f"Step {step} of 5" in headings(app)
    bodies = shown_html(app)
    assert sum("&lt;script&gt;" in body for body in bodies) >= 5
    assert not any("<script" in body for body in bodies)
    for element in (*app.markdown, *app.caption, *app.warning, *app.success, *app.error, *app.subheader):
        assert not re.search(r"(?<!\\)<(?!/?small)|\*\*fett\*\*|(?<!\\)\[x\\?\]\(", element.value), (
            element.value
        )


@pytest.mark.parametrize(
    "damage",
    [
        {"final": {}},
        {"final": 3, "steps": "none"},
        {"final": None, "error": "text"},
        {"steps": [None, 3, {}, {"model": None, "environment": []}]},
        {"reset": None, "provenance": None, "job": {}, "duration_ms": float("nan")},
        {"selected_skills": [None, {}], "conversation": None},
        {"schema_version": "other-v9"},
        {"status": "running"},
    ],
)
def test_missing_and_mistyped_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: dict[str, Any]
) -> None:
    use_workspace(monkeypatch, tmp_path)
    write_records(tmp_path / "runs" / "damaged", episode_record(0) | damage)
    app = open_page("replay", run="damaged", episode=episode_id(0), raw="1", shop="1")
    assert headings(app)


def test_huge_texts_are_cut_until_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_workspace(monkeypatch, tmp_path)
    record = episode_record(0)
    huge = "长" * (FIRST_CHARACTERS + 5000) + "END"
    record["steps"][0] |= {"observation": huge, "action": f"search[{huge}]"}
    record["steps"][0]["model"]["reasoning"] = huge
    write_records(tmp_path / "runs" / "huge", record)
    app = open_page("replay", run="huge", episode=episode_id(0), raw="1")
    assert "END" not in "".join(shown_html(app))
    assert len(sent_text(app)) < 8 * FIRST_CHARACTERS
    next(box for box in app.toggle if box.key == "whole-observation-1").set_value(True)
    no_exception(app.run())
    assert "".join(shown_html(app)).count("END") == 1


def test_a_run_without_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_workspace(monkeypatch, tmp_path)
    write_run(tmp_path / "runs" / "waiting", [], pending=2)
    app = open_page("replay", run="waiting")
    assert any("no recorded episode yet" in note.value for note in app.info)


def test_a_trace_that_changed_under_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_workspace(monkeypatch, tmp_path)
    monkeypatch.setattr(data, "REFRESH_SECONDS", 3600.0)
    write_records(tmp_path / "runs" / "changed", episode_record(0))
    app = open_page("replay", run="changed", episode=episode_id(0))
    (tmp_path / "runs" / "changed" / "traces.jsonl").write_bytes(b"x" * 100)
    no_exception(app.run())
    assert len(app.error) == 1 and "\n" not in app.error[0].value
    assert [box.key for box in app.selectbox][:2] == ["run", "episode"]
