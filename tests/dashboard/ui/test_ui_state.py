"""Widgets bound to the address: seeded by it, written to it, kept across pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.query_params import QueryParams
from streamlit.testing.v1 import AppTest

MAIN = """
import streamlit as st
from dashboard.ui import state
pages = {name: st.Page(f"views/{name}.py", url_path=name, default=name == "one") for name in ("one", "two")}
page = st.navigation(list(pages.values()), position="hidden")
state.open_page(next(name for name, entry in pages.items() if entry == page))
page.run()
if not st.session_state.get("cut"):
    state.write_address()
"""
ONE = """
import streamlit as st
from dashboard.ui import state
options = st.session_state.get("offer", ["a", "b", "c"])
state.choices("Runs", options, key="runs")
state.choice("Domain", ["x", "y", "z"], key="domain", default="y")
state.choice("Look", ["p", "q"], key="look", look="segmented")
state.choice("Number", [1, 2, 3], key="pick")
state.text("Text", key="text")
state.number("Steps", key="steps", default=5, minimum=1, maximum=9)
state.toggle("Only failed", key="failed")
st.button("next", on_click=state.put, args=("domain", "z"))
st.button("forget", on_click=state.put, args=("domain", None))
def several():
    for key, value in (("domain", "z"), ("steps", 7), ("text", None), ("pick", None)):
        state.put(key, value)
st.button("several", on_click=several)
if st.session_state.get("early"):
    state.stop()
"""
TWO = """
import streamlit as st
from dashboard.ui import state
state.choices("Runs", ["a", "b", "c"], key="runs")
st.session_state["link"] = state.page_params("one", domain="x", text=None)
st.session_state["peeked"] = (state.peek("domain", "none"), state.peek("unknown", "none"))
state.remember("episode", "e1", "")
"""


@pytest.fixture
def app(tmp_path: Path) -> AppTest:
    (tmp_path / "views").mkdir()
    (tmp_path / "main.py").write_text(MAIN, encoding="utf-8")
    (tmp_path / "views" / "one.py").write_text(ONE, encoding="utf-8")
    (tmp_path / "views" / "two.py").write_text(TWO, encoding="utf-8")
    return AppTest.from_file(str(tmp_path / "main.py"), default_timeout=20)


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was sent to the browser's history, one address an entry."""
    sent: list[str] = []
    send = QueryParams._send_query_param_msg

    def note(params: QueryParams) -> None:
        send(params)
        sent.append(str(get_script_run_ctx().query_string))  # type: ignore[union-attr]

    monkeypatch.setattr(QueryParams, "_send_query_param_msg", note)
    return sent


def values(app: AppTest) -> dict[str, object]:
    keys = ("runs", "domain", "look", "pick", "text", "steps", "failed")
    return {key: app.session_state[key] for key in keys}


DEFAULTS = {
    "runs": [],
    "domain": "y",
    "look": "p",
    "pick": 1,
    "text": "",
    "steps": 5,
    "failed": False,
}
OTHERS = {
    "runs": ["b", "c"],
    "domain": "x",
    "look": "q",
    "pick": 3,
    "text": "找 <b>",
    "steps": 7,
    "failed": True,
}
ADDRESS = {
    "runs": ["b", "c"],
    "domain": "x",
    "look": "q",
    "pick": "3",
    "text": "找 <b>",
    "steps": "7",
    "failed": "1",
}


def test_defaults_leave_the_address_empty(app: AppTest) -> None:
    app.run()
    assert values(app) == DEFAULTS and app.query_params == {}


def test_the_address_seeds_every_widget(app: AppTest) -> None:
    app.query_params.update(ADDRESS)
    app.run()
    assert values(app) == OTHERS and app.query_params == ADDRESS


def test_widgets_write_the_address_and_defaults_clear_it(app: AppTest) -> None:
    app.run()
    app.multiselect(key="runs").set_value(["b", "c"])
    app.selectbox(key="domain").set_value("x")
    app.segmented_control(key="look").set_value("q")
    app.selectbox(key="pick").set_value(3)
    app.text_input(key="text").set_value("找 <b>")
    app.number_input(key="steps").set_value(7)
    app.toggle(key="failed").set_value(True)
    app.run()
    assert values(app) == OTHERS and app.query_params == ADDRESS
    app.multiselect(key="runs").set_value([])
    app.selectbox(key="domain").set_value("y")
    app.toggle(key="failed").set_value(False)
    app.run()
    assert set(app.query_params) == {"look", "pick", "text", "steps"}


