"""Field weights: validation, presets, saved sets."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from shopsim.search.weights import (
    PRESETS,
    V3,
    FieldWeights,
    WeightsError,
    load_weights,
    save_weights,
    weight_names,
)


def test_v3_is_the_contract() -> None:
    assert V3.as_mapping() == {
        "title": 3.0,
        "brand": 2.0,
        "category": 2.0,
        "model": 2.5,
        "attributes": 1.5,
        "options": 1.2,
        "bullets": 0.8,
    }
    assert V3.column_weights() == (0.0, 3.0, 2.0, 2.0, 2.5, 1.5, 1.2, 0.8)


def test_misaligned_preset_is_v3_shifted_by_one_with_the_default_at_the_end() -> None:
    assert PRESETS["v2-misaligned"].values() == (2.0, 2.0, 2.5, 1.5, 1.2, 0.8, 1.0)


@pytest.mark.parametrize("wrong", [0, 0.0, -1.0, math.nan, math.inf, True, "3", None])
def test_a_weight_that_is_none_is_refused(wrong: Any) -> None:
    with pytest.raises(WeightsError, match="weight of brand is") as caught:
        FieldWeights.from_mapping({**V3.as_mapping(), "brand": wrong})
    assert "\n" not in str(caught.value)


def test_missing_and_unknown_fields_are_named() -> None:
    values = V3.as_mapping()
    del values["model"]
    with pytest.raises(WeightsError, match="no weight for model"):
        FieldWeights.from_mapping(values)
    with pytest.raises(WeightsError, match="unknown field asin"):
        FieldWeights.from_mapping({**V3.as_mapping(), "asin": 0.0})
    with pytest.raises(WeightsError, match="must be an object"):
        FieldWeights.from_mapping([1.0])


def test_saved_sets_come_back(tmp_path: Path) -> None:
    weights = FieldWeights.from_values([0.1 * (n + 1) for n in range(7)])
    path = save_weights("mine", weights, tmp_path / "sets", notes={"source": "by hand"})
    assert json.loads(path.read_text("utf-8"))["source"] == "by hand"
    assert load_weights("mine", tmp_path / "sets") == weights
    assert weight_names(tmp_path / "sets") == [*PRESETS, "mine"]
    assert load_weights("uniform", tmp_path) == PRESETS["uniform"]


@pytest.mark.parametrize("name", ["nosuch", "../mine", ""])
def test_an_unknown_name_lists_the_known_ones(tmp_path: Path, name: str) -> None:
    with pytest.raises(WeightsError, match="Known: v3, v2-misaligned, uniform, title-only"):
        load_weights(name, tmp_path)


@pytest.mark.parametrize("name", ["v3", "A b", "../x", ""])
def test_names_that_cannot_be_saved(tmp_path: Path, name: str) -> None:
    with pytest.raises(WeightsError):
        save_weights(name, V3, tmp_path)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"weights": {"title": 1}}', encoding="utf-8")
    with pytest.raises(WeightsError, match=r"bad\.json: weights: no weight for brand"):
        load_weights("bad", tmp_path)
