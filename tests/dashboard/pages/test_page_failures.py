"""The page Failures by task, its figures against the records read with plain Python."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from shopsim.engine import open_engine
from shopsim.jsonl import encode_record
from shopsim.rollout.agents import agent_spec
from shopsim.rollout.jobs import make_jobs
from shopsim.rollout.runner import RunRequest, run
from shopsim.rollout.trace import read_records
from tests.factories.episode_pages import (
    links,
    no_exception,
    open_page,
    sent_text,
    shown_html,
    table,
    use_workspace,
)
from tests.factories.tiny_workspace import tiny_workspace
from tests.factories.traces import Episode, episode_record, sample_run, write_run

HOSTILE = "<script>alert(1)</script> **fett** [x](javascript:alert(1)) $x$ :red[rot] \ud83d"
RUNS = ("run-a", "run-b", "run-c")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs over 20 tasks; the third has two samples of the first tasks and no record of the last."""
    home = tmp_path_factory.mktemp("failures")
    sample_run(home / "runs" / "run-a", success=0.3, seed=3)
    sample_run(home / "runs" / "run-b", success=0.6, seed=4)
    twice = [episode_record(task, sample) for task in (0, 10) for sample in (0, 1)]
    twice[1] = episode_record(0, 1, outcome="wrong_option")
    rest = [episode_record(task, outcome="missing_attribute") for task in range(20, 190, 10)]
    write_run(home / "runs" / "run-c", [*twice, *rest], pending=1)
    return home


