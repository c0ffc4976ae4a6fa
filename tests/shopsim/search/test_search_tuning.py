"""Tuning: better on train, chosen on val, reproducible; the stability views; gains."""

from __future__ import annotations

import builtins
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from statsmodels.stats.proportion import proportion_confint

from shopsim.catalog.product import parse_product
from shopsim.errors import UsageError
from shopsim.search.bm25 import FTS5_PARAMETERS, ExactScorer
from shopsim.search.documents import FIELDS, documents_of
from shopsim.search.evaluation import QuerySet
from shopsim.search.gains import OBJECTIVES, measure_gain
from shopsim.search.tuning import TuneError, near_optimal_ranges, sensitivity, tune
from shopsim.search.weights import PRESETS, V3, load_weights

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def shelf() -> tuple[ExactScorer, QuerySet, QuerySet]:
    """Twenty pairs of products where the one that is wanted has the word in its options, the other in its
    title: only weights with options above title find the wanted one first."""
    products = []
    rows = []
    for number in range(20):
        word = f"w{number}x"
        wanted = {"asin": f"b{number}", "title": "灯", "customization_options": {"款": [{"value": word}]}}
        rival = {
            "asin": f"a{number}",
            "title": f"灯 {word}",
            "customization_options": {"款": [{"value": "q"}]},
        }
        products += [parse_product(wanted, 0), parse_product(rival, 1)]
        rows.append((number, word, {f"b{number}"}))
    scorer = ExactScorer.from_documents(documents_of(product for product in products if product))
    return scorer, QuerySet.of(rows[:12]), QuerySet.of(rows[12:])


def test_tuning_finds_the_field_that_matters(shelf: tuple[ExactScorer, QuerySet, QuerySet]) -> None:
    scorer, train, validation = shelf
    tuning = tune(scorer, train, validation, trials=40, seed=1)
    first = tuning.candidates[0]
    assert first.weights == V3
    assert first.train == first.validation == 0.5
    assert (tuning.best.train, tuning.best.validation) == (1.0, 1.0)
    assert tuning.best.weights.options > tuning.best.weights.title + tuning.best.weights.model
    assert tuning.best == tuning.candidates[tuning.best.number]
    assert all(candidate.parameters == FTS5_PARAMETERS for candidate in tuning.candidates)
    again = tune(scorer, train, validation, trials=40, seed=1)
    assert again == tuning


def test_tuning_stops_when_val_no_longer_improves(shelf: tuple[ExactScorer, QuerySet, QuerySet]) -> None:
    scorer, train, validation = shelf
    tuning = tune(scorer, train, validation, trials=400, patience=10, seed=1)
    assert tuning.stopped_early
    assert len(tuning.candidates) <= tuning.best.number + 10 + 8


def test_free_parameters_are_searched_too(shelf: tuple[ExactScorer, QuerySet, QuerySet]) -> None:
    scorer, train, validation = shelf
    tuning = tune(scorer, train, validation, trials=20, seed=1, free_parameters=True)
    assert tuning.candidates[0].parameters == FTS5_PARAMETERS
    assert len({candidate.parameters for candidate in tuning.candidates}) > 5


def test_v3_is_kept_when_nothing_beats_it_on_val(shelf: tuple[ExactScorer, QuerySet, QuerySet]) -> None:
    scorer, train, validation = shelf
    rival = QuerySet(
        validation.texts,
        tuple(frozenset(asin.replace("b", "a") for asin in wanted) for wanted in validation.wanted),
        validation.units,
    )
    tuning = tune(scorer, train, rival, trials=30, seed=1)
    assert tuning.best == tuning.candidates[0]


def test_stability_views(shelf: tuple[ExactScorer, QuerySet, QuerySet]) -> None:
    scorer, train, validation = shelf
    views = {one.field: one for one in sensitivity(scorer, train, V3)}
    assert list(views) == list(FIELDS)
    assert views["bullets"].changes == {0.5: 0.0, 0.8: 0.0, 1.25: 0.0, 2.0: 0.0}
    steep = sensitivity(scorer, train, replace(V3, options=6.0), factors=(0.5, 2.0))
    assert {one.field: one.worst for one in steep}["options"] == -0.5
    tuning = tune(scorer, train, validation, trials=40, seed=1)
    near, ranges = near_optimal_ranges(tuning)
    assert near == sum(candidate.train >= 0.99 for candidate in tuning.candidates)
    low, high = ranges["options"]
    assert low <= tuning.best.weights.options <= high


