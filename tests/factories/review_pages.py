"""The review app over a temporary workspace, driven by Streamlit's AppTest, and readings to check it with."""

from __future__ import annotations

import base64
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from shopsim.rollout.summary import summarize
from shopsim.rollout.trace import is_complete, read_records
from tests.factories.traces import episode_record, sample_run, write_run

__all__ = [
    "HOSTILE",
    "ReviewApp",
    "assert_no_recorded_markup",
    "completed",
    "figure_of",
    "hostile_records",
    "latest",
    "markup",
    "review_workspace",
    "with_hostile_text",
]

APP = Path(__file__).parents[2] / "dashboard" / "app.py"
HOSTILE = "<img src=x onerror=alert(1)> **bold** [link](http://x) :smile: $x$ ~~s~~ # h"


class ReviewApp:
    """Opens pages of the app with ``roots`` as run folders and its lake below ``workspace``."""

    def __init__(self, workspace: Path, *roots: Path) -> None:
        if not (workspace / "configs").is_dir():
            (workspace / "configs").mkdir(parents=True)
            (workspace / "configs" / "shopsim.toml").write_text("", encoding="utf-8")
        self.variables = {
            "SHOPSIM_HOME": str(workspace),
            "SHOPSIM_ROOTS": os.pathsep.join(map(str, roots or (workspace / "runs",))),
            "SHOPSIM_LAKE": str(workspace / ".shopsim" / "lake"),
        }

    def open(self, page: str, **params: str | list[str]) -> AppTest:
        """Run ``page`` in a new session with the query parameters ``params``; it must not raise."""
        app = AppTest.from_file(str(APP), default_timeout=60)
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.variables.items():
                patch.setenv(name, value)
            app.switch_page(f"pages/{page}.py")
            app.query_params.update(params)
            app.run()
        assert not app.exception, [error.message for error in app.exception]
        return app

    def act(self, app: AppTest, action: Callable[[AppTest], Any]) -> AppTest:
        """Let ``action`` change widgets of an opened page and run the page again."""
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.variables.items():
                patch.setenv(name, value)
            action(app)
            app.run()
        assert not app.exception, [error.message for error in app.exception]
        return app


def latest(run: Path) -> list[dict[str, Any]]:
    """The winning records of a run folder, read in plain Python."""
    return list(read_records(run / "traces.jsonl").latest())


def completed(run: Path) -> list[dict[str, Any]]:
    """The complete ones of :func:`latest`."""
    return [record for record in latest(run) if is_complete(record)]


def figure_of(app: AppTest, alt: str) -> dict[str, Any]:
    """The Plotly figure whose description starts with ``alt``, as plain lists and numbers."""
    for element in app.get("plotly_chart"):
        if element.proto.alt.startswith(alt):
            figure: dict[str, Any] = _decoded(json.loads(element.proto.spec))
            return figure
    raise AssertionError(f"no figure {alt!r}")


def review_workspace(folder: Path) -> ReviewApp:
    """Runs of every kind: two iterations, markup everywhere, a summary alone, a broken one."""
    runs = folder / "runs"
    sample_run(runs / "demo-iter00", tasks=24, success=0.3, seed=1, checkpoint="iter00")
    sample_run(runs / "demo-iter80", tasks=24, success=0.7, seed=2, checkpoint="iter80", pending=3)
    write_run(runs / HOSTILE.replace("/", "|"), hostile_records(), model={"provider": "scripted"})
    summary = summarize(latest(runs / "demo-iter80"))
    (runs / "summary-alone").mkdir()
    (runs / "summary-alone" / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    (runs / "broken").mkdir()
    (runs / "broken" / "manifest.json").write_text("{nothing", encoding="utf-8")
    (runs / "broken" / "traces.jsonl").write_text('no json\n{"x": 1}\n', encoding="utf-8")
    return ReviewApp(folder)


def hostile_records() -> list[dict[str, Any]]:
    """Episodes with markup in every text, one without a valid reward, one recorded twice."""
    outcomes = ["success", "wrong_option", "missing_attribute", "failed", "action_limit", "success"]
    records = [with_hostile_text(episode_record(k, outcome=outcome)) for k, outcome in enumerate(outcomes)]
    records[0]["final"]["reward"] = math.nan
    records[0]["final"]["reward_detail"]["r_strict"] = "1.0"
    return [*records, records[1]]


def markup(app: AppTest) -> str:
    """Everything that the page hands to a Markdown renderer."""
    return "\n".join(_markup(app))


def with_hostile_text(record: Mapping[str, Any]) -> dict[str, Any]:
    """The episode with markup in every text that a page shows of it."""
    changed: dict[str, Any] = json.loads(json.dumps(record))
    changed["reset"]["task_instruction"] = HOSTILE
    final = changed["final"]
    if final is not None:
        final["goal"] |= {"name": HOSTILE, "instruction_text": HOSTILE, "category": f"{HOSTILE}›x"}
        final["goal"] |= {"attributes": [HOSTILE, "x"], "goal_options": [HOSTILE, "XL"]}
    if changed["error"] is not None:
        changed["error"] |= {"stage": HOSTILE, "type": HOSTILE, "message": HOSTILE}
    return changed


def assert_no_recorded_markup(app: AppTest) -> None:
    """Fail when a piece of :data:`HOSTILE` reaches a renderer as markup."""
    text = markup(app)
    assert "<img" not in text
    assert not any("<img" in element.proto.body for element in app.get("html"))
    for element in app.get("plotly_chart"):
        figure = json.loads(element.proto.spec)
        for trace in figure["data"]:
            trace.pop("customdata", None)  # what a click hands back; never drawn
        assert "<img" not in str(figure)
    for piece in ("**bold", "[link](", ":smile:", "$x$"):
        place = text.find(piece)
        assert place < 0 or text[place - 1] == "\\", text[max(place - 60, 0) : place + 60]


def _markup(app: AppTest) -> Iterator[str]:
    for kind in ("title", "subheader", "markdown", "caption", "info", "warning", "error", "success"):
        for element in app.get(kind):
            yield str(element.value)
    for element in app.get("page_link"):
        yield str(element.proto.label)
    for expander in app.expander:
        yield expander.label


def _decoded(value: Any) -> Any:
    """Plotly writes number arrays as base64: give lists instead."""
    if isinstance(value, dict) and {"dtype", "bdata"} <= set(value):
        flat = np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"])
        shape = [int(part) for part in str(value.get("shape", flat.size)).split(",")]
        return flat.reshape(shape).tolist()
    if isinstance(value, dict):
        return {key: _decoded(inner) for key, inner in value.items()}
    return [_decoded(inner) for inner in value] if isinstance(value, list) else value