@pytest.fixture
def workspace(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    use_workspace(monkeypatch, home)
    return home


def records(home: Path, *run_ids: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        (run_id, record)
        for run_id in run_ids or RUNS
        for record in read_records(home / "runs" / run_id / "traces.jsonl").latest()
    ]


def is_success(record: dict[str, Any]) -> bool:
    done = record["status"] == "completed" and record["final"]["done"]
    return bool(done) and record["final"]["reward_detail"]["r_success"] == 1.0


def expected_tasks(home: Path, *run_ids: str) -> dict[int, tuple[int, int, int]]:
    """``task -> (runs without a success, runs, episodes)``."""
    by_task: dict[int, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for run_id, record in records(home, *run_ids):
        by_task[record["job"]["task_id"]][run_id].append(is_success(record))
    return {
        task: (sum(not any(hits) for hits in runs.values()), len(runs), sum(map(len, runs.values())))
        for task, runs in by_task.items()
    }


def tasks_of(app: AppTest) -> set[int]:
    found = [element.value for element in app.dataframe if element.key == "tasks_table"]
    return set(found[0]["task_id"]) if found else set()


def pills(app: AppTest) -> dict[str, int]:
    """The counts on the buttons above the table."""
    options = next(group for group in app.button_group if group.key == "tasks").options
    return {label.rpartition(" (")[0]: int(label.rpartition("(")[2][:-1]) for label in options}


def test_every_task_is_counted(workspace: Path) -> None:
    app = open_page("failures", tasks="all")
    shown = table(app, "tasks_table").set_index("task_id")
    expected = expected_tasks(workspace)
    assert {task: tuple(row) for task, row in shown[["failed", "runs", "episodes"]].iterrows()} == expected
    assert list(shown["failed"]) == sorted(shown["failed"], reverse=True)
    assert pills(app) == {
        "Failed by any run": sum(failed > 0 for failed, _, _ in expected.values()),
        "Failed by every run": sum(failed == runs for failed, runs, _ in expected.values()),
        "Failed by some, solved by others": sum(0 < failed < runs for failed, runs, _ in expected.values()),
        "Solved by every run": sum(failed == 0 for failed, _, _ in expected.values()),
        "All tasks": len(expected),
    }


def test_cells_tell_success_and_strict_reward(workspace: Path) -> None:
    shown = table(open_page("failures", tasks="all"), "tasks_table").set_index("task_id")
    for run_id, record in records(workspace, "run-a", "run-b"):
        cell = shown.at[record["job"]["task_id"], run_id]
        if is_success(record):
            assert cell == "✓"
        elif record["status"] == "failed":
            assert cell == "! failed"
        else:
            assert cell == f"✗ {record['final']['reward_detail']['r_strict']:.3f}"
    assert shown.at[0, "run-c"] == "1 of 2, 0.750" and shown.at[10, "run-c"] == "2 of 2, 1.000"
    assert shown.at[190, "run-c"] is None or shown.at[190, "run-c"] != shown.at[190, "run-c"]


@pytest.mark.parametrize(
    ("query", "keeps"),
    [
        (
            {"reason": "action_limit"},
            lambda r: r["final"] and r["final"]["termination_reason"] == "action_limit",
        ),
        ({"reason": "failed"}, lambda r: r["status"] == "failed"),
        ({"component": "r_option"}, lambda r: r["final"] and r["final"]["reward_detail"]["r_option"] < 1),
        (
            {"component": "r_att", "reason": "purchase"},
            lambda r: (
                r["final"]
                and r["final"]["termination_reason"] == "purchase"
                and r["final"]["reward_detail"]["r_att"] < 1
            ),
        ),
        ({"q": "找不到的东西"}, lambda r: any("找不到的东西" in (s["action"] or "") for s in r["steps"])),
        ({"q": "60"}, lambda r: r["job"]["task_id"] == 60),
        ({"q": "no such words"}, lambda r: False),
    ],
)
def test_filters_keep_tasks_with_a_matching_episode(
    workspace: Path, query: dict[str, str], keeps: Any
) -> None:
    app = open_page("failures", tasks="all", **query)
    expected = {record["job"]["task_id"] for _, record in records(workspace) if keeps(record)}
    assert tasks_of(app) == expected
    if not expected:
        assert [note.value.startswith("No task matches") for note in app.info] == [True]


def test_text_is_found_in_instruction_and_goal(workspace: Path) -> None:
    goals = {r["job"]["task_id"]: r["final"]["goal"] for _, r in records(workspace) if r["final"]}
    word = goals[30]["name"].split()[2]
    expected = {task for task, goal in goals.items() if word in goal["name"] + goal["instruction_text"]}
    found = tasks_of(open_page("failures", tasks="all", q=word))
    assert 30 in found and found == expected
    assert tasks_of(open_page("failures", tasks="all", q=f"{word.upper()} {goals[30]['asin']}")) == {30}


def test_a_domain_keeps_failed_episodes_of_its_tasks_too(workspace: Path) -> None:
    domains = {
        r["job"]["task_id"]: r["final"]["goal"]["category"].split("›")[0]
        for _, r in records(workspace)
        if r["final"]
    }
    domain = domains[0]
    expected = {task for task, name in domains.items() if name == domain}
    assert tasks_of(open_page("failures", tasks="all", domain=domain)) == expected


def test_a_number_finds_its_task_even_when_every_run_solved_it(workspace: Path) -> None:
    solved = next(task for task, (failed, _, _) in expected_tasks(workspace).items() if failed == 0)
    app = open_page("failures", q=str(solved))
    assert tasks_of(app) == {solved} and app.subheader[0].value == f"Task {solved}"


def test_only_the_chosen_runs_count(workspace: Path) -> None:
    shown = table(open_page("failures", tasks="all", runs=["run-b"]), "tasks_table").set_index("task_id")
    expected = expected_tasks(workspace, "run-b")
    assert {task: tuple(row) for task, row in shown[["failed", "runs", "episodes"]].iterrows()} == expected
    assert "run-a" not in shown.columns


def test_all_runs_of_one_task_beside_each_other(workspace: Path) -> None:
    app = open_page("failures", task="0")
    assert app.subheader[0].value == "Task 0"
    of_task = [(run, record) for run, record in records(workspace) if record["job"]["task_id"] == 0]
    replays = [query for page, query in links(app) if page == "replay"]
    assert replays == [{"run": [run], "episode": [r["episode_id"]]} for run, r in of_task]
    body = next(html for html in shown_html(app) if "<table" in html)
    assert body.count('scope="col"') == len(of_task) == 4
    for heading in ("run-a", "run-b", "run-c, sample 0", "run-c, sample 1"):
        assert f"</span> {heading}</th>" in body
    assert "No success, strict reward 0.500" in body
    assert "Option: 月光白" in body and "颜色分类 = 曜石黑" in body
    assert body.count("59 (constant_option_price)") == sum(bool(r["final"]["purchase"]) for _, r in of_task)


def test_queries_tell_where_the_wanted_product_stood(workspace: Path) -> None:
    app = open_page("failures", task="20", runs=["run-c"])
    body = next(html for html in shown_html(app) if "<table" in html)
    ((_, record),) = [pair for pair in records(workspace, "run-c") if pair[1]["job"]["task_id"] == 20]
    query = record["final"]["goal"]["name"][:12].strip()
    state = record["steps"][0]["environment"]["observation_state"]
    rank = next(p["rank"] for p in state["products"] if p["asin"] == record["final"]["goal"]["asin"])
    assert f"1. {query}" in body
    assert f"({state['total_results']} results, wanted product at {rank})" in body


def test_a_task_that_no_chosen_run_has_is_named(workspace: Path) -> None:
    app = open_page("failures", task="777")
    assert any("Task “777”: none of the chosen runs" in note.value for note in app.warning)
    assert app.subheader[0].value == f"Task {next(iter(table(app, 'tasks_table')['task_id']))}"


def test_a_filter_changed_on_the_page_drops_a_task_that_it_leaves_out(workspace: Path) -> None:
    app = open_page("failures", task="0", tasks="all")
    next(field for field in app.text_input if field.key == "q").set_value("60")
    no_exception(app.run())
    assert app.subheader[0].value == "Task 60"


def test_a_link_may_name_a_task_that_its_filters_leave_out(workspace: Path) -> None:
    assert open_page("failures", task="0", q="60").subheader[0].value == "Task 0"


def test_the_sandbox_is_offered_only_on_the_runs_own_catalogue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_workspace(monkeypatch, tmp_path)
    write_run(tmp_path / "runs" / "other", [episode_record(0)])
    assert "sandbox" not in [page for page, _ in links(open_page("failures", tasks="all"))]


def test_what_was_recorded_is_shown_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_workspace(monkeypatch, tmp_path)
    record = Episode(0).search(HOSTILE).open(0).buy(r_att=0.5).record()
    record["final"]["goal"] |= {"name": HOSTILE, "attributes": [HOSTILE], "instruction_text": HOSTILE}
    record["final"]["purchase"]["name"] = HOSTILE
    record["reset"]["task_instruction"] = HOSTILE
    failed = Episode(10).search(HOSTILE).fail().record()
    failed["error"]["message"] = HOSTILE
    write_run(tmp_path / "runs" / "hostile", [], manifest=False)
    trace = tmp_path / "runs" / "hostile" / "traces.jsonl"
    trace.write_bytes(encode_record(record) + encode_record(failed))
    for task in ("0", "10"):
        app = open_page("failures", task=task)
        assert "alert(1)" in sent_text(app)
        assert not any("<script" in body for body in shown_html(app))
        for element in (*app.markdown, *app.caption):
            assert "**fett**" not in element.value


def test_different_goals_under_one_id_are_pointed_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_workspace(monkeypatch, tmp_path)
    other = episode_record(0)
    other["final"]["goal"]["asin"] = "699999999999"
    write_run(tmp_path / "runs" / "one", [episode_record(0)])
    write_run(tmp_path / "runs" / "two", [other])
    app = open_page("failures", task="0", tasks="all")
    assert any("different products under this task id" in note.value for note in app.warning)


def test_many_samples_are_cut_with_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_workspace(monkeypatch, tmp_path)
    write_run(tmp_path / "runs" / "many", [episode_record(0, sample) for sample in range(15)])
    app = open_page("failures", task="0", tasks="all")
    assert len([page for page, _ in links(app) if page == "replay"]) == 12
    assert any("The first 12 of 15 episodes" in caption.value for caption in app.caption)


def test_no_episode_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_workspace(monkeypatch, tmp_path)
    write_run(tmp_path / "runs" / "waiting", [], pending=3)
    app = open_page("failures")
    assert len(app.info) == 1 and "None of the chosen runs has an episode" in app.info[0].value


def test_the_sandbox_link_names_the_task_and_no_actions_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tiny_workspace(tmp_path)
    use_workspace(monkeypatch, tmp_path)
    with open_engine(settings) as engine:
        run(engine, RunRequest("own", agent_spec("random"), make_jobs([0, 7], split="test", seed=1), "test"))
    app = open_page("sandbox", task="0", act=["search[x]"])
    app.switch_page("pages/failures.py")
    app.query_params.clear()
    app.query_params |= {"task": "7", "tasks": "all"}
    assert ("sandbox", {"task": ["7"]}) in links(no_exception(app.run()))