def test_gain_reports_every_metric_with_an_interval(shelf: tuple[ExactScorer, QuerySet, QuerySet]) -> None:
    scorer, train, _ = shelf
    gain = measure_gain(scorer, train, V3, replace(V3, options=9.0))
    assert list(gain.changes) == list(OBJECTIVES)
    change = gain.changes["mrr_at_150"]
    assert (change.before, change.after, change.gain) == (0.5, 1.0, 0.5)
    # All 12 tasks gain 0.5: at most so many of all tasks do otherwise, and those lose 1 or gain 1.
    _, otherwise = proportion_confint(0, 12, method="wilson")
    assert (change.low, change.high) == pytest.approx((0.5 - 1.5 * otherwise, 0.5 + 0.5 * otherwise))
    assert gain.changes["recall_at_20"].gain == 0.0
    assert gain.to_wire()["recall_at_1"]["after"] == 1.0


def test_wrong_arguments_are_refused(shelf: tuple[ExactScorer, QuerySet, QuerySet]) -> None:
    scorer, train, validation = shelf
    with pytest.raises(UsageError, match="objective 'f1': unknown"):
        tune(scorer, train, validation, objective="f1")
    with pytest.raises(UsageError, match="at least one"):
        tune(scorer, train, validation, trials=0)


def test_without_optuna_one_line_says_what_to_install(
    shelf: tuple[ExactScorer, QuerySet, QuerySet], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def refuse(name: str, *arguments: Any, **options: Any) -> Any:
        if name == "optuna":
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    scorer, train, validation = shelf
    with pytest.raises(TuneError, match="Optuna, which is not installed"):
        tune(scorer, train, validation)


def test_tune_command_saves_a_set_that_other_commands_know(command: Command, search_workspace: Path) -> None:
    folder = search_workspace / "configs/search_weights"
    code, text, error = command("tune", "--name", "mine", "--trials", "40", "--json")
    assert (code, error) == (0, "")
    report = json.loads(text)
    assert report["trials"] == 40
    assert report["validation"]["best"] >= report["validation"]["v3"]
    assert set(report["test_gain_over_v3"]["mrr_at_150"]) == {"before", "after", "gain", "low", "high"}
    assert report["saved"] == str(folder / "mine.json")
    assert load_weights("mine", folder).as_mapping() == report["weights"]
    saved = json.loads((folder / "mine.json").read_text("utf-8"))
    assert saved["product_data_sha256"] == report["product_data_sha256"]
    code, text, _ = command("evaluate", "--weights", "mine", "--json")
    assert json.loads(text)["metrics"] != json.loads(command("evaluate", "--json")[1])["metrics"]
    assert command("tune", "--name", "mine", "--trials", "8")[0] == 2
    assert command("tune", "--name", "v3", "--trials", "8")[0] == 2
    (folder / "mine.json").unlink()
    code, text, _ = command("tune", "--trials", "16", "--with-k1-b")
    assert code == 0
    assert "not saved" in text
    assert "gain over v3" in text
    assert not (folder / "tuned.json").exists()


def test_compare_command(command: Command) -> None:
    report = json.loads(command("compare", "v3", "title-only", "--show", "2", "--json")[1])
    part = report["queries"]["simple"]
    assert part["queries"] == 15
    assert len(part["winners"]) <= 2
    for move in part["losers"]:
        assert move["gain"] < 0
        assert move["before"] != move["after"]
    _, text, _ = command("compare", "v3", "uniform")
    assert "gain" in text
    same = json.loads(command("compare", "v3", "v3", "--json")[1])["queries"]["full"]
    assert (same["moved"], same["mrr_at_150"]["gain"]) == (0, 0.0)
    assert PRESETS["v3"] == V3
