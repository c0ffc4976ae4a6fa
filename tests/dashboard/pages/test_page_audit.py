"""The audit page over good, bad and hostile runs."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from tests.factories.bad_rounds import BAD_ROUNDS, small_round
from tests.factories.episodes import episode_id
from tests.factories.review_pages import (
    HOSTILE,
    ReviewApp,
    assert_no_recorded_markup,
    markup,
    review_workspace,
)
from tests.factories.traces import episode_record, write_run


@pytest.fixture(scope="module")
def review(tmp_path_factory: pytest.TempPathFactory) -> ReviewApp:
    workspace = tmp_path_factory.mktemp("audit")
    review = review_workspace(workspace)
    records = [episode_record(10 * k) for k in range(3)]
    records[1]["final"]["reward"] = 0.25
    write_run(workspace / "runs" / "wrong-reward", records)
    return review


def table(app: AppTest, key: str) -> pd.DataFrame:
    columns = {"findings": "what", "checked": "coverage", "places": "detail"}
    return next(element.value for element in app.dataframe if columns[key] in element.value.columns)


def test_findings_are_listed_with_counts(review: ReviewApp) -> None:
    app = review.open("audit")
    rows = table(app, "findings")
    values = {metric.label: int(metric.value) for metric in app.metric}
    counted = rows["severity"].value_counts()
    for label, severity in (("Errors", "error"), ("Warnings", "warning"), ("Info", "info")):
        assert values[label] == counted.get(severity, 0)
    assert values["Checked"] == len(table(app, "checked"))
    found = set(zip(rows["run"], rows["title"], strict=True))
    assert ("wrong-reward", "Reward is not r_strict") in found
    assert ("broken", "Manifest broken") in found and ("broken", "Invalid lines") in found
    assert ("summary-alone", "No traces") in found
    assert list(rows["severity"]) == sorted(rows["severity"], key=["error", "warning", "info"].index)


def test_the_kind_of_each_run_is_read_beside_its_name(review: ReviewApp) -> None:
    checked = table(review.open("audit"), "checked")
    assert list(checked)[:2] == ["run", "kind"]
    kinds = dict(zip(checked["run"], checked["kind"], strict=True))
    assert kinds["summary-alone"] == "summary only" and kinds["demo-iter00"] == "evaluation"


def test_a_finding_leads_to_its_episodes(review: ReviewApp) -> None:
    app = review.open("audit", finding="reward_is_not_strict|wrong-reward")
    places = table(app, "places")
    query = parse_qs(urlparse(places["link"].iloc[0]).query)
    assert query == {"run": ["wrong-reward"], "episode": [episode_id(10)]}
    assert places["detail"].tolist() == ["reward 0.25, r_strict 1"]
    trace = (Path(review.variables["SHOPSIM_ROOTS"]) / "wrong-reward" / "traces.jsonl").read_bytes()
    record = json.loads(trace[int(places["offset"].iloc[0]) :].split(b"\n")[0])
    assert record["episode_id"] == episode_id(10)
    assert "Mend" in markup(app) and "shopsim\\-review verify" in markup(app)


def test_filters_are_in_the_address(review: ReviewApp) -> None:
    app = review.open("audit", severity=["error"], about=["wrong-reward"])
    assert table(app, "findings")["title"].tolist() == ["Reward is not r_strict"]
    app = review.open("audit", rule="lines_invalid")
    assert table(app, "findings")["run"].tolist() == ["broken"]
    app = review.open("audit", severity=["info"], rule="lines_invalid")
    assert "No finding passes" in app.info[0].value
    app = review.open("audit", finding="<b>gone</b>", rule="<b>", severity=["x"])
    assert len(table(app, "findings")) > 3


def test_counts_of_every_trace_are_shown(review: ReviewApp) -> None:
    checked = table(review.open("audit"), "checked").set_index("run")
    hostile = checked.loc[HOSTILE.replace("/", "|")]
    assert (hostile["records"], hostile["unique_episodes"], hostile["duplicate_records"]) == (7, 6, 1)
    assert checked.loc["broken", "invalid_lines"] == 2 and pd.isna(checked.loc["summary-alone", "records"])
    assert checked.loc["demo-iter80", "requested"] == 27


def test_recorded_markup_stays_text(review: ReviewApp) -> None:
    name = HOSTILE.replace("/", "|")
    assert_no_recorded_markup(review.open("audit"))
    for rule in ("episodes_unscored", "episodes_failed", "records_superseded"):
        app = review.open("audit", about=[name], finding=f"{rule}|{name}")
        assert "img" in markup(app)
        assert_no_recorded_markup(app)


def test_a_clean_workspace_says_so(tmp_path: Path) -> None:
    write_run(tmp_path / "runs" / "good", [episode_record(0)])
    app = ReviewApp(tmp_path).open("audit")
    assert app.success[0].value == "Nothing was found." and len(app.dataframe) == 2


def test_an_empty_workspace_says_what_to_do(tmp_path: Path) -> None:
    app = ReviewApp(tmp_path).open("audit")
    assert "shopsim demo" in app.info[0].value and not app.dataframe


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> ReviewApp:
    """A workspace with training rounds alone: a bad one and one that has hostile text in it."""
    workspace = tmp_path_factory.mktemp("audit-rounds")
    folder = small_round(workspace / "runs" / "slime-training" / "round-000")
    for name in ("notes_disagree", "group_statistics_differ", "groups_missing"):
        BAD_ROUNDS[name](folder)
    (folder / "<img src=x onerror=alert(1)>").write_text("", encoding="utf-8")
    return ReviewApp(workspace)


def test_rounds_are_audited_beside_the_runs(trained: ReviewApp) -> None:
    app = trained.open("audit")
    rows = table(app, "findings")
    found = set(zip(rows["severity"], rows["run"], rows["title"], strict=True))
    assert ("error", "slime-training/round-000", "Triage differs from its rollouts") in found
    assert ("warning", "slime-training/round-000", "Groups missing") in found
    (checked,) = table(app, "checked").to_dict("records")
    assert (checked["run"], checked["groups"], checked["records"]) == ("slime-training/round-000", 5, 40)
    assert "No runs and no bundles" in app.info[-1].value


def test_a_finding_of_a_round_leads_to_its_group(trained: ReviewApp) -> None:
    app = trained.open("audit", finding="notes_disagree|slime-training/round-000")
    places = table(app, "places")
    assert set(places["file"]) == {"group-000000000/triage.json"}
    query = parse_qs(urlparse(places["link"].iloc[0]).query)
    assert query["training"] == ["slime-training"] and query["group"] == ["0-0"]
    assert any("Folder: " in caption.value for caption in app.caption)
    app = trained.open("training", **{name: value[0] for name, value in query.items()})
    assert "Group 0, round 0" in [element.value for element in app.subheader]
    assert_no_recorded_markup(trained.open("audit", finding="round_files_foreign|slime-training/round-000"))


def test_without_rounds_it_says_so(review: ReviewApp) -> None:
    assert any("No training rounds below the roots" in box.value for box in review.open("audit").info)
