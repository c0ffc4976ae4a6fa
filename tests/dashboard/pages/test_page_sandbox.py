"""The sandbox page: a whole play, its address, what stays hidden, what may be typed, saving."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.lake import Lake
from shopsim.rollout.trace import read_records
from shopsim.settings import Settings
from tests.factories.episode_pages import no_exception, open_page, sent_text, shown_html, use_workspace
from tests.factories.tiny_workspace import tiny_workspace

GOAL = {
    "asin": "600000000001",
    "name": "冰点家 迷你小冰箱 BX-50L",
    "instruction": "颜色要月光白，官方标配",
    "option": "官方标配",
}
"""Task 0 in persona mode: what the shopper's wish does not say."""

BUY = ["search[迷你小冰箱]", "click[600000000001]", "click[颜色分类=月光白]", "click[套餐类型=官方标配]"]
BUY += ["click[buy now]"]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    settings = tiny_workspace(tmp_path)
    use_workspace(monkeypatch, tmp_path)
    return settings


def send(app: AppTest, action: str) -> AppTest:
    """Type a canonical action and send it."""
    field = next(field for field in app.text_input if str(field.key).startswith("typed-action"))
    field.set_value(action)
    next(button for button in app.button if button.label == "Send").click()
    return no_exception(app.run())


def press(app: AppTest, label: str) -> AppTest:
    """Press the button of that label."""
    next(button for button in app.button if button.label == label).click()
    return no_exception(app.run())


def figures(app: AppTest) -> dict[str, str]:
    """The counters of the play."""
    return {metric.label: metric.value for metric in app.metric}


def taken(app: AppTest) -> list[str]:
    """The actions in the address."""
    value = app.query_params.get("act", [])
    return [value] if isinstance(value, str) else list(value)


def test_a_play_by_the_forms_up_to_an_explained_reward(settings: Settings) -> None:
    app = open_page("sandbox", task="0")
    assert "想给宿舍买一台小冰箱，白色的，300元以内" in sent_text(app)
    assert figures(app) == {"Actions left": "30", "Taken": "0"}
    next(field for field in app.text_input if field.label == "Search").set_value("迷你小冰箱")
    press(app, "Search")
    assert taken(app) == ["search[迷你小冰箱]"]
    for value in ("600000000001", "颜色分类=月光白", "套餐类型=官方标配", "buy now"):
        next(box for box in app.selectbox if box.label.startswith("Click")).set_value(value)
        press(app, "Click")
    assert taken(app) == BUY
    assert figures(app) == {"Actions left": "25", "Taken": "5"}
    assert [heading.value for heading in app.subheader] == ["Success: strict reward 1.000"]
    told = "".join(shown_html(app))
    for text in ("2 of 2 wanted attributes met", "2 of 2 wanted options met", "budget 300: within"):
        assert text in told
    assert GOAL["name"] in told and GOAL["instruction"] in sent_text(app)


def test_the_goal_stays_hidden_until_the_end(settings: Settings) -> None:
    app = open_page("sandbox", task="0")
    for action in ("", "search[洗衣皂]", "click[600000000007]", "click[nothing]"):
        if action:
            send(app, action)
        text = sent_text(app)
        assert "小冰箱" in text  # what the shopper says is there, so the text is the page's
        for name, secret in GOAL.items():
            assert secret not in text, (action, name)
    send(app, "click[buy now]")
    text = sent_text(app)
    assert all(secret in text for secret in GOAL.values())


def test_a_link_replays_the_play(settings: Settings) -> None:
    app = open_page("sandbox", task="0", act=BUY)
    assert [heading.value for heading in app.subheader] == ["Success: strict reward 1.000"]
    assert figures(app)["Taken"] == "5"
    app = open_page("sandbox", task="0", act=BUY[:2])
    assert "规格选择" in sent_text(app) and not app.subheader


def test_blank_and_superfluous_actions_of_a_link_do_nothing(settings: Settings) -> None:
    app = open_page("sandbox", task="0", act=["", "  ", *BUY, "click[buy now]", "search[x]"])
    assert figures(app)["Taken"] == "5"
    assert taken(app) == BUY


def test_undo_and_start_over(settings: Settings) -> None:
    app = open_page("sandbox", task="0", act=BUY)
    press(app, "Take back the last action")
    assert taken(app) == BUY[:4] and figures(app)["Actions left"] == "26" and not app.subheader
    press(app, "Start over")
    assert taken(app) == [] and figures(app)["Actions left"] == "30"


def test_changing_the_task_starts_a_fresh_play(settings: Settings) -> None:
    app = open_page("sandbox", task="0", act=BUY[:1])
    next(box for box in app.selectbox if box.label.startswith("Task (")).set_value(7)
    no_exception(app.run())
    assert taken(app) == [] and figures(app)["Taken"] == "0"
    assert app.query_params["task"] in ("7", ["7"])
    assert "买点天然皂角的洗衣皂" in sent_text(app)


