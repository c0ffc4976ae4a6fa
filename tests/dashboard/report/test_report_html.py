"""Standalone reports: complete in one file, right figures, recorded markup shown as text."""

from __future__ import annotations

import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from dashboard.analysis.intervals import wilson_interval
from dashboard.cli import app
from dashboard.lake import Lake
from dashboard.lake.pairs import compare_runs
from dashboard.report import comparison_report, run_report
from dashboard.review import ReviewStore, Verdict, episode_target
from dashboard.review.taxonomy import Label, Taxonomy
from shopsim.cli.process import run_app
from shopsim.rollout.summary import summarize
from shopsim.rollout.trace import read_records
from tests.factories.review_pages import with_hostile_text
from tests.factories.tiny_workspace import tiny_workspace
from tests.factories.traces import episode_record, sample_run, write_run

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> **b** {{ 7*7 }}"
RUN = HOSTILE.replace("/", "|")
LABELS = Taxonomy([Label(key="looping", name="<i>In circles</i>", description="Says <b>so</b>")])


class Document(HTMLParser):
    """The elements of a document, its plain text, and the data of its figures."""

    def __init__(self, data: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(data.decode("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts.append(data)
        elif self._inside != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        return "\n".join(part.strip() for part in self.texts if part.strip())

    @property
    def figures(self) -> list[dict[str, Any]]:
        return [json.loads(script) for script in self.scripts if script.startswith("{")]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    folder = tmp_path_factory.mktemp("report")
    runs = folder / "runs"
    sample_run(runs / "before", tasks=20, success=0.3, seed=1, checkpoint="iter00")
    sample_run(runs / "after", tasks=20, success=0.7, seed=1, checkpoint="iter80")
    outcomes = ["success", "wrong_option", "failed", "action_limit"]
    hostile = [with_hostile_text(episode_record(10 * k, outcome=kind)) for k, kind in enumerate(outcomes)]
    for record in hostile:
        record["reset"]["task_instruction"] = HOSTILE
    write_run(runs / RUN, hostile, model_id=HOSTILE, pending=1)
    summary = summarize(read_records(runs / "after" / "traces.jsonl").latest())
    (runs / "alone").mkdir()
    (runs / "alone" / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    (runs / "broken").mkdir()
    (runs / "broken" / "traces.jsonl").write_text("no json\n", encoding="utf-8")
    return Lake([runs], folder / "lake")


@pytest.fixture
def store(tmp_path: Path) -> ReviewStore:
    return ReviewStore(tmp_path / "reviews.sqlite")


def checked(data: bytes) -> Document:
    """The document, after checking that it loads nothing and holds no markup but its own."""
    document = Document(data)
    kinds = {tag for tag, _ in document.tags}
    assert not kinds & {"img", "link", "iframe", "object", "b", "i", "form", "input", "a"}
    assert not any(
        {"src", "href", "onerror", "onload", "onclick"} & set(attributes) for _, attributes in document.tags
    )
    policy = next(a["content"] for tag, a in document.tags if tag == "meta" and a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert len(document.scripts) == len(document.figures) + 2
    return document


def test_a_run_tells_its_figures(lake: Lake, store: ReviewStore) -> None:
    document = checked(run_report(lake, "after", store, LABELS))
    summary = summarize(read_records(lake.run("after").path / "traces.jsonl").latest())
    assert f"{summary['primary']['reward_mean']:.4f}" in document.text
    assert f"{100 * summary['primary']['success_rate']:.2f}%" in document.text
    assert f"n = {summary['counts']['scored']}" in document.text
    assert f"n = {summary['behavior']['model_steps']} steps" in document.text
    scored = summary["counts"]["scored"]
    low, high = (float(end) for end in wilson_interval(summary["primary"]["success_rate"] * scored, scored))
    assert f"[{100 * low:.1f}, {100 * high:.1f}]%" in document.text  # at the top
    assert f"[{low:.3f}, {high:.3f}]" in document.text  # and the same in the table
    failures = summary["counts"]["trace_files"] - round(
        summary["primary"]["success_rate"] * summary["counts"]["scored"]
    )
    assert f"Failures ({failures})" in document.text
    assert len(document.figures) == 4
    assert "What reviewers say" not in document.text
    for reason, number in summary["behavior"]["termination_reasons"].items():
        assert re.search(rf"{reason}\n{number}\n", document.text)


def test_verdicts_are_counted(lake: Lake, store: ReviewStore) -> None:
    failures = [row for row in lake.records("triage_episodes", run_ids=["after"]) if not row["success"]]
    for place, name in ((0, "Ann"), (0, "Bob"), (1, "Ann")):
        row = failures[place]
        target = episode_target("after", row["episode_id"], task_id=row["task_id"], record=row["record"])
        store.record(target, name, Verdict(("looping",)), expected=0)
    document = checked(run_report(lake, "after", store, LABELS))
    assert f"2 of {len(failures)} failures reviewed, 3 verdicts by 2 reviewers." in document.text
    assert "<i>In circles</i>\n2\nSays <b>so</b>" in document.text


def test_hostile_texts_are_texts(lake: Lake, store: ReviewStore) -> None:
    data = run_report(lake, RUN, store, LABELS)
    document = checked(data)
    assert f"<h1>{html.escape(RUN)}</h1>" in data.decode().replace("&#39;", "&#x27;").replace(
        "&#34;", "&quot;"
    )
    assert HOSTILE in document.text
    assert "{{ 7*7 }}" in document.text
    comparison = checked(comparison_report(lake, compare_runs(lake, "before", RUN)))
    assert HOSTILE in comparison.text  # a setting that differs
    for figure in (*document.figures, *comparison.figures):
        drawn = json.dumps(
            [{k: v for k, v in trace.items() if k != "customdata"} for trace in figure["data"]]
        )
        assert "<script" not in drawn
        assert "<img" not in drawn


def test_runs_without_episodes_have_reports_too(lake: Lake, store: ReviewStore) -> None:
    alone = checked(run_report(lake, "alone", store, LABELS))
    assert "summary only" in alone.text
    assert "Failures" not in alone.text
    broken = checked(run_report(lake, "broken", store, LABELS))
    assert "in the files" in broken.text
    assert "None: every recorded episode succeeded." in broken.text or "Failures" in broken.text


def test_no_path_of_this_machine_gets_out(lake: Lake, store: ReviewStore) -> None:
    for data in (
        run_report(lake, "broken", store, LABELS),
        run_report(lake, "after", store, LABELS),
        comparison_report(lake, compare_runs(lake, "before", "after")),
    ):
        assert str(lake.roots[0]).encode() not in data


def test_a_comparison_tells_its_figures(lake: Lake) -> None:
    result = compare_runs(lake, "before", "after", bootstrap="published")
    document = checked(comparison_report(lake, result))
    success = result.comparison.metric("r_success")
    assert success is not None
    assert success.interval is not None
    ends = f"[{100 * success.interval.low:+.2f}, {100 * success.interval.high:+.2f}] points"
    for difference in (f"{100 * success.difference:+.2f} points", ends):
        assert difference.replace("-", "−") in document.text
    assert f"{100 * success.mean_a:.2f}% → {100 * success.mean_b:.2f}%" in document.text
    counts = result.comparison.transitions
    assert f"{counts['fixed']} / {counts['broken']}" in document.text
    assert f"Fixed by B ({counts['fixed']})" in document.text
    assert len(document.figures) == 2
    fixed = result.pairing.pairs.query("transition == 'fixed'")
    for task in fixed["task_id"]:
        assert f"\n{task}\n" in document.text
    assert "A, the baseline: before. B: after." in document.text


def test_published_shares_are_not_rounded(tmp_path: Path) -> None:
    published = Path(__file__).resolve().parents[4] / "shared" / "published" / "artifacts"
    if not published.is_dir():
        pytest.skip("the published artefacts are not beside the project (../shared/published)")
    lake = Lake([published], tmp_path / "lake")
    result = compare_runs(lake, "base_free", "iter80_free", bootstrap="published")
    text = checked(comparison_report(lake, result)).text
    assert "51.75% → 84.25%" in text
    assert "+32.50 points" in text and "[+27.50, +37.50] points" in text
    assert "iter80_free (Iter80, no skill) against base_free (base, no skill)" in text


def test_the_command_writes_whole_files(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SHOPSIM_HOME", str(tiny_workspace(tmp_path / "home").workspace))
    monkeypatch.setenv("SHOPSIM_LAKE", str(lake.cache_dir))
    root = ["--root", str(lake.roots[0])]
    out = tmp_path / "deep" / "r.html"
    assert run_app(app, ["report", "after", "--out", str(out), *root]) == 0
    assert out.read_bytes().startswith(b"<!doctype html>")
    assert run_app(app, ["report", "after", "--against", "before", "--out", str(out), *root]) == 0
    assert b"<h1>after against before</h1>" in out.read_bytes()
    assert run_app(app, ["report", "nope", "--out", str(out), *root]) == 2
    assert run_app(app, ["report", "after", "--against", "alone", "--out", str(out), *root]) == 1
    assert run_app(app, ["report", "after", "--out", "/dev/null/x.html", *root]) == 2
    error = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in error] == ["error"] * 3
    assert b"<h1>after against before</h1>" in out.read_bytes()


@pytest.mark.browser
def test_a_browser_draws_every_figure_and_runs_nothing_else(
    lake: Lake, store: ReviewStore, tmp_path: Path
) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = Path("/usr/bin/chromium")
    if not chromium.exists():
        pytest.skip("Chromium is not installed")
    reports = {
        "run.html": (run_report(lake, RUN, store, LABELS), 4),
        "comparison.html": (comparison_report(lake, compare_runs(lake, "before", RUN)), 2),
    }
    with playwright.sync_playwright() as driver:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = driver.chromium.launch(executable_path=str(chromium), args=arguments)
        for width in (1400, 420):
            page = browser.new_page(viewport={"width": width, "height": 900})
            dialogs: list[str] = []
            errors: list[str] = []
            requests: list[str] = []
            page.on("dialog", lambda dialog, seen=dialogs: (seen.append(dialog.message), dialog.dismiss()))
            page.on(
                "console", lambda line, seen=errors: seen.append(line.text) if line.type == "error" else None
            )
            page.on("request", lambda request, seen=requests: seen.append(request.url))
            for name, (data, figures) in reports.items():
                (tmp_path / name).write_bytes(data)
                page.goto((tmp_path / name).as_uri())
                page.wait_for_function(
                    f"document.querySelectorAll('.plot > .plot-container').length == {figures}"
                )
                assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert dialogs == []
            assert errors == []
            assert all(url.startswith("file:") for url in requests)
        browser.close()
