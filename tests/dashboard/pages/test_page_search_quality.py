"""The page Search quality, against FTS5 asked directly and the records read with plain Python."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from shopsim.engine import Engine
from shopsim.rollout.trace import read_records
from shopsim.tasks import solution_cache
from shopsim.tasks.solutions import solver_for
from tests.factories.search_pages import markup_of, open_page, table, tiny_engine, use_workspace
from tests.factories.traces import Episode, write_run

HOSTILE = "<img src=x onerror=alert(1)> [x](javascript:alert(1)) **粗** $x$ :smile:"
RUNS = ["run-oracle", "run-random", "run-shopper"]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Engine]:
    folder = tmp_path_factory.mktemp("quality") / "workspace"
    engine = tiny_engine(folder, "oracle", "random", "shopper-iter40")
    (folder / "runs" / "run-shopper-iter40").rename(folder / "runs" / "run-shopper")
    return folder, engine


@pytest.fixture
def pages(workspace: tuple[Path, Engine], monkeypatch: pytest.MonkeyPatch) -> Engine:
    use_workspace(workspace[0], monkeypatch)
    return workspace[1]


def typed(engine: Engine, run: str) -> dict[int, list[str]]:
    """The executed searches of each task's episode, read from the records."""
    found: dict[int, list[str]] = {}
    for record in read_records(engine.settings.runs_root / run / "traces.jsonl").latest():
        texts = []
        for step in record["steps"]:
            feedback = (step.get("environment") or {}).get("action_feedback") or {}
            if feedback.get("valid") and feedback["action"].startswith("search["):
                texts.append(feedback["action"][7:-1])
        found[record["job"]["task_id"]] = texts
    return found


def rank(engine: Engine, text: str, asin: str) -> int:
    results = engine.search.search(text)
    return results.index(asin) + 1 if asin in results else 0


def expected(engine: Engine, run: str, pick: str) -> list[int]:
    ranks = []
    for task, texts in typed(engine, run).items():
        own = [rank(engine, text, engine.goals.get(task).asin) for text in texts]
        if pick == "first":
            ranks += own[:1]
        elif pick == "every":
            ranks += own
        elif own:
            ranks.append(min(own, key=lambda place: place or 999))
    return ranks


def check(row: Any, ranks: list[int]) -> None:
    assert row["n"] == len(ranks)
    for k in (1, 20, 150):
        share = sum(0 < place <= k for place in ranks) / len(ranks)
        assert row[f"recall_{k}"].startswith(f"{100 * share:.1f}%")
    mrr = sum(1 / place if place else 0 for place in ranks) / len(ranks)
    assert row["mrr"].startswith(f"{mrr:.3f}")


@pytest.mark.parametrize("pick", ["first", "every", "best"])
def test_every_figure_is_that_of_fts5(pages: Engine, pick: str) -> None:
    app = open_page("search_quality", {"pick": pick})
    assert not app.exception
    shown = table(app, "recall_1").set_index("name")
    for kind in ("simple", "full"):
        ranks = []
        for task in pages.splits.ids("test"):
            goal = pages.goals.get(task)
            text = goal.instruction_simple if kind == "simple" else goal.instruction_text
            if text:
                ranks.append(rank(pages, text, goal.asin))
        check(shown.loc[f"Oracle query: {kind} instruction"], ranks)
    for run in RUNS:
        check(shown.loc[run], expected(pages, run, pick))
    assert set(shown["ranks"]) == {"exact scorer"}
    assert "A proxy" in markup_of(app)


def test_any_satisfying_product_counts_when_asked_for(pages: Engine) -> None:
    app = open_page("search_quality", {"relevance": "any"})
    shown = table(app, "recall_1").set_index("name")
    # Tasks 4 and 6 of the test split cannot be satisfied.
    assert shown.loc["Oracle query: full instruction", "n"] == 3
    assert "left out: no product satisfies the task" in markup_of(app)
    solver = solver_for(pages.corpus, pages.terms)
    ranks = []
    for goal in map(pages.goals.get, pages.splits.ids("test")):
        asins = {solution.asin for solution in solver.solve(goal)}
        if asins:
            found = [rank(pages, goal.instruction_text, asin) for asin in asins]
            ranks.append(min((place for place in found if place), default=0))
    check(shown.loc["Oracle query: full instruction"], ranks)


