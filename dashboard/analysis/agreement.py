"""Agreement between reviewers: Cohen's kappa, by label and pair of reviewers, with n and interval.

Sources: J. Cohen, A coefficient of agreement for nominal scales, 1960; J. L. Fleiss, J. Cohen and
B. S. Everitt, Large sample standard errors of kappa and weighted kappa, 1969.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtri

from dashboard.analysis.intervals import wilson_interval

__all__ = ["Kappa", "agreement_rows", "cohens_kappa", "disagreements", "linear_weights", "pair_rows"]

_CONFIDENCE: Final = 0.95
_NO_SPREAD: Final = 1e-12

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Kappa:
    """Kappa of ``n`` things both looked at; ``kappa`` and the interval are None where undefined.

    ``observed`` is the (weighted) share of agreement, ``expected`` what chance alone would give.
    """

    n: int
    observed: float | None
    expected: float | None
    kappa: float | None
    low: float | None
    high: float | None


def cohens_kappa(table: Any, weights: Floats | None = None) -> Kappa:
    """Kappa of a square table of counts: rows what one reviewer said, columns the other.

    ``weights`` (same shape, 1 on the diagonal) makes it weighted kappa. Undefined without anything both
    looked at, and where chance alone gives full agreement: both always said the same one thing. The interval
    is the large-sample one, cut to [-1, 1]. At full agreement its variance is 0 and it would claim certainty:
    Wilson's interval of the observed agreement stands in, chance agreement taken as known. Where the variance
    is 0 otherwise (two who share no label) there is no interval: nothing tells how far kappa may be off.
    """
    counts = np.asarray(table, dtype=float)
    n = int(counts.sum())
    if n == 0:
        return Kappa(0, None, None, None, None, None)
    share = counts / n
    weight = np.eye(len(share)) if weights is None else weights
    rows, columns = share.sum(axis=1), share.sum(axis=0)
    observed = float((weight * share).sum())
    expected = float((weight * np.outer(rows, columns)).sum())
    if 1 - expected < _NO_SPREAD:
        return Kappa(n, observed, expected, None, None, None)
    kappa = (observed - expected) / (1 - expected)
    mean_row, mean_column = weight @ columns, weight.T @ rows
    inner = weight - np.add.outer(mean_row, mean_column) * (1 - kappa)
    variance = (float((share * inner**2).sum()) - (kappa - expected * (1 - kappa)) ** 2) / (
        n * (1 - expected) ** 2
    )
    low, high = _interval(kappa, variance, observed, expected, n)
    return Kappa(n, observed, expected, kappa, low, high)


def linear_weights(size: int) -> Floats:
    """Weights of ordered categories: 1 on the diagonal, falling to 0 between the first and the last."""
    steps = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    return np.asarray(1 - steps / max(size - 1, 1), dtype=np.float64)


def agreement_rows(verdicts: pd.DataFrame, labels: Sequence[str]) -> pd.DataFrame:
    """One row a pair of reviewers and label that at least one of them used on what both looked at.

    ``verdicts``: ``target, reviewer, labels`` (tuple), one row a reviewer and target. Columns:
    ``first, second, label, both, only_first, only_second, neither, n, observed, kappa, low, high``.
    """
    rows = []
    for first, second, shared in _pairs(verdicts):
        for label in labels:
            a = np.array([label in said for said in shared["labels_first"]], dtype=bool)
            b = np.array([label in said for said in shared["labels_second"]], dtype=bool)
            if not (a.any() or b.any()):
                continue
            cells = [int((a & b).sum()), int((a & ~b).sum()), int((~a & b).sum()), int((~a & ~b).sum())]
            told = cohens_kappa([[cells[0], cells[1]], [cells[2], cells[3]]])
            rows.append(
                (first, second, label, *cells, told.n, told.observed, told.kappa, told.low, told.high)
            )
    columns = ["first", "second", "label", "both", "only_first", "only_second", "neither"]
    return pd.DataFrame(rows, columns=[*columns, "n", "observed", "kappa", "low", "high"])


def pair_rows(verdicts: pd.DataFrame, severities: Sequence[str]) -> pd.DataFrame:
    """One row a pair of reviewers: ``first, second, n, same`` (equal label sets), and severity.

    ``severity_n`` counts what both gave a severity; ``severity_kappa, severity_low, severity_high`` is
    kappa with linear weights over ``severities`` in rising order.
    """
    rows = []
    for first, second, shared in _pairs(verdicts):
        same = sum(
            set(a) == set(b) for a, b in zip(shared["labels_first"], shared["labels_second"], strict=True)
        )
        table = np.zeros((len(severities), len(severities)))
        for a, b in zip(shared["severity_first"], shared["severity_second"], strict=True):
            if a in severities and b in severities:
                table[severities.index(a), severities.index(b)] += 1
        told = cohens_kappa(table, linear_weights(len(severities)))
        rows.append((first, second, len(shared), same, told.n, told.kappa, told.low, told.high))
    columns = [
        "first",
        "second",
        "n",
        "same",
        "severity_n",
        "severity_kappa",
        "severity_low",
        "severity_high",
    ]
    return pd.DataFrame(rows, columns=columns)


def disagreements(verdicts: pd.DataFrame) -> pd.DataFrame:
    """What two reviewers labelled differently: ``target, first, second, labels_first, labels_second``."""
    parts = [
        shared[
            [set(a) != set(b) for a, b in zip(shared["labels_first"], shared["labels_second"], strict=True)]
        ]
        .assign(first=first, second=second)
        .reset_index()
        for first, second, shared in _pairs(verdicts)
    ]
    columns = ["target", "first", "second", "labels_first", "labels_second"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def _pairs(verdicts: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """Every two reviewers with the targets that both looked at, side by side."""
    by_reviewer = {
        str(name): rows.set_index("target")[["labels", "severity"]]
        for name, rows in verdicts.groupby("reviewer", sort=True)
    }
    pairs = []
    for first, second in combinations(by_reviewer, 2):
        shared = (
            by_reviewer[first]
            .add_suffix("_first")
            .join(by_reviewer[second].add_suffix("_second"), how="inner")
        )
        if len(shared):
            pairs.append((first, second, shared))
    return pairs


def _interval(
    kappa: float, variance: float, observed: float, expected: float, n: int
) -> tuple[float, float] | tuple[None, None]:
    if variance > _NO_SPREAD / n:
        half = float(ndtri(0.5 + _CONFIDENCE / 2)) * float(np.sqrt(variance))
        return max(-1.0, kappa - half), min(1.0, kappa + half)
    if 1 - observed > _NO_SPREAD:
        return None, None
    low, high = wilson_interval(np.array([observed * n]), np.array([float(n)]), confidence=_CONFIDENCE)
    scale = 1 - expected
    return max(-1.0, (float(low[0]) - expected) / scale), min(1.0, (float(high[0]) - expected) / scale)
