"""The terminations page against plain Python over the records."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from statsmodels.stats.proportion import proportion_confint

from dashboard.ui import components
from shopsim.rollout.trace import is_complete
from tests.factories.review_pages import (
    ReviewApp,
    assert_no_recorded_markup,
    figure_of,
    latest,
    markup,
    review_workspace,
)

TRACED = ["demo-iter00", "demo-iter80"]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("terminations")


@pytest.fixture(scope="module")
def review(workspace: Path) -> ReviewApp:
    return review_workspace(workspace)


def reason(record: dict[str, Any]) -> str:
    return str(record["final"]["termination_reason"]) if is_complete(record) else "failed"


def records(workspace: Path, *runs: str) -> list[tuple[str, dict[str, Any]]]:
    return [(run, record) for run in runs for record in latest(workspace / "runs" / run)]


def test_reasons_by_run(workspace: Path, review: ReviewApp) -> None:
    app = review.open("terminations", runs=TRACED)
    expected = Counter((run, reason(record)) for run, record in records(workspace, *TRACED))
    table = app.dataframe[0].value.set_index(["run", "reason"])
    assert {key: int(n) for key, n in table["n"].items()} == dict(expected)
    for (run, _), row in table.iterrows():
        total = sum(n for (name, _), n in expected.items() if name == run)
        assert row["total"] == total and row["share"] == pytest.approx(100 * row["n"] / total)
        low, high = proportion_confint(row["n"], total, method="wilson")
        assert row["ci"] == f"{100 * low:.1f} – {100 * high:.1f}"
    figure = figure_of(app, "Share of termination")
    for trace in figure["data"]:
        for (run, name, n), share in zip(trace["customdata"], trace["x"], strict=True):
            assert n == expected[run, name]
            assert share == pytest.approx(table["share"].get((run, name), 0.0))


def test_steps_until_the_end(workspace: Path, review: ReviewApp) -> None:
    figure = figure_of(review.open("terminations", runs=TRACED), "Episodes by the number")
    shown = Counter()
    for trace in figure["data"]:
        for (name, step), n in zip(trace["customdata"], trace["y"], strict=True):
            shown[name, step] += n
    expected = Counter((reason(r), len(r["steps"])) for _, r in records(workspace, *TRACED))
    assert shown == expected


def test_errors_of_failed_episodes(workspace: Path, review: ReviewApp) -> None:
    table = review.open("terminations", runs=TRACED).dataframe[1].value
    failed = [r for _, r in records(workspace, *TRACED) if not is_complete(r)]
    assert failed, "the sample must hold failures"
    expected = Counter((r["error"]["stage"], r["error"]["type"]) for r in failed)
    assert {(row.error_stage, row.error_type): row.n for row in table.itertuples()} == dict(expected)
    assert table["example"].tolist() == ["TimeoutError while waiting"]


@pytest.mark.parametrize("name", ["purchase", "action_limit", "generation_length", "failed"])
def test_the_episodes_behind_a_reason(workspace: Path, review: ReviewApp, name: str) -> None:
    app = review.open("terminations", runs=TRACED, reason=name)
    expected = {(run, r["job"]["task_id"]) for run, r in records(workspace, *TRACED) if reason(r) == name}
    assert expected, "the sample must hold this reason"
    table = app.dataframe[-1].value
    assert set(zip(table["run_id"], table["task_id"], strict=True)) == expected
    assert f"{len(expected)} episode" in markup(app)
    for link, run, task in zip(table["replay"], table["run_id"], table["task_id"], strict=True):
        assert link == f"replay?run={run}&episode=task-{task:06d}__sample-000"


def test_the_episodes_behind_a_step_count_and_an_error(workspace: Path, review: ReviewApp) -> None:
    steps = max(len(r["steps"]) for _, r in records(workspace, *TRACED))
    table = (
        review.open("terminations", runs=TRACED, **{"from": str(steps), "to": str(steps)}).dataframe[-1].value
    )
    expected = [r for _, r in records(workspace, *TRACED) if len(r["steps"]) == steps]
    assert len(table) == len(expected) and set(table["steps"]) == {steps}
    table = review.open("terminations", runs=TRACED, error="TimeoutError").dataframe[-1].value
    assert len(table) == sum(not is_complete(r) for _, r in records(workspace, *TRACED))


def test_a_range_without_episodes_says_so(review: ReviewApp) -> None:
    app = review.open("terminations", runs=TRACED, reason="purchase", to="1")
    assert any("No episode matches" in box.value for box in app.info)


def test_a_summary_alone_shows_its_reasons(workspace: Path, review: ReviewApp) -> None:
    app = review.open("terminations", runs=["summary-alone"])
    table = app.dataframe[0].value.set_index("reason")["n"]
    expected = Counter(reason(r) for _, r in records(workspace, "demo-iter80"))
    assert {name: int(n) for name, n in table.items()} == dict(expected)
    assert any("summaries only" in box.value for box in app.info)


def test_the_address_follows_the_filters(review: ReviewApp) -> None:
    app = review.open("terminations", runs=TRACED)
    review.act(app, lambda page: page.selectbox(key="reason").set_value("failed"))
    assert app.query_params == {"runs": TRACED, "reason": "failed"}
    review.act(app, lambda page: page.number_input(key="from").set_value(1))
    assert app.query_params["from"] == "1"


def test_recorded_markup_stays_text(review: ReviewApp) -> None:
    app = review.open("terminations")
    assert_no_recorded_markup(app)
    assert any("<img" in str(value) for value in app.dataframe[1].value["error_type"])


def test_a_broken_run_alone_and_an_empty_workspace_say_so(review: ReviewApp, tmp_path: Path) -> None:
    assert any("episode yet" in box.value for box in review.open("terminations", runs=["broken"]).info)
    assert "shopsim demo" in ReviewApp(tmp_path).open("terminations").info[0].value


def test_a_long_list_goes_on_by_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace, review = tmp_path, review_workspace(tmp_path)
    monkeypatch.setattr(components, "MOST_EPISODES", 10)
    everything = len(records(workspace, *TRACED))
    app = review.open("terminations", runs=TRACED)
    seen: list[int] = []
    for page in range(1, -(-everything // 10) + 1):
        table = app.dataframe[-1].value
        seen += table["task_id"].tolist()
        assert len(table) == min(10, everything - 10 * (page - 1))
        assert any(f"Page {page} of" in caption.value for caption in app.caption)
        assert app.query_params.get("episodes_page") == (str(page) if page > 1 else None)
        after = next(button for button in app.button if button.label == "Next page")
        if page * 10 < everything:
            app = review.act(app, lambda opened, after=after: after.click())
    assert after.disabled and len(seen) == everything
    app = review.act(app, lambda opened: opened.selectbox(key="reason").set_value("purchase"))
    assert "episodes_page" not in app.query_params  # another list begins at its first page
    app = review.open("terminations", runs=TRACED, episodes_page="99")
    assert any("There is no page “99”" in note.value for note in app.warning)
