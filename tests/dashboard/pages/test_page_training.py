"""The page Training: rounds, a bundle, both, neither, damaged ones; every word and figure of its parts."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.ui.training_groups import named_group, named_rollout
from tests.factories.episode_pages import sent_text
from tests.factories.review_pages import (
    HOSTILE,
    ReviewApp,
    assert_no_recorded_markup,
    figure_of,
    with_hostile_text,
)
from tests.factories.traces import sample_run
from tests.factories.training import (
    CHUNKS,
    curriculum,
    group_folder,
    rollout_record,
    triage,
    write_group,
    write_json_file,
    write_round,
)

PUBLISHED = Path(__file__).parents[4] / "shared" / "published" / "artifacts"
published = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason="the published bundle is not beside the project"
)
SOURCE = "slime-training"


def make_rounds(folder: Path) -> Path:
    """Two rounds of some groups in three steps, an all-wrong and a technical one among them."""
    for index in (0, 1, 2, 33, 34, 640, 641):
        ends = ["success"] * (5 + index % 3) + ["wrong_option"] * (3 - index % 3)
        mode, chosen = ("skill_free", ()) if index in (1, 641) else ("assisted", CHUNKS[:2])
        write_group(
            folder / f"round-{index // 640:03d}", index, ends, mode=mode, skill_ids=chosen, state_id="a"
        )
    write_group(folder / "round-000", 3, ["wrong_option"] * 8, retry="success", state_id="a")
    write_group(folder / "round-000", 35, ["failed", *["success"] * 7], state_id="a")
    rhos = dict(zip(CHUNKS, (0.3, 0.6, 0.9), strict=True))
    write_json_file(folder / "round-000" / "curriculum.json", curriculum(rhos, state_id="a"))
    return folder


@pytest.fixture(scope="module")
def review(tmp_path_factory: pytest.TempPathFactory) -> ReviewApp:
    folder = tmp_path_factory.mktemp("training-page")
    make_rounds(folder / "runs" / SOURCE)
    sample_run(folder / "runs" / "demo", tasks=3)
    roots = [folder / "runs", PUBLISHED] if PUBLISHED.is_dir() else [folder / "runs"]
    return ReviewApp(folder, *roots)


def table(app: AppTest, *columns: str) -> pd.DataFrame:
    """The first table that has these columns."""
    for element in app.dataframe:
        if set(columns) <= set(element.value.columns):
            frame: pd.DataFrame = element.value
            return frame
    raise AssertionError(f"no table with {columns}")


def captions(app: AppTest) -> str:
    return "\n".join(element.value for element in app.caption)


def test_rounds_from_their_folders(review: ReviewApp) -> None:
    app = review.open("training", training=SOURCE)
    assert "3 problem" not in sent_text(app)
    rounds = table(app, "name", "reward_mean").set_index("name")
    assert rounds["groups"].tolist() == [7, 2] and rounds["steps"].tolist() == ["1 – 2", "21"]
    assert rounds.loc["round-000", "technical"] == 1 and rounds.loc["round-000", "scored"] == 55
    points = figure_of(app, "All-wrong groups by rollout step")["data"][0]
    assert points["x"] == [1, 2, 21] and points["y"] == pytest.approx([25, 0, 0])
    assert [row[2] for row in points["customdata"]] == [4, 2, 2]
    points = figure_of(app, "Success by rollout step")["data"][0]
    assert points["y"][0] == pytest.approx(100 * (5 + 6 + 7 + 0) / 32)
    points = figure_of(app, "Share of groups without a skill")["data"][0]
    assert points["y"] == pytest.approx([50, 33.3333333, 50])
    segments = figure_of(app, "Share of groups by triage class")["data"]
    told = {(row[0], row[1]): row[2] for trace in segments for row in trace["customdata"]}
    assert told["0", "Not internalised"] == 1 and told["0", "Technical failure"] == 1
    assert told["1", "Some succeeded"] == 2
    assert "3 steps, n = 71 scored rollouts." in captions(app)
    assert len(table(app, "group_index", "class")) == 9


def test_the_window_is_in_the_address(review: ReviewApp) -> None:
    app = review.open("training", training=SOURCE, window="1")
    points, line = figure_of(app, "Reward by rollout step")["data"]
    assert [y for y in line["y"] if not math.isnan(y)] == pytest.approx(points["y"])
    app = review.act(app, lambda page: page.number_input(key="window").set_value(9))
    assert app.query_params["window"] == "9"
    _, line = figure_of(app, "Reward by rollout step")["data"]
    sizes = [row[2] for row in points["customdata"][:2]]  # a step weighs as its scored rollouts
    weighted = sum(y * n for y, n in zip(points["y"][:2], sizes, strict=True)) / sum(sizes)
    assert line["y"][1] == pytest.approx(weighted) and line["hovertext"][1].startswith("mean of 2 steps: ")


def test_from_a_step_to_a_group_to_a_rollout(review: ReviewApp) -> None:
    app = review.open("training", training=SOURCE, rollout_step="2")
    groups = table(app, "group_index", "class")
    assert groups["group_index"].tolist() == ["33", "34", "35"]
    assert "Group 33, round 0" in [element.value for element in app.subheader]
    app = review.open("training", training=SOURCE, rollout_step="2", group="0-35")
    rollouts = table(app, "sample", "outcome")
    assert rollouts["outcome"].tolist() == ["unscored", *["success"] * 7]
    assert "7 of 8 rollouts scored" in captions(app)
    app = review.open("training", training=SOURCE, group="0-35", rollout="rollout-000000281.json", turn="2")
    heads = [element.value for element in app.subheader]
    assert "Success: strict reward 1.000" in heads and "Step 2 of 10" in heads
    assert "<think>" in "\n".join(str(e.proto.body) for e in app.get("html")).replace("&lt;", "<").replace(
        "&gt;", ">"
    )
    app = review.act(app, lambda page: page.button(key="next_step").click())
    assert app.query_params["turn"] == "3" and "step" not in app.query_params
    app = review.open("training", training=SOURCE, group="0-35", rollout="rollout-000000280.json")
    assert any("TimeoutError" in element.value for element in app.error)


def test_a_retry_can_be_opened_and_is_no_sample(review: ReviewApp) -> None:
    app = review.open("training", training=SOURCE, group="0-3", rollout="full-skill-retry.json")
    assert table(app, "sample", "outcome")["kind"].tolist()[-1] == "full-skill retry"
    assert any("No training sample" in element.value for element in app.info)
    app = review.act(app, lambda page: page.selectbox(key="rollout_step").set_value(2))
    assert "rollout" not in app.query_params and not any("sample" in element.value for element in app.info)


def test_groups_of_a_class(review: ReviewApp) -> None:
    app = review.open(
        "training", training=SOURCE, **{"class": "model_internalization_deficit", "in_round": "0"}
    )
    groups = table(app, "group_index", "class")
    assert groups["group_index"].tolist() == ["3"] and groups["note"].tolist() == ["all wrong, zero variance"]
    assert groups["retry"].tolist() == ["succeeded"]
    app = review.act(app, lambda page: page.selectbox(key="in_round").set_value(1))
    assert "No group matches" in sent_text(app)


def test_a_link_may_name_a_group_and_a_rollout_by_number(review: ReviewApp) -> None:
    app = review.open("training", training=SOURCE, group="640", rollout="5123")
    assert app.query_params["group"] == "1-640" and not told_missing(app)
    assert app.query_params["rollout"] == "rollout-000005123.json"
    assert "group 640 · rollout" in captions(app).replace("\\", "")


def test_a_link_to_what_is_not_there_says_what_is_shown(review: ReviewApp) -> None:
    app = review.open("training", training="nope", rollout_step="9999", group="650", rollout="3")
    assert told_missing(app) == [
        "Source: “nope” is not offered here. Shown instead: slime-training (training rounds).",
        "Rollout step: “9999” is not offered here. Shown instead: All steps.",
        "There is no group “650” here (round and index). Shown instead: group 0-0.",
    ]
    app = review.open("training", training=SOURCE, group="1-641", rollout="3")
    assert told_missing(app) == ["This group has no rollout “3”. Shown instead: the group alone."]


def test_a_number_names_only_what_it_tells_apart() -> None:
    assert named_group("7", ["0-7", "1-8"]) == "0-7" and named_group("0-7", ["0-7"]) == "0-7"
    assert named_group("7", ["0-7", "1-7"]) is None and named_group(None, ["0-7"]) is None
    files = ["rollout-000000003.json", None]
    assert named_rollout("3", files) == named_rollout("000000003", files) == files[0]
    assert named_rollout(None, files) is named_rollout("4", files) is named_rollout("三", files) is None
    assert named_rollout("9" * 5000, files) is None


def told_missing(app: AppTest) -> list[str]:
    """What the page says of an address that it could not follow."""
    return [element.value.replace("\\", "") for element in app.warning if "Shown instead" in element.value]


def test_rounds_stay_out_of_the_other_pages(review: ReviewApp) -> None:
    app = review.open("overview", runs=["demo"])
    assert table(app, "name", "reward_mean")["name"].tolist() == ["demo"]
    assert "slime-training" not in sent_text(app)


@published
def test_the_published_bundle(review: ReviewApp) -> None:
    app = review.open("training", training="artifacts")
    (warning,) = [element.value for element in app.warning if "counts 619 groups" in element.value]
    assert "4,952 episodes" in warning and r"counts 96 all\-wrong groups" in warning
    rounds = table(app, "name", "chunks")
    assert rounds["groups"].tolist() == [619, 640, 640, 640] and "problems" not in app.dataframe[0].columns
    points = figure_of(app, "Reward by rollout step")["data"][0]
    assert len(points["x"]) == 80 and points["y"][0] == pytest.approx(58.43454790823213)
    points = figure_of(app, "All-wrong groups")["data"][0]
    assert points["customdata"][0] == [1, 0, 28]
    app = review.open("training", training="artifacts", chunk="chunk-27a7e5bb9344")
    points, _, target = figure_of(app, "Inclusion of one chunk")["data"]
    assert len(points["x"]) == 40 and target["y"][0] == pytest.approx(47.33805357216591)
    assert len(figure_of(app, "Observed inclusion")["data"]) == 5
    assert figure_of(app, "Contribution of every chunk")
    assert figure_of(app, "Reward and success at the gate")
    assert len(figure_of(app, "Entropy by optimiser update")["data"][0]["x"]) == 160
    assert table(app, "Tasks", "Success")["Success"].iloc[0] == "77.5% [73.2, 81.3]%"
    assert "lists no single groups" in sent_text(app)


@published
def test_both_sources_can_be_chosen(review: ReviewApp) -> None:
    app = review.open("training")
    box = app.selectbox(key="training")
    assert box.options == ["slime-training (training rounds)", "artifacts (published bundle)"]
    app = review.act(app, lambda page: page.selectbox(key="training").set_value("artifacts"))
    assert app.query_params["training"] == "artifacts" and table(app, "name", "chunks") is not None


def test_nothing_to_show(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    app = ReviewApp(tmp_path).open("training")
    assert "No training rounds and no published bundle" in sent_text(app)


def test_an_empty_round(tmp_path: Path) -> None:
    (tmp_path / "runs" / SOURCE / "round-000").mkdir(parents=True)
    app = ReviewApp(tmp_path).open("training")
    assert "The rounds hold no group yet" in sent_text(app) and "empty: 1" in app.expander[0].label


def test_a_bundle_with_nothing_recorded(tmp_path: Path) -> None:
    (tmp_path / "runs" / "published" / "analysis").mkdir(parents=True)
    (tmp_path / "runs" / "published" / "eval").mkdir()
    text = sent_text(ReviewApp(tmp_path).open("training"))
    for sentence in (
        "tells nothing of rounds",
        "No rollout step is recorded",
        "No contributions are recorded",
    ):
        assert sentence in text
    for sentence in ("No gate evaluation", "No optimiser curve", "lists no single groups"):
        assert sentence in text


def test_what_is_not_recorded_is_not_zero(tmp_path: Path) -> None:
    analysis = tmp_path / "runs" / "published" / "analysis"
    analysis.mkdir(parents=True)
    (analysis / "training_steps.csv").write_text(
        "step,round,rollout/shopsim/group_count,rollout/shopsim/success_rate\n1,0,32,0.5\n2,0,32,\n3,0,32,0.75\n"
    )
    (analysis / "training_groups.csv").write_text("round,step,group_index,task_id\n0,1,7,\n")
    app = ReviewApp(tmp_path).open("training")
    points, line = figure_of(app, "Success by rollout step")["data"]
    assert points["x"] == [1, 3] and points["y"] == [50, 75] and line["y"] == pytest.approx([50, 50, 62.5])
    assert "2 steps, n not recorded; not recorded in 1 step." in captions(app)
    text = sent_text(app)
    assert "Reward: not recorded" in text and "How groups were assigned is not recorded" in text
    assert "problem" in app.expander[0].label
    assert list(table(app, "group_index").columns) == ["round", "step", "group_index"]


def test_damaged_files_are_told_and_the_page_goes_on(tmp_path: Path) -> None:
    folder = make_rounds(tmp_path / "runs" / SOURCE) / "round-000"
    (group_folder(folder, 0) / "triage.json").write_text("{nothing")
    (group_folder(folder, 1) / "rollout-000000008.json").write_text("torn")
    write_json_file(group_folder(folder, 2) / "extra.json", {})
    (folder / "curriculum.json").write_text("[]")
    app = ReviewApp(tmp_path).open("training", group="0-0")
    assert "foreign: 1" in "".join(box.label for box in app.expander)
    problems = table(app, "problem", "kind")
    assert sorted(problems["kind"]) == ["foreign", "unreadable", "unreadable"]
    assert any("not valid JSON" in element.value for element in app.warning)
    assert "No target rho is recorded" in sent_text(app)
    app = ReviewApp(tmp_path).open("training", group="0-1", rollout="rollout-000000008.json")
    assert any("not JSON" in element.value for element in app.error)
    assert len(table(app, "group_index", "class")) == 9


def test_recorded_markup_stays_text(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / SOURCE / "round-000"
    write_round(folder, {1: ["success"] * 8})
    records = [
        with_hostile_text(rollout_record(0, place, outcome))
        for place, outcome in enumerate(["failed", *["success"] * 7])
    ]
    told = triage(
        0, records, classification=HOSTILE, chunk_ids=[HOSTILE], mode="assisted", skill_ids=[HOSTILE]
    )
    told["assignment"] |= {"state_id": HOSTILE, "group_key": HOSTILE}
    for place, record in enumerate(records):
        write_json_file(group_folder(folder, 0) / f"rollout-{place:09d}.json", record)
    write_json_file(group_folder(folder, 0) / "triage.json", told)
    (group_folder(folder, 0) / "<b>x<").write_text("x")
    for rollout in ("rollout-000000000.json", "rollout-000000001.json"):
        app = ReviewApp(tmp_path).open("training", group="0-0", rollout=rollout)
        assert_no_recorded_markup(app)
        assert "<b>x" not in "\n".join(element.value for element in app.warning)
    bundle = tmp_path / "bundle" / "analysis"
    bundle.mkdir(parents=True)
    header = "round,intervention_id,kind,logical_chunk_id,operation,order,coefficient,rank,status\n"
    quoted = json.dumps(HOSTILE).replace('\\"', '""')
    (bundle / "chunk_contributions.csv").write_text(
        header + ",".join(["0", *[quoted] * 4, "1", "0.5", "1", quoted]) + "\n"
    )
    (bundle / "training_steps.csv").write_text(
        f"step,round,rollout/shopsim/chunk/{HOSTILE}/target_rho\n1,0,0.5\n"
    )
    assert_no_recorded_markup(ReviewApp(tmp_path, tmp_path / "bundle").open("training"))
