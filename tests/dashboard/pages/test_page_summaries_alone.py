"""What pages say when some or all of the chosen runs have a summary only."""

from __future__ import annotations

import pytest

from tests.factories.review_pages import ReviewApp, review_workspace


@pytest.fixture(scope="module")
def review(tmp_path_factory: pytest.TempPathFactory) -> ReviewApp:
    return review_workspace(tmp_path_factory.mktemp("summaries"))


def captions(app: object) -> str:
    return " ".join(text.value.replace("\\", "") for text in app.caption)  # type: ignore[attr-defined]


def test_terminations_count_the_runs_that_they_cover(review: ReviewApp) -> None:
    told = captions(review.open("terminations", runs=["demo-iter00", "demo-iter80", "summary-alone"]))
    assert "2 chosen runs with episodes (1 more with a summary only) taken together." in told
    assert "Click a segment of a run with episodes" in told
    told = captions(review.open("terminations", runs=["demo-iter00", "demo-iter80"]))
    assert "2 chosen runs with episodes taken together." in told


def test_terminations_of_summaries_offer_nothing_to_click(review: ReviewApp) -> None:
    app = review.open("terminations", runs=["summary-alone"])
    assert "Click" not in captions(app)
    assert any("summaries only" in box.value for box in app.info)


def test_rewards_of_a_summary_show_its_means(review: ReviewApp) -> None:
    table = review.open("rewards", runs=["demo-iter80", "summary-alone"]).dataframe[0].value
    both = table.pivot(index="slice", columns="run", values="mean")
    assert len(both) == 7
    for _, row in both.iterrows():
        assert row["summary-alone"] == pytest.approx(row["demo-iter80"])
    assert "summary-alone: only means are recorded" in captions(review.open("rewards", runs="summary-alone"))
