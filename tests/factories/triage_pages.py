"""The pages Triage and Find in Streamlit's test harness, in sessions of named reviewers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.factories.review_pages import ReviewApp

__all__ = ["ReviewSession", "ReviewerApp"]

APP = Path(__file__).parents[2] / "dashboard" / "app.py"


class ReviewerApp(ReviewApp):
    """Opens pages as somebody: the name is set as if it had been typed on an earlier page."""

    def session(self, page: str, reviewer: str | None = None, /, **params: str | list[str]) -> ReviewSession:
        """A new browser session on ``page``."""
        app = AppTest.from_file(str(APP), default_timeout=60)
        if reviewer is not None:
            app.session_state["reviewer"] = reviewer
        app.switch_page(f"pages/{page}.py")
        app.query_params.update(params)
        return ReviewSession(self, app).run()


class ReviewSession:
    """One session; every action runs the page again and must not raise."""

    def __init__(self, home: ReviewApp, app: AppTest) -> None:
        self.home, self.app = home, app

    def run(self) -> ReviewSession:
        """Run the page as it is."""
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.home.variables.items():
                patch.setenv(name, value)
            self.app.run()
        assert not self.app.exception, [error.message for error in self.app.exception]
        return self

    def click(self, label: str) -> ReviewSession:
        """Press the button with that label."""
        self.button(label).click()
        return self.run()

    def button(self, label: str) -> Any:
        """The button with that label."""
        return next(button for button in self.app.button if button.label == label)

    def has_button(self, label: str) -> bool:
        """Whether there is such a button."""
        return any(button.label == label for button in self.app.button)

    def choose(self, label: str, value: Any) -> ReviewSession:
        """Set pills, a segmented control or a selectbox."""
        widgets = [*self.app.button_group, *self.app.selectbox]
        next(widget for widget in widgets if widget.label == label).set_value(value)
        return self.run()

    def chosen(self, label: str) -> Any:
        """What pills, a segmented control or a selectbox say."""
        widgets = [*self.app.button_group, *self.app.selectbox]
        return next(widget for widget in widgets if widget.label == label).value

    def type(self, label: str, text: str) -> ReviewSession:
        """Fill a text field or area."""
        fields = [*self.app.text_area, *self.app.text_input]
        next(field for field in fields if field.label == label).set_value(text)
        return self.run()

    def typed(self, label: str) -> str:
        """What a text field or area holds."""
        fields = [*self.app.text_area, *self.app.text_input]
        return str(next(field for field in fields if field.label == label).value)

    @property
    def place(self) -> tuple[str | None, str | None]:
        """Run and episode of the address."""
        params = self.app.query_params
        run, episode = params.get("run"), params.get("episode")
        return (_first(run), _first(episode))

    @property
    def captions(self) -> list[str]:
        """The small texts of the page."""
        return [str(element.value) for element in self.app.main.get("caption")]

    @property
    def warnings(self) -> list[str]:
        """The warnings of the page."""
        return [str(element.value) for element in self.app.warning]

    @property
    def infos(self) -> list[str]:
        """The notes of the page."""
        return [str(element.value) for element in self.app.info]

    @property
    def errors(self) -> list[str]:
        """The errors of the page."""
        return [str(element.value) for element in self.app.error]

    @property
    def progress(self) -> str:
        """The text of the progress bar."""
        return str(self.app.get("progress")[0].proto.text)

    @property
    def html(self) -> str:
        """The bodies of all HTML elements of the main part."""
        return os.linesep.join(element.proto.body for element in self.app.main.get("html"))

    def table(self, column: str) -> Any:
        """The first table that has that column."""
        return next(element.value for element in self.app.dataframe if column in element.value.columns)


def _first(value: Any) -> str | None:
    return value[0] if isinstance(value, list) else value
