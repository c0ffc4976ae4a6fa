"""The bundled archive goes through the whole pipeline with the project's own settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shopsim.catalog import load_corpus, price_axes
from shopsim.pipeline import PreparationReport, layout
from shopsim.pipeline.links import user_id_key
from shopsim.pipeline.prepare import prepare
from shopsim.settings import Settings, load_settings
from shopsim.tasks.goals import build_goals
from shopsim.tasks.splits import load_splits

PROJECT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    own = load_settings(PROJECT)
    folder = tmp_path_factory.mktemp("bundled")
    corpus = own.corpus.model_copy(update={"prepared_dir": str(folder / "prepared")})
    return own.model_copy(update={"corpus": corpus})


@pytest.fixture(scope="module")
def report(settings: Settings) -> PreparationReport:
    return prepare(settings)


def test_counts(report: PreparationReport) -> None:
    counts = report.counts
    assert counts.products_raw >= 2_400
    assert counts.products_excluded / counts.products_raw >= 0.03
    assert counts.tasks_persona >= 500
    assert sum(counts.kinds.values()) == counts.tasks_persona
    assert counts.splits["val"] == counts.splits["test"] == 100
    assert counts.splits["train"] == counts.tasks_persona - 200 >= 300
    assert counts.index_products == counts.products_active
    assert "runtime_regex_fallback" not in counts.kinds


def test_every_active_task_is_a_goal_and_every_price_can_be_known(
    settings: Settings, report: PreparationReport
) -> None:
    corpus = load_corpus(settings.prepared_dir / layout.PRODUCTS, expected_sha256=report.product_data_sha256)
    assert not any(corpus.skipped.values())
    assert all(len(price_axes(product)) <= 1 for product in corpus.products)
    goals = build_goals(corpus)
    splits = load_splits(settings.prepared_dir / layout.SPLITS)
    persona = {goal.task_id for goal in goals if goal.is_persona}
    assert set(splits.ids("all")) == persona
    assert len(goals) + goals.skipped_without_attributes == report.counts.tasks_active
    sources = [goals.get(task_id).price_upper_source for task_id in splits.ids("all")]
    limited = report.counts.kinds["hard_upper"] + report.counts.kinds["approximate_upper"]
    assert sources.count("annotated") == limited


def test_no_user_is_in_two_splits(settings: Settings, report: PreparationReport) -> None:
    goals = build_goals(load_corpus(settings.prepared_dir / layout.PRODUCTS))
    splits = load_splits(settings.prepared_dir / layout.SPLITS)
    homes: dict[str, set[str]] = {}
    for name in report.counts.splits:
        for task_id in splits.ids(name):
            persona = goals.get(task_id).user_persona
            assert persona is not None
            if key := user_id_key(persona):
                homes.setdefault(key, set()).add(name)
    assert len(homes) > 100
    assert all(len(names) == 1 for names in homes.values())


def test_the_audit_accounts_for_every_persona_task(settings: Settings, report: PreparationReport) -> None:
    audit = json.loads((settings.prepared_dir / layout.AUDIT).read_text("utf-8"))
    splits = load_splits(settings.prepared_dir / layout.SPLITS)
    assert sorted(entry["task_id"] for entry in audit["tasks"]) == list(splits.ids("all"))
    assert audit["kinds"] == dict(report.counts.kinds)
