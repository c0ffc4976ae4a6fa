"""The page Compare conversations: both differences, what differs, empty states, links, markup as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from statsmodels.stats.contingency_tables import mcnemar
from streamlit.testing.v1 import AppTest

import dashboard.lake.conversations as lake_conversations
from tests.factories.bad_rounds import small_round
from tests.factories.review_pages import HOSTILE, ReviewApp, assert_no_recorded_markup, figure_of, markup
from tests.factories.rlve_review import conversation, sample_conversations, table_with, write_conversations
from tests.factories.traces import sample_run

PAIR = {"rlve_baseline": "fixed-a", "rlve_against": "fixed-b"}
ENVS = ("PD", "CART", "STATUS")
FIXED_A = [conversation(k, ENVS[k % 3], 4, correct=k % 2 == 0) for k in range(40)]
FIXED_B = [conversation(k, ENVS[k % 3], 4, correct=k % 5 != 0) for k in range(40)]
GOOD, POOR = sample_conversations(330, fails=11), sample_conversations(120, fails=2)


@pytest.fixture(scope="module")
def review(tmp_path_factory: pytest.TempPathFactory) -> ReviewApp:
    folder = tmp_path_factory.mktemp("compare-conversations-page")
    runs = folder / "runs"
    write_conversations(runs / "fixed-a", FIXED_A, difficulty=4)
    write_conversations(runs / "fixed-b", FIXED_B, difficulty=4)
    write_conversations(runs / "good", GOOD)
    write_conversations(runs / "poor", POOR)
    write_conversations(runs / "foreign", FIXED_B, difficulty=4, environment={"catalogue_sha256": "d" * 64})
    strange = {**conversation(40, "PD", 4), "env": HOSTILE}
    voice = {"provider": "openai", "model": HOSTILE}
    write_conversations(
        runs / "voiced", [*FIXED_B, strange], difficulty=4, user=voice, agent=HOSTILE, requested=40
    )
    write_conversations(runs / "strange", [strange], difficulty=4)
    write_conversations(runs / "waiting", [])
    return ReviewApp(folder)


def metrics(app: AppTest) -> dict[str, str]:
    return {element.label: element.value for element in app.metric}


def plain(app: AppTest) -> str:
    return markup(app).replace("\\", "")


def test_two_runs_of_one_plan_pair_fully(review: ReviewApp) -> None:
    app = review.open("compare_conversations", **PAIR)
    outcomes = [(a["end"]["correct"], b["end"]["correct"]) for a, b in zip(FIXED_A, FIXED_B, strict=True)]
    fixed, broken = outcomes.count((False, True)), outcomes.count((True, False))
    told = metrics(app)
    assert told["Passed, B − A"].replace("−", "-") == f"{100 * (fixed - broken) / 40:+.1f} points"
    a, b = (sum(pair[side] for pair in outcomes) / 40 for side in (0, 1))
    assert told["Passed, A → B"] == f"{100 * a:.1f}% → {100 * b:.1f}%"
    assert told["Fixed / broken"] == f"{fixed} / {broken}"
    p = mcnemar([[0, broken], [fixed, 0]], exact=True).pvalue
    assert f"exact McNemar p = {p:.3g}" in plain(app)
    labels = " ".join(expander.label for expander in app.expander).replace("\\", "")
    assert "40 problems played by both, of 40 episodes of A and 40 of B" in labels
    assert "differ" not in labels and "Not paired" not in plain(app)
    assert "n = 40 pairs" in plain(app) and "do not subtract" not in plain(app)
    settings = table_with(app, "field", "meaning").set_index("field")
    assert list(settings.index) == ["experiment"]


def test_a_comparison_begins_with_the_oldest_and_the_newest_agent_and_no_bound(tmp_path: Path) -> None:
    agents = ("scripted-random", "clerk-late", "clerk-early", "clerk-middle", "scripted-oracle")
    days = (1, 9, 2, 5, 8)
    for agent, day in zip(agents, days, strict=True):
        write_conversations(
            tmp_path / "runs" / agent, FIXED_A, agent=agent, created_at=f"2026-01-0{day}T00:00:00+00:00"
        )
    app = ReviewApp(tmp_path).open("compare_conversations")
    boxes = {box.label: box for box in app.selectbox}
    assert boxes["A: the baseline"].value == "clerk-early"
    assert boxes["B: compared with it"].value == "clerk-late"
    assert boxes["A: the baseline"].options == sorted(agents)


def test_adaptive_runs_are_matched(review: ReviewApp) -> None:
    app = review.open("compare_conversations", rlve_baseline="poor", rlve_against="good")
    pairs = sum(
        (a["env"], a["difficulty"]) == (b["env"], b["difficulty"]) for a, b in zip(POOR, GOOD, strict=False)
    )
    labels = " ".join(expander.label for expander in app.expander)
    assert f"{pairs} problems played by both, of 120 episodes of A and 330 of B" in labels
    assert "not equally hard: do not subtract them" in plain(app)
    app = review.act(app, lambda page: page.segmented_control(key="basis").set_value("matched"))
    assert app.query_params["basis"] == "matched"
    cells = {(env, level): [0, 0, 0, 0] for env in ENVS for level in range(9)}
    for place, records in ((0, POOR), (2, GOOD)):
        for record in records:
            counts = cells[record["env"], record["difficulty"]]
            counts[place] += record["end"]["correct"]
            counts[place + 1] += 1
    shared = [counts for counts in cells.values() if counts[1] and counts[3]]
    weight = sum(min(counts[1], counts[3]) for counts in shared)
    wanted = sum(min(n, m) * (b / m - a / n) for a, n, b, m in shared) / weight
    assert metrics(app)["Passed, B − A"].replace("−", "-") == f"{100 * wanted:+.1f} points"
    assert f"n = {weight} matched episodes" in plain(app)
    assert f"each of {len(shared)} combinations" in plain(app)
    levels = table_with(app, "difficulty", "pairs")
    assert levels["a_n"].sum() == 120 and levels["b_n"].sum() == 330


def test_a_figure_by_environment_in_the_colours_of_the_runs(review: ReviewApp) -> None:
    app = review.open("compare_conversations", **PAIR, figure="reward")
    sides = figure_of(app, "Reward of both runs")["data"]
    assert [trace["name"] for trace in sides] == ["fixed-a", "fixed-b"]
    assert [row[1] for row in sides[0]["customdata"]] == [40, 14, 13, 13]
    curriculum = review.open("curriculum", rlve_runs=["fixed-a", "fixed-b"], envs="PD")
    levels = figure_of(curriculum, "Share of passed episodes of PD")["data"]
    colours = [{trace["name"]: trace["marker"]["color"] for trace in part} for part in (sides, levels)]
    assert colours[0] == colours[1] and len(set(colours[0].values())) == 2
    rows = table_with(app, "group", "verdict").iloc[0]
    assert rows["a_n"] == 40


def test_problems_link_to_both_conversations(review: ReviewApp) -> None:
    app = review.open("compare_conversations", **PAIR, env="CART", transition="broken")
    broken = [
        a["episode_id"]
        for a, b in zip(FIXED_A, FIXED_B, strict=True)
        if a["env"] == "CART" and a["end"]["correct"] and not b["end"]["correct"]
    ]
    table = table_with(app, "open_a", "reward_a")
    assert list(table["episode_a"]) == broken and broken
    assert table["open_b"][0] == f"conversations?rlve_run=fixed-b&conversation={broken[0]}"
    opened = review.open("conversations", rlve_run="fixed-b", conversation=broken[0])
    assert any(element.value.startswith("Failed") for element in opened.subheader)
    app = review.act(app, lambda page: page.segmented_control(key="transition").set_value("kept"))
    assert app.query_params["transition"] == "kept" and len(table_with(app, "open_a", "reward_a")) > 0


def test_foreign_catalogues_are_never_paired(review: ReviewApp) -> None:
    app = review.open("compare_conversations", rlve_baseline="fixed-a", rlve_against="foreign")
    assert "different catalogues or by different rules" in app.error[0].value
    told = metrics(app)
    assert "Fixed / broken" not in told and "Passed, B − A" in told
    assert "share no problem" in plain(app)
    settings = table_with(app, "field", "meaning").set_index("field")
    assert settings.loc["environment.catalogue_sha256", "meaning"] == "differs besides what is compared"


def test_another_voice_of_the_user_is_told_and_recorded_text_is_text(review: ReviewApp) -> None:
    app = review.open("compare_conversations", rlve_baseline="fixed-a", rlve_against="voiced")
    settings = table_with(app, "field", "meaning").set_index("field")
    assert settings.loc["user.provider", ["a", "b"]].tolist() == ["templates", "openai"]
    assert any("2 settings differ besides what is compared" in expander.label for expander in app.expander)
    assert_no_recorded_markup(app)
    assert_no_recorded_markup(
        review.open("compare_conversations", rlve_baseline="strange", rlve_against="voiced")
    )


def test_two_runs_of_the_curriculum_lead_here(review: ReviewApp) -> None:
    links = [
        element.proto.query_string
        for element in review.open("curriculum", rlve_runs=["good", "poor"]).get("page_link")
        if element.proto.label == "Compare these two runs"
    ]
    assert links == ["rlve_baseline=good&rlve_against=poor"]


def test_an_address_may_ask_for_what_is_not_there(review: ReviewApp) -> None:
    app = review.open("compare_conversations", rlve_baseline="nobody", rlve_against="fixed-b")
    notes = "\n".join(element.value for element in app.warning)
    assert "nobody" in notes and app.selectbox(key="rlve_against").value == "fixed-b"
    app = review.open("compare_conversations", rlve_baseline="fixed-a", rlve_against="fixed-a")
    assert "is A itself" in "\n".join(element.value for element in app.warning).replace("\\", "")
    app = review.open("compare_conversations", rlve_baseline="waiting", rlve_against="fixed-a")
    assert "has no episode with a verdict yet" in "\n".join(element.value for element in app.warning)


def test_without_a_common_difficulty_nothing_is_subtracted(tmp_path: Path) -> None:
    for name, level in (("easy", 1), ("hard", 7)):
        records = [conversation(k, "PD", level) for k in range(6)]
        write_conversations(tmp_path / "runs" / name, records, difficulty=level)
    app = ReviewApp(tmp_path).open("compare_conversations")
    assert "share no environment at one difficulty" in plain(app)
    assert not metrics(app) and "verdict" not in table_with(app, "a", "a_ci", "group")


@pytest.mark.parametrize(
    "runs, told", [(0, "No run of the conversation environments"), (1, "there is one: run-0")]
)
def test_none_and_one(tmp_path: Path, runs: int, told: str) -> None:
    (tmp_path / "runs").mkdir()
    for number in range(runs):
        write_conversations(tmp_path / "runs" / f"run-{number}", [conversation(0)])
        write_conversations(tmp_path / "runs" / f"waiting-{number}", [])
    assert told in plain(ReviewApp(tmp_path).open("compare_conversations"))


def test_the_sidebar_counts_both_families_and_reads_no_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any) -> None:
        raise AssertionError("a page of the other family read conversations")

    sample_run(tmp_path / "runs" / "shop", tasks=3)
    write_conversations(tmp_path / "runs" / "talk", GOOD[:5])
    write_conversations(tmp_path / "runs" / "talk-b", GOOD[:5])
    with monkeypatch.context() as patch:
        patch.setattr(lake_conversations, "read_episodes_file", refused)
        app = ReviewApp(tmp_path).open("overview")
        told = [element.value for element in app.sidebar.caption]
        assert "1 run, 1 with episodes, and 2 runs of conversations" in told
        app = ReviewApp(tmp_path, tmp_path / "runs" / "talk").open("overview")
        assert "1 run of conversations" in [element.value for element in app.sidebar.caption]
        assert "only runs of the conversation environments" in markup(app)
    assert not list((tmp_path / ".shopsim" / "lake").glob("conversations-*"))
    app = ReviewApp(tmp_path).open("compare_conversations")
    assert metrics(app)["Fixed / broken"] == "0 / 0"


def test_rounds_and_conversations_without_an_evaluation_run_are_both_told(tmp_path: Path) -> None:
    small_round(tmp_path / "runs" / "slime-training" / "round-000")
    write_conversations(tmp_path / "runs" / "talk", GOOD[:5])
    app = ReviewApp(tmp_path).open("overview")
    assert "1 training round and 1 run of conversations" in [element.value for element in app.sidebar.caption]
    assert "only training rounds and runs of the conversation environments" in plain(app)
    audit = ReviewApp(tmp_path).open("audit")
    assert any("1 run of conversations not audited" in element.value for element in audit.main.caption)
    more = tmp_path / "more"
    small_round(more / "slime-training" / "round-000")
    write_conversations(more / "talk", GOOD[:5])
    sample_run(more / "shop", tasks=3)
    app = ReviewApp(tmp_path, more).open("overview")
    told = "1 run, 1 with episodes, 1 training round, and 1 run of conversations"
    assert told in [element.value for element in app.sidebar.caption]
