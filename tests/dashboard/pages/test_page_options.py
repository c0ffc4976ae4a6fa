"""The option errors page against plain Python over the records, without and with the run's own catalogue."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from statsmodels.stats.proportion import proportion_confint

from dashboard.analysis.outcomes import ATTRIBUTE_OUTCOMES, OPTION_OUTCOMES, UNKNOWN_AXIS
from shopsim.formats import DATASET_SCHEMA
from shopsim.pipeline import layout
from tests.factories.episodes import Episode, provenance
from tests.factories.pages import asin
from tests.factories.review_pages import (
    ReviewApp,
    assert_no_recorded_markup,
    completed,
    figure_of,
    markup,
    review_workspace,
)
from tests.factories.traces import write_run

TRACED = ["demo-iter00", "demo-iter80"]
AXES = {"月光白": "颜色分类", "XL": "尺码"}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("options")


@pytest.fixture(scope="module")
def review(workspace: Path) -> ReviewApp:
    return review_workspace(workspace)


def wanted_options(workspace: Path) -> list[tuple[str, str, str, str, str | None]]:
    """(run, axis, wanted, outcome, chosen) of every wanted option, told from the records."""
    rows = []
    for run in TRACED:
        for record in completed(workspace / "runs" / run):
            purchase = record["final"]["purchase"]
            seen = any(
                "product" in (step["environment"] or {}).get("observation_state", {})
                for step in record["steps"]
            )
            for wanted in record["final"]["goal"]["goal_options"]:
                axis = AXES[wanted] if seen else UNKNOWN_AXIS
                chosen = purchase["options"].get(axis) if purchase else None
                outcome = (
                    "no purchase" if not purchase else "never chosen" if chosen is None else "wrong value"
                )
                if chosen is not None and chosen.casefold() == wanted.casefold():
                    outcome = "right"
                rows.append((run, axis, wanted, outcome, chosen))
    return rows


def test_outcomes_by_axis(workspace: Path, review: ReviewApp) -> None:
    app = review.open("options", runs=TRACED)
    rows = wanted_options(workspace)
    counts = Counter((axis, outcome) for _, axis, _, outcome, _ in rows)
    table = app.dataframe[0].value.set_index("group")
    assert set(table.index) == {axis for axis, _ in counts} and table.index[-1] == UNKNOWN_AXIS
    for axis in table.index:
        row, n = table.loc[axis], sum(count for (name, _), count in counts.items() if name == axis)
        assert row["n"] == n
        assert {name: row[name] for name in OPTION_OUTCOMES} == {
            name: counts[axis, name] for name in OPTION_OUTCOMES
        }
        assert row["right_share"] == pytest.approx(100 * counts[axis, "right"] / n)
        low, high = proportion_confint(counts[axis, "right"], n, method="wilson")
        assert row["right_ci"] == f"{100 * low:.1f} – {100 * high:.1f}"
    figure = figure_of(app, "Outcomes of wanted options")
    shown = {(axis, name): n for trace in figure["data"] for axis, name, n in trace["customdata"] if n}
    assert shown == dict(counts)


def test_right_by_run(workspace: Path, review: ReviewApp) -> None:
    figure = figure_of(review.open("options", runs=TRACED), "Share of right options")
    rows = [row for row in wanted_options(workspace) if row[1] == "颜色分类"]
    for trace in figure["data"]:
        part = [row for row in rows if row[0] == trace["name"]]
        share = sum(row[3] == "right" for row in part) / len(part)
        assert any(
            x == pytest.approx(share) and bounds[-1] == len(part)
            for x, bounds in zip(trace["x"], trace["customdata"], strict=True)
        )


def test_both_charts_stand_level(review: ReviewApp) -> None:
    app = review.open("options", runs=TRACED)
    left, right = figure_of(app, "Outcomes of wanted options"), figure_of(app, "Share of right options")
    assert left["layout"]["height"] - 70 == right["layout"]["height"] - 60
    labels = [figure["layout"]["yaxis"]["ticktext"] for figure in (left, right)]
    assert [[label.split("<i>")[0] for label in side] for side in labels[:1]] == [
        [label.split("<i>")[0] for label in labels[1]]
    ]


def test_the_list_begins_with_what_went_wrong(review: ReviewApp) -> None:
    outcomes = review.open("options", runs=TRACED).dataframe[-1].value["outcome"].tolist()
    assert "right" in outcomes and len(set(outcomes)) > 1
    first = outcomes.index("right")
    assert first > 0 and set(outcomes[first:]) == {"right"}


def test_confusions_and_episodes_behind_a_cell(workspace: Path, review: ReviewApp) -> None:
    app = review.open("options", runs=TRACED, group="颜色分类", outcome="wrong value")
    expected = Counter(
        (wanted, chosen)
        for _, axis, wanted, outcome, chosen in wanted_options(workspace)
        if (axis, outcome) == ("颜色分类", "wrong value")
    )
    assert expected, "the sample must hold confusions"
    pairs = app.dataframe[1].value
    assert {(row.wanted, row.chosen): row.n for row in pairs.itertuples()} == dict(expected)
    episodes = app.dataframe[2].value
    assert len(episodes) == sum(expected.values())
    assert episodes["replay"].str.startswith("replay?run=demo-iter").all()


def test_a_pair_in_the_address_narrows_the_episodes(review: ReviewApp) -> None:
    whole = review.open("options", runs=TRACED, group="颜色分类").dataframe[2].value
    app = review.open("options", runs=TRACED, group="颜色分类", wanted="月光白", chosen="曜石黑")
    part = app.dataframe[2].value
    assert 0 < len(part) < len(whole)
    assert set(part["chosen"]) == {"曜石黑"} and "Only" in markup(app)
    review.act(app, lambda page: next(b for b in page.button if b.label == "Show all pairs").click())
    assert len(app.dataframe[2].value) == len(whole) and "wanted" not in app.query_params


def test_attributes(workspace: Path, review: ReviewApp) -> None:
    app = review.open("options", runs=TRACED, what="attributes")
    table = app.dataframe[0].value
    records = [record for run in TRACED for record in completed(workspace / "runs" / run)]
    assert table["n"].sum() == sum(len(r["final"]["goal"]["attributes"]) for r in records)
    bought = [r["final"]["reward_detail"] for r in records if r["final"]["purchase"]]
    assert table["right"].sum() == sum(detail["num_attr_matches"] for detail in bought)
    unbought = sum(len(r["final"]["goal"]["attributes"]) for r in records if not r["final"]["purchase"])
    assert table["no purchase"].sum() == unbought
    assert table[list(ATTRIBUTE_OUTCOMES)].sum().sum() == table["n"].sum()
    assert "confusions" not in {str(getattr(frame, "key", "")) for frame in app.dataframe}


def test_traces_of_another_catalogue_say_so(review: ReviewApp) -> None:
    assert "no prepared catalogue" in markup(review.open("options", runs=TRACED))


def product(index: int, **axes: list[str]) -> dict[str, Any]:
    """A catalogue record with the ASIN of invented product ``index``."""
    options = {axis: [{"value": value} for value in values] for axis, values in axes.items()}
    return {"asin": asin(index), "title": "x", "category": "a›b", "customization_options": options}


def prepare(workspace: Path, records: list[dict[str, Any]]) -> str:
    """Write a prepared catalogue and return its SHA-256."""
    prepared = workspace / "data" / "prepared"
    prepared.mkdir(parents=True)
    data = json.dumps(records, ensure_ascii=False).encode()
    digest = hashlib.sha256(data).hexdigest()
    (prepared / layout.PRODUCTS).write_bytes(data)
    manifest = {"schema_version": DATASET_SCHEMA, "content": {"sha256": digest}}
    (prepared / layout.MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    return digest


def catalogue_run(workspace: Path) -> None:
    """Four episodes whose axes only the catalogue tells; it lacks one of the wanted values."""
    whole: dict[str, list[str]] = {"颜色分类": ["月光白", "黑"], "尺码": ["S", "XL"]}
    digest = prepare(
        workspace, [product(0, **whole), product(10, **whole), product(20, 颜色分类=["黑"], 尺码=["XL"])]
    )
    records = []
    for task, choose in ((0, {"颜色分类": "樱花粉"}), (10, {}), (20, {"尺码": "S"})):
        episode = Episode(task).search("x", [500]).open(500)
        offered = {axis: [value] for axis, value in choose.items()}
        episode.steps[-1]["environment"]["observation_state"]["available_options"] = offered
        for axis, value in choose.items():
            episode.select(axis, value)
            episode.steps[-1]["environment"]["observation_state"]["available_options"] = offered
        records.append(episode.buy(r_option=0.0).record())
    environment = provenance()["environment"] | {"product_data_sha256": digest}
    write_run(workspace / "runs" / "own", records, environment=environment)


def test_the_runs_own_catalogue_tells_axes_and_lacking_values(tmp_path: Path) -> None:
    catalogue_run(tmp_path)
    app = ReviewApp(tmp_path).open("options")
    rows = app.dataframe[-1].value.set_index(["task_id", "group"])
    assert rows.loc[(0, "颜色分类"), ["outcome", "chosen"]].tolist() == ["wrong value", "樱花粉"]
    assert rows.loc[(0, "尺码"), "outcome"] == "never chosen"
    assert rows.loc[(10, "颜色分类"), "outcome"] == "never chosen"
    assert rows.loc[(20, UNKNOWN_AXIS), "outcome"] == "not in catalogue"
    assert rows.loc[(20, "尺码"), ["outcome", "chosen"]].tolist() == ["wrong value", "s"]
    assert "catalogue" not in "".join(
        caption.value for caption in app.caption if "traces alone" in caption.value
    )


def test_a_damaged_catalogue_is_told_and_the_traces_still_show(tmp_path: Path) -> None:
    catalogue_run(tmp_path)
    (tmp_path / "data" / "prepared" / layout.PRODUCTS).write_text("[{", encoding="utf-8")
    app = ReviewApp(tmp_path).open("options")
    assert "cannot be read" in markup(app) and app.dataframe[0].value["group"].tolist() == [UNKNOWN_AXIS]


def test_recorded_markup_stays_text(review: ReviewApp) -> None:
    for what in ("options", "attributes"):
        app = review.open("options", what=what)
        assert any("<img" in str(value) for value in app.dataframe[-1].value["wanted"])
        assert_no_recorded_markup(app)


def test_a_broken_run_alone_and_an_empty_workspace_say_so(review: ReviewApp, tmp_path: Path) -> None:
    app = review.open("options", runs=["broken"])
    assert any("No completed episode" in box.value for box in app.info)
    assert "shopsim demo" in ReviewApp(tmp_path).open("options").info[0].value
