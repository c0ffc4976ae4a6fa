"""The palette stays apart for colour-blind readers and readable on both page backgrounds."""

from __future__ import annotations

import itertools
import tomllib
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from dashboard.ui import theme

# Simulation matrices for severity 1.0 in linear RGB: Machado, Oliveira and Fernandes (2009), table 1.
VISION = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour: str) -> npt.NDArray[np.float64]:
    part = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def lab(rgb: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    scaled = XYZ @ np.clip(rgb, 0, 1) / np.array([0.95047, 1.0, 1.08883])
    f = np.where(scaled > 0.008856, np.cbrt(scaled), 7.787 * scaled + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(one: str, other: str) -> float:
    low, high = sorted(float(XYZ[1] @ linear(colour)) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("vision", VISION)
def test_palette_colours_stay_apart(vision: str) -> None:
    seen = {colour: lab(VISION[vision] @ linear(colour)) for colour in theme.PALETTE}
    for one, other in itertools.combinations(theme.PALETTE, 2):
        assert np.linalg.norm(seen[one] - seen[other]) > 14, (one, other)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_are_readable_on_the_page(scheme: str) -> None:
    path = Path(__file__).parents[3] / "dashboard/.streamlit/config.toml"
    config = tomllib.loads(path.read_text(encoding="utf-8"))
    background = config["theme"][scheme]["backgroundColor"]
    colours = {*theme.PALETTE, *theme.REASON_COLOURS.values(), *theme.OUTCOME_COLOURS.values()}
    for colour in colours:
        assert contrast(colour, background) >= 3, colour
    assert contrast(config["theme"][scheme]["textColor"], background) >= 7


def test_runs_keep_their_style_whatever_the_order() -> None:
    ids = [f"run-{k:02d}" for k in range(20)]
    styles = theme.run_styles(ids)
    assert styles == theme.run_styles(reversed(ids))
    assert len({(s.colour, s.symbol, s.dash) for s in styles.values()}) == 20
    assert [styles[run].colour for run in ids[:8]] == list(theme.PALETTE)


def test_category_colours_keep_fixed_ones_and_fill_in_others() -> None:
    names = ["failed", "new_reason", "purchase", "another"]
    colours = theme.category_colours(names, theme.REASON_COLOURS)
    assert list(colours) == names
    assert colours["purchase"] == theme.REASON_COLOURS["purchase"]
    assert len(set(colours.values())) == 4