@pytest.mark.parametrize(
    ("key", "raw", "expected"),
    [
        ("runs", ["gone", "b", "b"], ["b"]),
        ("runs", "gone", []),
        ("domain", "gone", "y"),
        ("pick", "x", 1),
        ("steps", "99", 9),
        ("steps", "x", 5),
        ("failed", "0", False),
    ],
)
def test_what_the_address_may_not_say_is_ignored(
    app: AppTest, key: str, raw: str | list[str], expected: object
) -> None:
    app.query_params[key] = raw
    app.run()
    assert app.session_state[key] == expected
    wanted = {**DEFAULTS, key: expected}
    assert values(app) == wanted
    assert (key in app.query_params) == (expected != DEFAULTS[key])


def test_a_left_page_comes_back_as_it_was_left(app: AppTest) -> None:
    app.query_params.update(ADDRESS)
    app.run()
    app.query_params.clear()
    app.switch_page("views/two.py").run()
    assert app.multiselect(key="runs").value == ["b", "c"]  # one key, one meaning, on every page
    assert app.query_params == {"runs": ["b", "c"], "episode": "e1"}
    app.query_params.clear()
    app.switch_page("views/one.py").run()
    assert values(app) == OTHERS and app.query_params == ADDRESS


def test_a_link_carries_the_whole_state_of_its_page(app: AppTest) -> None:
    app.query_params.update(ADDRESS)
    app.run()
    app.query_params.clear()
    app.switch_page("views/two.py").run()
    expected = {key: [raw] if isinstance(raw, str) else raw for key, raw in ADDRESS.items()}
    del expected["text"]
    assert app.session_state["link"] == expected
    assert app.session_state["peeked"] == ("x", "none")


def test_a_link_wins_over_what_was_left(app: AppTest) -> None:
    app.query_params.update(ADDRESS)
    app.run()
    app.query_params.clear()
    app.query_params.update({"domain": "z", "runs": "a"})
    app.run()
    assert app.session_state["domain"] == "z" and app.session_state["runs"] == ["a"]
    assert app.session_state["text"] == "找 <b>"


def test_refreshed_data_keep_the_choice_that_is_still_offered(app: AppTest) -> None:
    app.query_params["runs"] = ["a", "c"]
    app.run()
    app.session_state["offer"] = ["0", "b", "c"]
    app.run()
    assert app.multiselect(key="runs").value == ["c"] and app.query_params["runs"] == "c"


def test_buttons_set_and_forget(app: AppTest) -> None:
    app.run()
    app.button[0].click().run()
    assert app.selectbox(key="domain").value == "z" and app.query_params == {"domain": "z"}
    app.button[1].click().run()
    assert app.selectbox(key="domain").value == "y" and app.query_params == {}


def test_one_action_is_one_entry_of_the_history(app: AppTest, entries: list[str]) -> None:
    app.query_params.update({"domain": "x", "text": "a", "pick": "3"})
    app.run()
    assert entries == []  # a link that says it all needs no correction
    app.button[2].click().run()
    assert app.query_params == {"domain": "z", "steps": "7"}
    assert entries == ["domain=z&steps=7"]
    app.session_state["offer"] = ["a"]
    app.query_params["runs"] = ["a", "gone"]
    app.query_params["pick"] = "9"
    app.run()
    assert entries[1:] == ["domain=z&steps=7&runs=a"]  # what the address may not say goes at once


def test_a_run_cut_short_leaves_its_changes_to_the_next(app: AppTest, entries: list[str]) -> None:
    app.run()
    app.session_state["cut"] = True
    app.button[2].click().run()
    assert app.query_params == {} and entries == []
    app.session_state["cut"] = False
    app.run()
    assert entries == ["domain=z&steps=7"] and app.selectbox(key="domain").value == "z"


def test_changes_of_a_run_cut_short_do_not_follow_to_another_address(
    app: AppTest, entries: list[str]
) -> None:
    app.run()
    app.session_state["cut"] = True
    app.button[2].click().run()
    app.session_state["cut"] = False
    app.query_params["domain"] = "x"
    app.run()
    assert app.selectbox(key="domain").value == "x" and app.query_params["domain"] == "x"


def test_a_page_that_ends_early_still_writes_its_address(app: AppTest, entries: list[str]) -> None:
    app.session_state["early"] = True
    app.query_params["domain"] = "gone"
    app.run()
    assert app.query_params == {} and entries == [""]
