"""The diagnosis page: shares by hand on factory runs, exact stages on a real run over the tiny catalogue."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from dashboard.analysis.diagnosis import STAGES
from shopsim.cli import app as engine_app
from shopsim.cli.process import run_app
from shopsim.engine import open_engine
from shopsim.rollout.recorder import PlayRecorder
from shopsim.settings import Settings
from tests.factories.review_pages import ReviewApp, assert_no_recorded_markup, figure_of, review_workspace
from tests.factories.tiny_workspace import tiny_workspace
from tests.factories.traces import episode_record, write_run

CHART = "Share of episodes by the stage"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Settings, ReviewApp]:
    """Plays that break at a known stage each, on the prepared catalogue."""
    settings = tiny_workspace(tmp_path_factory.mktemp("diagnosis") / "home")
    fridge, rival, soap = "600000000001", "600000000002", "600000000007"
    plays = [
        (7, ["search[洗衣皂]", f"click[{soap}]", "click[buy now]"]),  # success
        (0, ["search[洗衣皂]", f"click[{soap}]", "click[buy now]"]),  # not retrieved
        (0, ["search[迷你小冰箱]", f"click[{rival}]", *options("月光白"), "click[buy now]"]),
        (0, ["search[迷你小冰箱]", f"click[{fridge}]", *options("复古绿 | 限定"), "click[buy now]"]),
        (4, ["search[龙井]", "click[600000000004]", "click[净含量=125g]", "click[buy now]"]),
        (0, ["click[nowhere]"] * 30),
    ]
    with open_engine(settings) as engine:
        for task, actions in plays:
            play = PlayRecorder(engine, task)
            for action in actions:
                play.act(action)
            play.save("stages")
    return settings, ReviewApp(settings.workspace)


def options(colour: str) -> list[str]:
    return [f"click[颜色分类={colour}]", "click[套餐类型=官方标配]"]


def stages_of_chart(page: object) -> Counter[str]:
    figure = figure_of(page, CHART)  # type: ignore[arg-type]
    return Counter({row[1]: row[2] for trace in figure["data"] for row in trace["customdata"]})


def test_every_play_breaks_where_it_was_made_to(tiny: tuple[Settings, ReviewApp]) -> None:
    page = tiny[1].open("diagnosis")
    counts = stages_of_chart(page)
    # 600000000002 lacks nothing but is another product: whether it satisfies is the oracle's to say.
    assert counts["success"] + counts["wrong_option"] + counts["not_chosen"] == 3
    assert counts["wrong_option"] >= 1
    assert counts["not_retrieved"] == 1
    assert counts["unsatisfiable"] == 1
    assert counts["no_purchase"] == 1
    assert sum(counts.values()) == 6
    assert any("Exact where the catalogue" in caption.value for caption in page.caption)


def test_a_stage_of_the_url_lists_its_episodes(tiny: tuple[Settings, ReviewApp]) -> None:
    page = tiny[1].open("diagnosis", stage="no_purchase")
    table = page.dataframe[-1].value
    assert table["task_id"].tolist() == [0]
    assert table["detail"].tolist() == ["invalid actions"]
    assert table["evidence"].tolist() == ["30 of 30 actions were refused"]


def test_a_link_of_the_flow_lists_its_episodes(tiny: tuple[Settings, ReviewApp]) -> None:
    page = tiny[1].open("diagnosis", link="bought>broke:wrong_option")
    tables = [frame.value for frame in page.dataframe if "evidence" in frame.value.columns]
    assert len(tables) == 2
    assert tables[0]["task_id"].tolist() == [0]


def test_failures_only(tiny: tuple[Settings, ReviewApp]) -> None:
    counts = stages_of_chart(tiny[1].open("diagnosis", failures="1"))
    assert "success" not in counts


def test_another_catalogue_is_said_and_the_target_stands_in(tmp_path: Path) -> None:
    outcomes = ["success", "wrong_option", "wrong_product", "missing_attribute", "over_budget", "failed"]
    write_run(tmp_path / "runs" / "foreign", [episode_record(k, outcome=o) for k, o in enumerate(outcomes)])
    page = ReviewApp(tmp_path).open("diagnosis")
    assert stages_of_chart(page) == {
        "success": 1,
        "wrong_option": 1,
        "wrong_type": 1,
        "missing_attribute": 1,
        "over_budget": 1,
        "technical": 1,
    }
    assert any("no catalogue is prepared here" in box.value for box in page.info)


def test_records_name_the_catalogue_where_the_manifest_is_lost(
    tiny: tuple[Settings, ReviewApp], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    shutil.copytree(tiny[0].workspace, home)
    run = next(path for path in (home / "runs").iterdir() if (path / "traces.jsonl").is_file())
    told = stages_of_chart(ReviewApp(home).open("diagnosis"))
    for damage in (lambda path: path.unlink(), lambda path: path.write_text("{nothing", encoding="utf-8")):
        damage(run / "manifest.json")
        page = ReviewApp(home).open("diagnosis")
        assert stages_of_chart(page) == told
        assert not any("catalogue" in box.value for box in page.info)
        (run / "manifest.json").touch()


def test_an_unnamed_catalogue_is_not_called_another(tmp_path: Path) -> None:
    home = tiny_workspace(tmp_path / "home").workspace
    write_run(home / "runs" / "foreign", [episode_record(1, outcome="wrong_option")])
    write_run(
        home / "runs" / "other",
        [episode_record(1, outcome="wrong_option")],
        environment={"product_data_sha256": "a" * 64},
    )
    text = " ".join(box.value for box in ReviewApp(home).open("diagnosis").info)
    assert "foreign: neither manifest nor records name the catalogue" in text
    assert "other: recorded on another catalogue than the prepared one" in text


def test_the_chart_names_n_and_reaches_all_of_it(tiny: tuple[Settings, ReviewApp]) -> None:
    figure = figure_of(tiny[1].open("diagnosis"), CHART)
    assert all("n=6" in label for trace in figure["data"] for label in trace["y"])
    axis = figure["layout"]["xaxis"]
    assert 100 % axis["dtick"] == 0 and axis["range"][1] > 100
    assert axis["ticksuffix"] == "%" and "tickvals" not in axis


def test_an_oracle_run_has_no_failures_to_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tiny_workspace(tmp_path / "home")
    monkeypatch.setenv("SHOPSIM_HOME", str(settings.workspace))
    arguments = ["run", "--agent", "oracle", "--tasks", "0,7", "--name", "probe"]
    assert run_app(engine_app, arguments) == 0
    page = ReviewApp(settings.workspace).open("diagnosis", failures="1")
    assert any("No episode of the chosen runs failed" in box.value for box in page.info)


def test_hostile_texts_and_broken_runs(tmp_path: Path) -> None:
    assert_no_recorded_markup(review_workspace(tmp_path).open("diagnosis", stage="technical"))


def test_every_stage_says_what_it_means() -> None:
    assert all(stage.label and stage.meaning.endswith(".") for stage in STAGES.values())


def test_a_single_change_names_its_price_before_what_it_replaces(tiny: tuple[Settings, ReviewApp]) -> None:
    run = next(path for path in (tiny[0].workspace / "runs").iterdir() if (path / "traces.jsonl").is_file())
    page = tiny[1].open("diagnosis", stage="wrong_option")
    link = page.dataframe[-1].value["replay"].tolist()[0]
    episode = parse_qs(urlsplit(link).query)["episode"][0]
    told = [text.value for text in tiny[1].open("replay", run=run.name, episode=episode).markdown]
    (sentence,) = (text for text in told if "would have succeeded with **颜色分类" in text)
    assert re.search(r"\\\(price [0-9\\.,]+\\\), instead of 复古绿", sentence), sentence