def test_a_link_to_another_task_with_the_same_actions_replays_them(settings: Settings) -> None:
    app = open_page("sandbox", task="0", act=["search[洗衣皂]"])
    app.query_params["task"] = "7"
    no_exception(app.run())
    assert taken(app) == ["search[洗衣皂]"] and figures(app)["Taken"] == "1"


def test_a_task_of_another_split_is_opened_by_its_link(settings: Settings) -> None:
    app = open_page("sandbox", task="3")
    assert "想买明前龙井" in sent_text(app)


@pytest.mark.parametrize("asked", ["999", "²", "-1", "x" * 300, "<b>1</b>"])
def test_an_unknown_task_in_the_address_is_named(settings: Settings, asked: str) -> None:
    app = open_page("sandbox", task=asked)
    notes = [note.value for note in app.warning if "Shown instead" in note.value]
    assert len(notes) == 1 and "The catalogue has no task" in notes[0] and "Shown instead: 0" in notes[0]
    assert figures(app)["Taken"] == "0"


def test_persona_mode_off_gives_the_full_instruction(settings: Settings) -> None:
    assert GOAL["instruction"] in sent_text(open_page("sandbox", task="0", persona="0"))


@pytest.mark.parametrize(
    "action",
    [
        "click[a], click[b]",
        "<script>alert(1)</script>",
        "**bold** [link](http://example.com) :red[x]",
        "search[" + "长" * 5000 + "]",
        "click[</div><img src=x onerror=alert(1)>]",
        "search[\x00\u202e]",
        "[[[",
    ],
)
def test_hostile_actions_are_answered_as_text_and_cost_one_action(settings: Settings, action: str) -> None:
    app = send(open_page("sandbox", task="0"), action)
    assert figures(app) == {"Actions left": "29", "Taken": "1"}
    for body in shown_html(app):
        assert "<script" not in body and "<img" not in body
    for note in (*app.warning, *app.success):
        assert not re.search(r"(?<!\\)[<*]", note.value)  # every one escaped for Markdown


def test_a_blank_action_costs_nothing(settings: Settings) -> None:
    assert figures(send(open_page("sandbox", task="0"), "   "))["Taken"] == "0"


def test_the_budget_ends_the_play(settings: Settings) -> None:
    app = open_page("sandbox", task="0", act=["search[皂]", *["click[x]"] * 40])
    assert figures(app) == {"Actions left": "0", "Taken": "30"}
    assert app.subheader[0].value == "No success: strict reward 0.000"
    assert any(caption.value.startswith("Nothing was bought") for caption in app.caption)


def test_saving_makes_an_episode_of_a_sandbox_run(settings: Settings) -> None:
    app = open_page("sandbox", task="0", act=BUY)
    next(field for field in app.text_input if field.key == "save-name").set_value("ada")
    press(app, "Save play")
    assert [note.value for note in app.success][-1].startswith("Saved as task\\-000000")
    assert "Save play" not in [button.label for button in app.button]
    lake = Lake([settings.runs_root], settings.workspace / "another-lake")
    lake.refresh()
    assert list(lake.query("runs")["run_id"]) == ["sandbox-ada"]
    record = lake.episode_record("sandbox-ada", "task-000000__sample-000")
    assert record["final"]["reward"] == 1.0 and len(record["steps"]) == 5
    replay = open_page("replay", run="sandbox-ada", episode="task-000000__sample-000")
    assert replay.subheader[0].value == "Success: strict reward 1.000"
    assert any("played by a person" in caption.value for caption in replay.caption)


def test_a_finished_link_saves_one_play(settings: Settings) -> None:
    for said in ("Saved as task\\-000000", "This play was there already, as task\\-000000"):
        app = open_page("sandbox", task="0", act=BUY)  # a session of its own
        next(field for field in app.text_input if field.key == "save-name").set_value("ada")
        press(app, "Save play")
        assert [note.value for note in app.success][-1].startswith(said)
    assert len(read_records(settings.runs_root / "sandbox-ada" / "traces.jsonl").entries) == 1


@pytest.mark.parametrize("name", ["../up", "", "   "])
def test_an_unusable_name_is_refused_in_one_line(settings: Settings, name: str) -> None:
    app = open_page("sandbox", task="0", act=BUY)
    next(field for field in app.text_input if field.key == "save-name").set_value(name)
    press(app, "Save play")
    assert len(app.error) == 1 and "\n" not in app.error[0].value
    assert not settings.runs_root.exists() or not list(settings.runs_root.glob("*"))


def test_an_unprepared_workspace_says_what_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_workspace(monkeypatch, tmp_path)
    app = open_page("sandbox")
    assert len(app.error) == 1 and "shopsim prepare" in app.error[0].value
