"""Exact paired tests, control of false discoveries, and how many tasks would settle a difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr, ndtri  # scipy.stats would add a second to a page's first visit

__all__ = ["benjamini_hochberg", "mcnemar_exact", "paired_sign_flip_p", "tasks_to_settle"]

_MOST_ENUMERATED: Final = 14
"""Up to so many changed pairs every assignment of signs is looked at: 16,384 of them."""


def mcnemar_exact(fixed: int, broken: int) -> float:
    """Two-sided exact McNemar p-value from the two discordant counts (McNemar 1947, binomial form).

    1.0 when no pair changed.
    """
    changed = fixed + broken
    if changed == 0:
        return 1.0
    return min(1.0, 2.0 * float(bdtr(min(fixed, broken), changed, 0.5)))


def paired_sign_flip_p(differences: npt.NDArray[np.float64], *, seed: int = 0, flips: int = 10_000) -> float:
    """Two-sided sign-flip p-value of a zero mean difference.

    It assumes only that a difference is as likely in either direction when nothing changed. Exact where
    every changed pair changed by the same amount (0/1 outcomes: then it is McNemar's exact test) and where
    few changed; else from random flips, ``(k + 1) / (flips + 1)``.
    """
    changed = differences[differences != 0]
    if len(changed) == 0:
        return 1.0
    if np.ptp(np.abs(changed)) == 0:
        return mcnemar_exact(int((changed > 0).sum()), int((changed < 0).sum()))
    if len(changed) <= _MOST_ENUMERATED:
        bits = np.arange(1 << len(changed))[:, None] >> np.arange(len(changed)) & 1
        return float(_reached(2 * bits - 1, changed).mean())
    rng = np.random.default_rng(seed)
    signs = rng.integers(0, 2, size=(flips, len(changed)), dtype=np.int8) * 2 - 1
    return (int(_reached(signs, changed).sum()) + 1) / (flips + 1)


def _reached(signs: npt.NDArray[np.integer], changed: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Which rows of ``signs`` give a sum as far from 0 as the observed one, rounding aside."""
    reached: npt.NDArray[np.bool_] = (
        np.abs(signs @ changed) >= abs(changed.sum()) - 1e-12 * np.abs(changed).sum()
    )
    return reached


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values that control the false discovery rate (Benjamini and Hochberg 1995)."""
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p)
    scaled = p[order] * len(p) / np.arange(1, len(p) + 1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(scaled[::-1])[::-1])
    return [float(value) for value in adjusted]


def tasks_to_settle(
    differences: npt.NDArray[np.float64], *, confidence: float = 0.95, power: float = 0.8
) -> int | None:
    """Tasks in all that would settle the observed mean difference with the given power.

    Normal approximation ``n = ((z_conf + z_power) * sd / |mean|) ** 2``. None when there are fewer than
    two pairs or the observed difference is zero: then no number of tasks is implied.
    """
    if len(differences) < 2:
        return None
    mean = abs(float(differences.mean()))
    deviation = float(differences.std(ddof=1))
    if mean == 0 or deviation == 0:
        return None
    z = float(ndtri(0.5 + confidence / 2) + ndtri(power))
    return math.ceil((z * deviation / mean) ** 2)