def test_satisfying_products_are_solved_once_and_shared_with_the_diagnosis(
    pages: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_page("diagnosis")  # solves the tasks of all episodes, those of the test split

    def refuse(*_: object) -> object:
        raise AssertionError("solved again")

    st.cache_resource.clear()  # as in another process: what is remembered lies on disk
    st.cache_data.clear()
    monkeypatch.setattr(solution_cache, "solver_for", refuse)
    app = open_page("search_quality", {"relevance": "any"})
    assert not app.exception
    assert table(app, "recall_1").set_index("name").loc["Oracle query: full instruction", "n"] == 3


def test_filters_narrow_all_query_sets(pages: Engine) -> None:
    app = open_page("search_quality", {"domain": pages.goals.get(0).domain})
    shown = table(app, "recall_1").set_index("name")
    tasks = [t for t in pages.splits.ids("test") if pages.goals.get(t).domain == pages.goals.get(0).domain]
    assert shown.loc["Oracle query: full instruction", "n"] == len(tasks) < 5
    assert app.query_params["domain"] == pages.goals.get(0).domain
    assert "domain" not in open_page("search_quality", {"domain": "no such domain"}).query_params


def test_misses_link_to_task_replay_and_explanation(pages: Engine) -> None:
    app = open_page("search_quality", {"queries": "run-random", "miss": "1", "pick": "every"})
    shown = table(app, "explain")
    ranks = expected(pages, "run-random", "every")
    assert len(shown) == sum(place != 1 for place in ranks) > 0
    for row in shown.to_dict("records"):
        goal = pages.goals.get(row["task_id"])
        query = parse_qs(urlsplit(row["explain"]).query)
        assert query == {"task": [str(goal.task_id)], "query": [row["query"]], "product": [goal.asin]}
        assert row["runs"] == f"failures?task={row['task_id']}"
        assert row["replay"].startswith("replay?run=run-random&episode=task-")
        place = rank(pages, row["query"], goal.asin)
        assert (row["rank"] or 0) == place
        assert row["reasons"]
    reason = table(app, "missed_share")["reason"][0]
    narrowed = open_page(
        "search_quality", {"queries": "run-random", "miss": "1", "pick": "every", "why": reason}
    )
    assert all(reason in text for text in table(narrowed, "explain")["reasons"])


def test_the_view_is_in_the_address_and_survives_leaving_the_page(pages: Engine) -> None:
    app = open_page("search_quality")
    app.selectbox(key="pick").set_value("best").run()
    app.selectbox(key="miss").set_value(20).run()
    assert (app.query_params["pick"], app.query_params["miss"]) == ("best", "20")
    app.switch_page("pages/overview.py").run()
    app.switch_page("pages/search_quality.py").run()
    assert app.selectbox(key="pick").value == "best" and app.selectbox(key="miss").value == 20


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An unprepared workspace with one run of an unknown catalogue and hostile queries."""
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "shopsim.toml").write_text("", encoding="utf-8")
    records = [
        Episode(1).search(HOSTILE).open(1).buy().record(),
        Episode(2).search("别的", list(range(100, 130))).end("action_limit").record(),
        Episode(3).invalid().end("action_limit").record(),
    ]
    write_run(tmp_path / "runs" / "foreign", records)
    use_workspace(tmp_path, monkeypatch)
    return tmp_path


def test_without_a_catalogue_the_traces_still_tell(foreign: Path) -> None:
    app = open_page("search_quality", {"queries": "foreign", "miss": "20"})
    assert not app.exception and not app.error
    assert "shopsim prepare" in app.warning[0].value
    row = table(app, "recall_1").set_index("name").loc["foreign"]
    assert (row["n"], row["ranks"]) == (2, "trace")
    assert row["recall_1"].startswith("0.0%") and row["recall_20"].startswith("50.0%")
    assert row["recall_150"] == "≥ 50.0%" and row["mrr"] == "≥ 0.167"
    assert "1 episode searched for nothing" in markup_of(app)
    missed = table(app, "reasons")
    assert missed["query"].tolist() == ["别的"]
    assert missed["reasons"].tolist() == ["not seen on the result pages of the trace"]


def test_recorded_text_is_never_markup(foreign: Path) -> None:
    app = open_page("search_quality", {"queries": "foreign", "miss": "1"})
    assert HOSTILE in table(app, "reasons")["query"].tolist()
    text = markup_of(app)
    assert "<img" not in text and "](javascript" not in text


def test_without_any_run_the_oracle_queries_are_shown(
    workspace: tuple[Path, Engine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(workspace[0], tmp_path / "w", ignore=shutil.ignore_patterns("runs", ".shopsim"))
    use_workspace(tmp_path / "w", monkeypatch)
    app = open_page("search_quality")
    assert not app.exception
    assert len(table(app, "recall_1")) == 2


def test_an_empty_workspace_says_what_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "shopsim.toml").write_text("", encoding="utf-8")
    use_workspace(tmp_path, monkeypatch)
    app = open_page("search_quality")
    told = [note.value for note in app.info]
    assert len(told) == 1 and "Widen" not in told[0]
    assert "`shopsim prepare`" in told[0] and "`shopsim demo`" in told[0]
    assert any("Run `shopsim prepare`" in note.value for note in app.warning)  # as code, not escaped


def test_an_empty_split_is_one_line(pages: Engine) -> None:
    app = open_page("search_quality", {"split": "val"})
    assert not app.exception and not app.error
    assert "split 'val': has no simple query" in markup_of(app).replace("\\", "")


def test_a_run_searched_with_other_weights_is_told(
    workspace: tuple[Path, Engine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "w"
    shutil.copytree(workspace[0], folder, ignore=shutil.ignore_patterns(".shopsim"))
    traces = folder / "runs" / "run-oracle" / "traces.jsonl"
    records = [json.loads(line) for line in traces.read_text(encoding="utf-8").splitlines()]
    moved = 0
    for record in records:
        asin = record["final"]["goal"]["asin"]
        for step in record["steps"]:
            for product in step["environment"]["observation_state"].get("products") or ():
                if product["asin"] == asin:
                    product["rank"] += 5
                    moved += 1
    traces.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    use_workspace(folder, monkeypatch)
    app: AppTest = open_page("search_quality")
    assert moved
    notes = [element.value for element in app.warning]
    assert len(notes) == 1 and "run\\-oracle" in notes[0] and "another rank" in notes[0]
