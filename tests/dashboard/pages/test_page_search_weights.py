"""The page Search weights, against FTS5 asked directly."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.ui.weight_sets import SLIDERS
from dashboard.ui.weights_run import current_job
from shopsim.engine import Engine, open_engine
from shopsim.rollout.manifest import read_manifest
from shopsim.search import PRESETS, V3, FieldWeights, SearchIndex, load_weights
from shopsim.search.documents import FIELDS
from shopsim.search.weights import save_weights
from shopsim.settings import load_settings
from tests.factories.search_pages import markup_of, open_page, table, tiny_engine, use_workspace

ALL = {"kind": "full", "split": "all"}
HOSTILE = "<img src=x onerror=alert(1)> [x](javascript:alert(1)) 冰箱"
# Under this set the tiny catalogue's two fridges change places.
ODD = FieldWeights(title=1, brand=1, category=3, model=1e-6, attributes=20, options=1, bullets=0.5)
SLID = FieldWeights(title=0.5, brand=2, category=2, model=2.5, attributes=9, options=1.2, bullets=0.8)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("weights") / "workspace"
    tiny_engine(folder, "shopper-iter40").close()
    return folder


@pytest.fixture
def engine(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """A workspace of its own: tests write into it."""
    shutil.copytree(template, tmp_path / "w", ignore=shutil.ignore_patterns(".shopsim"))
    use_workspace(tmp_path / "w", monkeypatch)
    return open_engine(load_settings(tmp_path / "w"))


def ranks(engine: Engine, weights: FieldWeights, split: str = "all") -> dict[int, int]:
    """Rank of the gold product by task under ``weights``, from FTS5."""
    found = {}
    for task in engine.splits.ids(split):
        goal = engine.goals.get(task)
        listed = [asin for asin, _ in engine.search.ranked(goal.instruction_text, weights=weights)]
        found[task] = listed.index(goal.asin) + 1 if goal.asin in listed else 0
    return found


def reciprocal(found: Mapping[int, int]) -> Any:
    return np.asarray([1 / place if place else 0.0 for place in found.values()])


def test_every_set_is_measured_as_fts5_ranks(engine: Engine) -> None:
    app = open_page("search_weights", {**ALL, "sets": ["v3", "title-only"]})
    assert not app.exception
    shown = table(app, "bullets").set_index("name")
    gains = table(app, "better").set_index("name")
    assert shown.index.tolist() == ["v3", "title-only"] and gains.index.tolist() == ["title-only"]
    found = {name: ranks(engine, PRESETS[name]) for name in shown.index}
    for name, places in found.items():
        for k in (1, 20):
            share = np.mean([0 < place <= k for place in places.values()])
            assert shown.loc[name, f"recall_at_{k}"].startswith(f"{100 * share:.1f}%")
        assert shown.loc[name, "mrr_at_150"].startswith(f"{reciprocal(places).mean():.3f}")
        assert shown.loc[name, list(FIELDS)].tolist() == list(PRESETS[name].values())
    gained = reciprocal(found["title-only"]) - reciprocal(found["v3"])
    assert gains.loc["title-only", "mrr_at_150"].startswith(f"{gained.mean():+.3f}")
    assert gains.loc["title-only", ["better", "worse"]].tolist() == [(gained > 0).sum(), (gained < 0).sum()]
    assert "A proxy" in markup_of(app) and f"{len(gained)} queries" in markup_of(app)


def test_sliders_make_a_set_that_is_in_the_address(engine: Engine) -> None:
    app = open_page("search_weights", {**ALL, "sets": "v3", "custom": "1", "w_title": "0.5"})
    app.slider(key="w_attributes").set_value(9.0).run()
    assert (app.query_params["w_title"], app.query_params["w_attributes"]) == ("0.5", "9.0")
    shown = table(app, "bullets").set_index("name").loc[SLIDERS]
    assert shown[list(FIELDS)].tolist() == list(SLID.values())
    assert shown["mrr_at_150"].startswith(f"{reciprocal(ranks(engine, SLID)).mean():.3f}")
    app.button(key="start-uniform").click().run()
    assert app.query_params["w_title"] == "1.0" and app.slider(key="w_bullets").value == 1.0


@pytest.mark.parametrize(
    ("value", "line"), [("0", "weight of title is 0.0"), ("-1", "is no weight"), ("x", "is no weight")]
)
def test_a_slider_that_is_no_weight_is_one_line(engine: Engine, value: str, line: str) -> None:
    app = open_page("search_weights", {**ALL, "custom": "1", "w_title": value})
    assert not app.exception
    notes = [element.value.replace("\\", "") for element in (*app.error, *app.warning)]
    assert len(notes) == 1 and line in notes[0]
    names = table(app, "bullets")["name"].tolist()
    assert names[:2] == ["v3", "v2-misaligned"] and (SLIDERS in names) == (value != "0")


@pytest.mark.parametrize("side", ["winners", "losers"])
def test_winners_and_losers_and_the_field_that_made_them(engine: Engine, side: str) -> None:
    sets = {"v3": V3, "odd": ODD}
    save_weights("odd", ODD, engine.settings.workspace / "configs" / "search_weights")
    base, other = ("v3", "odd") if side == "winners" else ("odd", "v3")
    app = open_page("search_weights", {**ALL, "sets": ["v3", "odd"], "base": base, "side": side})
    before, after = ranks(engine, sets[base]), ranks(engine, sets[other])
    rows = table(app, "before")
    assert rows["task_id"].tolist() == [task for task in before if before[task] != after[task]] == [0]
    row = rows.iloc[0]
    assert (row["before"], row["after"]) == (before[0], after[0])
    assert row["gain"] == pytest.approx(1 / after[0] - 1 / before[0])
    alone = {}
    for field in FIELDS:
        swapped = sets[base].as_mapping() | {field: getattr(sets[other], field)}
        alone[field] = ranks(engine, FieldWeights.from_mapping(swapped))[0]
    made_by = [field for field, place in alone.items() if place == after[0]]
    if made_by:
        assert row["field"] in made_by and row["alone"] == after[0]
    else:
        assert row["field"] == "several fields together" and pd.isna(row["alone"])
    assert f"{side.capitalize()} (1)" in app.segmented_control(key="side").options


@pytest.mark.parametrize("under", ["base", "other"])
def test_the_explained_score_is_fts5s_and_adds_up(engine: Engine, under: str) -> None:
    app = open_page("search_weights", {**ALL, "sets": ["v3", "uniform"], "task": "0", "under": under})
    goal, weights = engine.goals.get(0), PRESETS["v3" if under == "base" else "uniform"]
    scores = dict(engine.search.ranked(goal.instruction_text, weights=weights))
    parts = table(app, "token")
    assert parts.iloc[0]["score"] == -scores[goal.asin]
    assert parts.iloc[1:]["score"].sum() == pytest.approx(parts.iloc[0]["score"], rel=1e-12)
    results = table(app, "wanted")
    assert results["asin"].tolist() == list(scores)[:20]
    assert results["score"].tolist() == [-score for score in list(scores.values())[:20]]
    assert results.loc[results["wanted"] == "✓", "asin"].tolist() == [goal.asin]
    assert f"Score {-scores[goal.asin]:.4f}" in markup_of(app).replace("\\", "")


def test_a_new_task_or_query_forgets_what_belonged_to_the_old_one(engine: Engine) -> None:
    app = open_page("search_weights", {**ALL, "task": "0", "query": "绿茶", "product": "600000000004"})
    assert app.text_input(key="product").value == "600000000004"
    app.text_input(key="query").set_value("数据线").run()
    assert app.text_input(key="product").value == "600000000008"
    app.selectbox(key="task").set_value(3).run()
    assert app.text_input(key="query").value == engine.goals.get(3).instruction_text
    assert app.text_input(key="product").value == engine.goals.get(3).asin
    assert "query" not in app.query_params and "product" not in app.query_params


def test_hostile_queries_are_text(engine: Engine) -> None:
    app = open_page("search_weights", {**ALL, "query": HOSTILE, "product": "<b>nothing</b>"})
    assert not app.exception
    text = markup_of(app)
    assert "<img" not in text and "<b>" not in text and "](javascript" not in text
    assert "not in the index" in text
    assert "no word that the search could use" in markup_of(
        open_page("search_weights", {**ALL, "query": "，。！"})
    )


def test_unknown_words_match_nothing_and_say_so(engine: Engine) -> None:
    app = open_page("search_weights", {**ALL, "query": "qqqqq", "task": "0"})
    assert not app.exception
    assert "It holds no word of the query" in markup_of(app)


def test_saving_validates_the_name_and_asks_before_it_overwrites(engine: Engine) -> None:
    folder = engine.settings.workspace / "configs" / "search_weights"
    app = open_page("search_weights", {**ALL, "sets": "v3", "custom": "1", "w_title": "7"})

    def save(name: str, *, replace: bool = False) -> str:
        app.text_input(key="set-name").set_value(name)
        app.checkbox(key="set-replace").set_value(replace)
        next(button for button in app.button if button.label == "Save set").click()
        app.run()
        return markup_of(app).replace("\\", "")

    assert "is no name for a weight set" in save("../evil")
    assert "is a preset" in save("v3")
    assert "Saved as configs/search_weights/mine.json" in save("mine")
    assert load_weights("mine", folder).title == 7.0
    assert "mine" in app.query_params["sets"]
    app.slider(key="w_title").set_value(8.0).run()
    app.pills(key="other").set_value(SLIDERS).run()
    assert "exists already" in save("mine")
    assert load_weights("mine", folder).title == 7.0
    assert "Saved as" in save("mine", replace=True)
    assert load_weights("mine", folder).title == 8.0
    assert sorted(path.name for path in folder.iterdir()) == ["mine.json"]


def test_an_exported_index_is_built_with_the_set(engine: Engine) -> None:
    app = open_page("search_weights", {**ALL, "sets": ["v3", "uniform"], "use": "export"})

    def export(path: str, *, replace: bool = False) -> str:
        app.text_input(key="export-path-uniform").set_value(path)
        app.checkbox(key="export-replace").set_value(replace)
        next(button for button in app.button if button.label == "Build index").click()
        app.run()
        return markup_of(app).replace("\\", "")

    for wrong in ("../out.sqlite", "data/out.txt", ""):
        assert "is no file of the workspace" in export(wrong)
    assert "belongs to the prepared data" in export("data/prepared/search.sqlite", replace=True)
    told = export("data/prepared-uniform/search.sqlite")
    path = engine.settings.workspace / "data" / "prepared-uniform" / "search.sqlite"
    assert f"Built {path}" in told
    with SearchIndex.open(path, product_data_sha256=engine.corpus.sha256) as index:
        assert index.weights == PRESETS["uniform"]
    assert "exists already" in export("data/prepared-uniform/search.sqlite")
    other = engine.settings.workspace / "labels.sqlite"
    other.write_text("precious", encoding="utf-8")
    assert "no SQLite file" in export("labels.sqlite", replace=True)
    assert other.read_text(encoding="utf-8") == "precious"


def test_demo_agents_run_on_the_set_beside_the_proxy(engine: Engine) -> None:
    app = open_page("search_weights", {**ALL, "sets": ["v3", "title-only"], "use": "run"})
    assert "programs, not trained models" in markup_of(app)
    next(button for button in app.button if button.label == "Run them").click()
    app.run()
    job = current_job()
    assert job is not None
    job.thread.join(timeout=60)
    assert (job.finished, job.error, job.done, job.total) == (True, "", 10, 10)
    app = finish(app)
    row = table(app, "fixed").iloc[0]
    assert (row["agent"], row["n"]) == ("shopper-iter80", 5)
    success = []
    for name in ("v3", "title-only"):
        folder = engine.settings.runs_root / f"weights-{name}-shopper-iter80"
        environment = read_manifest(folder / "manifest.json")["plan"]["environment"]
        assert environment["search_weights"] == name
        assert environment["search_weight_values"] == PRESETS[name].as_mapping()
        assert environment["product_data_sha256"] == engine.corpus.sha256
        lines = (folder / "traces.jsonl").read_text(encoding="utf-8").splitlines()
        details = [json.loads(line)["final"]["reward_detail"] for line in lines]
        success.append(100 * sum(detail["r_success"] for detail in details) / len(details))
    assert [row["before"], row["after"]] == pytest.approx(success)
    assert "Beside it the proxy" in markup_of(app)
    assert row["compare"].startswith("compare?baseline=weights-v3-shopper-iter80&against=weights-title-only")


def finish(app: AppTest) -> AppTest:
    """The page as a person sees it after looking for new data."""
    app.button(key="refresh").click()
    app.run()
    assert not app.exception
    return app


def test_sliders_must_be_saved_before_they_are_run(engine: Engine) -> None:
    app = open_page("search_weights", {**ALL, "sets": "v3", "custom": "1", "use": "run"})
    assert "save your sliders first" in markup_of(app)
    assert not [button for button in app.button if button.label == "Run them"]


def test_what_agents_typed_can_be_ranked(engine: Engine) -> None:
    app = open_page("search_weights", {"kind": "typed", "relevance": "any"})
    assert not app.exception
    assert len(table(app, "bullets")) == 2


def test_groups_and_flatness_are_drawn_when_asked_for(engine: Engine) -> None:
    app = open_page("search_weights", {**ALL, "by": "domain", "flat": "1"})
    assert not app.exception
    assert table(app, "×0.5")["field"].tolist() == list(FIELDS)


def test_wrong_sets_and_empty_splits_are_one_line(engine: Engine) -> None:
    folder = engine.settings.workspace / "configs" / "search_weights"
    folder.mkdir(exist_ok=True)
    values = V3.as_mapping() | {"brand": 0}
    (folder / "zero.json").write_text(json.dumps({"weights": values}), encoding="utf-8")
    (folder / "torn.json").write_text('{"weights": {', encoding="utf-8")
    app = open_page("search_weights", {"split": "val"})
    assert not app.exception
    notes = [element.value.replace("\\", "") for element in app.warning]
    assert len(notes) == 2 and "not valid JSON" in notes[0] and "weight of brand is 0" in notes[1]
    assert "split 'val': has no simple query" in markup_of(app).replace("\\", "")
    assert "No weight set is chosen" in markup_of(open_page("search_weights", {**ALL, "sets": ""}))


def test_an_unprepared_or_foreign_workspace_is_one_line(engine: Engine) -> None:
    prepared = engine.settings.prepared_dir
    records = json.loads((prepared / "products.json").read_text(encoding="utf-8"))
    (prepared / "products.json").write_text(json.dumps(records[1:]), encoding="utf-8")
    app = open_page("search_weights")
    assert not app.exception and len(app.error) == 1
    (prepared / "search.sqlite").unlink()
    app = open_page("search_weights")
    assert "shopsim prepare" in app.error[0].value
