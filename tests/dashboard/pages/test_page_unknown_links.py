"""What a link asks for and is not there: every page says what was not found and what it shows instead."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.factories.review_pages import ReviewApp, assert_no_recorded_markup, review_workspace

NOPE = "nope <img src=x> **bold** :smile:"
CASES = [
    ("overview", "runs", "All 5 runs"),
    ("overview", "run", ""),
    ("overview", "figure", "Success"),
    ("compare", "baseline", ""),
    ("compare", "against", ""),
    ("rewards", "runs", "All 5 runs"),
    ("rewards", "metric", ""),
    ("rewards", "by", ""),
    ("terminations", "runs", "All 5 runs"),
    ("terminations", "reason", "All reasons"),
    ("terminations", "error", "All"),
    ("terminations", "from", "0"),
    ("options", "runs", "All 4 runs"),
    ("options", "what", "Options"),
    ("options", "group", "All"),
    ("options", "outcome", "All"),
    ("behaviour", "measure", ""),
    ("behaviour", "pattern", ""),
    ("audit", "severity", "Any severity"),
    ("audit", "about", "Everything"),
    ("audit", "rule", "All rules"),
    ("audit", "finding", "the first finding"),
    ("diagnosis", "runs", "All 4 runs"),
    ("diagnosis", "stage", ""),
    ("diagnosis", "in_run", "all runs"),
    ("diagnosis", "link", "none"),
    ("failures", "task", ""),
    ("failures", "domain", "All"),
    ("failures", "component", "All"),
    ("failures", "reason", "All"),
    ("failures", "tasks", ""),
    ("replay", "run", ""),
    ("replay", "episode", ""),
    ("replay", "step", "step 1"),
    ("replay", "kept", ""),
    ("triage", "runs", "All 4 runs"),
    ("triage", "episode", "the queue"),
    ("triage", "view", "Review"),
    ("triage", "status", ""),
    ("triage", "stage", "All"),
    ("search_text", "kinds", "Every kind of text"),
    ("search_text", "outcome", "All episodes"),
]


@pytest.fixture(scope="module")
def review(tmp_path_factory: pytest.TempPathFactory) -> ReviewApp:
    return review_workspace(tmp_path_factory.mktemp("links"))


def notes(app: AppTest) -> list[str]:
    return [
        note.value.replace("\\", "").replace("\u200b", "")
        for note in app.warning
        if "Shown instead:" in note.value
    ]


@pytest.mark.parametrize(("page", "key", "shown"), CASES, ids=[f"{page}-{key}" for page, key, _ in CASES])
def test_what_is_not_there_is_said(review: ReviewApp, page: str, key: str, shown: str) -> None:
    app = review.open(page, **{key: NOPE})
    assert len(notes(app)) == 1, notes(app)
    if page != "audit" or key != "finding":
        assert "nope &lt;img src=x&gt;" in notes(app)[0]
    assert notes(app)[0].endswith(f"Shown instead: {shown}." if shown else ".")
    assert_no_recorded_markup(app)
    app = review.act(app, lambda opened: None)
    assert not notes(app)  # said on arrival, not again


def test_a_known_one_among_unknown_ones_is_shown(review: ReviewApp) -> None:
    app = review.open("options", runs=["demo-iter00", "nope", "summary-alone"])
    (note,) = notes(app)
    assert note == (
        "There is no run “nope” here; “summary-alone” has a summary only, without the episodes that this "
        "page needs. Shown instead: demo-iter00."
    )
    assert app.query_params["runs"] in ("demo-iter00", ["demo-iter00"])


def test_a_number_out_of_bounds_is_the_nearest_and_said(review: ReviewApp) -> None:
    app = review.open("terminations", to="99999")
    (note,) = notes(app)
    assert "to is a whole number from 0 to " in note and "not “99999”" in note


def test_a_task_without_an_episode(review: ReviewApp) -> None:
    app = review.open("failures", task="999999")
    (note,) = notes(app)
    assert note.startswith("Task “999999”: none of the chosen runs has an episode of it. Shown instead: ")
    assert app.selectbox(key="task").value != 999999


def test_good_links_and_own_filters_say_nothing(review: ReviewApp) -> None:
    app = review.open("terminations", runs=["demo-iter00"], reason="action_limit")
    assert not notes(app)
    app = review.act(app, lambda opened: opened.multiselect(key="runs").set_value(["summary-alone"]))
    assert not notes(app)
