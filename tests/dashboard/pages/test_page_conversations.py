"""The page Conversations: figures, filters, one conversation turn by turn, private parts, markup as text."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import dashboard.ui.conversations as ui_conversations
from shopsim.jsonl import LineWriter
from tests.factories.episode_pages import sent_text, shown_html
from tests.factories.review_pages import HOSTILE, ReviewApp, assert_no_recorded_markup, figure_of, markup
from tests.factories.rlve_review import conversation, sample_conversations, table_with, write_conversations

RECORDS = sample_conversations(60)


@pytest.fixture(scope="module")
def review(tmp_path_factory: pytest.TempPathFactory) -> ReviewApp:
    folder = tmp_path_factory.mktemp("conversations-page")
    write_conversations(folder / "runs" / "talk", RECORDS, requested=80)
    hostile = [conversation(k, correct=k == 0, text=HOSTILE) for k in range(2)]
    hostile[1]["end"]["verdict"]["parts"][HOSTILE] = 0.5
    hostile[1]["turns"][0] |= {"parse_error": HOSTILE, "response": HOSTILE}
    hostile[1]["env"] = hostile[1]["end"]["termination"] = HOSTILE
    hostile[0]["opening"]["told"] = hostile[0]["turns"][0]["action"]["tool_calls"][0]["name"] = HOSTILE
    hostile[0]["turns"][0]["user"]["act"] = HOSTILE
    write_conversations(folder / "runs" / "hostile", hostile, agent=HOSTILE)
    write_conversations(folder / "runs" / "waiting", [])
    return ReviewApp(folder)


def conversations(app: AppTest) -> list[str]:
    return list(table_with(app, "episode", "opening")["episode"])


def test_figures_of_a_run(review: ReviewApp) -> None:
    app = review.open("conversations", rlve_run="talk")
    passes = sum(record["end"]["correct"] for record in RECORDS)
    values = {element.label: element.value for element in app.metric}
    assert values["Passed"] == f"{100 * passes / 60:.1f}%"
    mean = sum(record["end"]["reward"]["total"] for record in RECORDS) / 60
    assert values["Mean reward"] == f"{mean:.3f}"
    text = markup(app).replace("\\", "")
    assert "n = 60" in text and "60 of 80 requested episodes" in text and "a script, no trained model" in text
    points = {trace["name"]: trace for trace in figure_of(app, "Mean reward")["data"]}
    assert set(points) == {"Total", "Task", "Efficiency", "Hallucination"}
    assert [row[1] for row in points["Total"]["customdata"]] == [20, 20, 20]
    segments = figure_of(app, "Share of endings")["data"]
    told = {(row[0], row[1]): row[2] for trace in segments for row in trace["customdata"]}
    limits = [r for r in RECORDS if r["end"]["termination"] == "turn_limit"]
    wanted = sum(r["env"] == "PD" and not r["end"]["reward"]["violation"] for r in limits)
    assert told["PD", "Turn limit"] == wanted
    assert sum(n for (_, name), n in told.items() if name == "Invalid call") == 4
    assert {"Ranking", "Units missing", "Status"} <= set(table_with(app, "share", "meaning")["part"])


@pytest.mark.parametrize("grouping", ["difficulty", "both"])
def test_rewards_by_difficulty(review: ReviewApp, grouping: str) -> None:
    app = review.open("conversations", rlve_run="talk", by=grouping)
    groups = {(grouping == "both" and record["env"], record["difficulty"]) for record in RECORDS}
    rewards = table_with(app, "group", "n")
    assert len(rewards) == len(groups) and rewards["n"].sum() == 60


def test_filters_are_in_the_address(review: ReviewApp) -> None:
    app = review.open("conversations", rlve_run="talk", env="CART", outcome="failed")
    wanted = [r for r in RECORDS if r["env"] == "CART" and not r["end"]["correct"]]
    assert conversations(app) == [str(record["episode"]) for record in wanted]
    app = review.act(app, lambda page: page.selectbox(key="part").set_value("missing_units"))
    assert app.query_params["part"] == "missing_units"
    short = [r for r in wanted if not r["end"]["verdict"]["correct"]]
    assert conversations(app) == [str(record["episode"]) for record in short]
    app = review.act(app, lambda page: page.text_input(key="said").set_value("KETTLE red"))
    assert app.query_params["said"] == "KETTLE red" and len(conversations(app)) == len(short)
    app = review.act(app, lambda page: page.text_input(key="said").set_value("kettle zebra"))
    assert "No conversation passes the filters" in markup(app)
    app = review.open("conversations", rlve_run="talk", ending="invalid_call")
    assert len(conversations(app)) == 4 and set(table_with(app, "episode", "opening")["reward"]) == {-1.0}


def test_one_conversation_and_its_neighbours(review: ReviewApp) -> None:
    app = review.open("conversations", rlve_run="talk", conversation="episode-000006")
    assert "Passed: reward 0.725" in [element.value for element in app.subheader]
    text, html = markup(app), "\n".join(shown_html(app))
    assert "User answers a question \\(clarify\\)" in text and "Agent, turn 2" in text
    assert "recommends P9: never shown by a tool" in html and "after turn 1" in html
    assert "1 never told: not held against the agent" in text
    assert any("catalog\\.search" in expander.label for expander in app.expander)
    app = review.act(app, lambda page: page.button(key="leaf-right").click())
    assert app.query_params["conversation"] == "episode-000007"
    app = review.act(app, lambda page: page.button(key="leaf-left").click())
    assert app.query_params["conversation"] == "episode-000006"


def test_the_private_goal_is_sent_only_when_asked_for(review: ReviewApp) -> None:
    app = review.open("conversations", rlve_run="talk", conversation="episode-000000")
    assert "P-TARGET" not in sent_text(app) and "Sotto voce" not in sent_text(app)
    app = review.act(app, lambda page: page.toggle(key="private").set_value(True))
    assert "P-TARGET" in sent_text(app) and "Sotto voce" in sent_text(app)
    assert app.query_params["private"] == "1"


def test_recorded_text_is_text(review: ReviewApp) -> None:
    for episode in ("episode-000000", "episode-000001"):
        assert_no_recorded_markup(
            review.open("conversations", rlve_run="hostile", conversation=episode, private="1")
        )


def test_a_run_that_is_written_can_be_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ui_conversations, "REFRESH_SECONDS", 0.0)
    run = write_conversations(tmp_path / "runs" / "talk", RECORDS[:4], requested=60)
    app = ReviewApp(tmp_path).open("conversations", live="1")
    assert any("4 episodes recorded. Looked at" in element.value for element in app.caption)
    with LineWriter(run / "rlve_episodes.jsonl") as writer:
        writer.append(RECORDS[4])
    app = ReviewApp(tmp_path).act(app, lambda page: None)
    assert any("5 episodes recorded. Looked at" in element.value for element in app.caption)
    assert len(conversations(app)) == 5


def test_links_to_what_is_not_there_say_so(review: ReviewApp) -> None:
    app = review.open("conversations", rlve_run="nobody", conversation="episode-000099")
    notes = "\n".join(element.value for element in app.warning)
    assert "nobody" in notes and "is no episode of this run" in notes
    app = review.open("conversations", rlve_run="talk", env="PD", conversation="episode-000001")
    assert "not among the conversations" in "\n".join(element.value for element in app.warning)


def test_a_run_without_episodes_and_no_run_at_all(review: ReviewApp, tmp_path: Path) -> None:
    assert "no episode with a verdict yet" in markup(review.open("conversations", rlve_run="waiting"))
    for page in ("conversations", "curriculum"):
        text = markup(ReviewApp(tmp_path, tmp_path).open(page))
        assert "No run of the conversation environments found" in text
        assert "`shopsim rlve rollout --agent" in text


def test_the_first_page_knows_of_conversations_alone(review: ReviewApp) -> None:
    assert "only runs of the conversation environments" in markup(review.open("overview"))
