"""Confidence intervals of shares and means, vectorised over groups.

Episodes are taken as independent. Several samples of one task are not quite: pages say so when they meet it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtri, stdtrit

__all__ = [
    "COMPONENT_METHOD",
    "CONFIDENCE",
    "interval_texts",
    "mean_interval",
    "wilson_interval",
    "with_component_interval",
    "with_mean_interval",
    "with_share_interval",
]

CONFIDENCE = 0.95

COMPONENT_METHOD = "success: Wilson; others: Student's t, where all values are equal Wilson"
"""How the intervals of :func:`with_component_interval` are made, for captions."""

Floats = npt.NDArray[np.float64]


def wilson_interval(
    successes: npt.ArrayLike, n: npt.ArrayLike, *, confidence: float = CONFIDENCE
) -> tuple[Floats, Floats]:
    """Wilson score interval of a share ``successes / n`` (E. B. Wilson 1927), both of one shape.

    It stays inside [0, 1] and keeps a width at 0 and 1, where ``p ± z·se`` collapses. NaN where n is 0.
    """
    hits, size = np.asarray(successes, dtype=float), np.asarray(n, dtype=float)
    z = float(ndtri(0.5 + confidence / 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = hits / size
        scale = 1 + z * z / size
        centre = (share + z * z / (2 * size)) / scale
        half = z / scale * np.sqrt(share * (1 - share) / size + z * z / (4 * size * size))
        low = np.where(share <= 0, 0.0, centre - half)
        high = np.where(share >= 1, 1.0, centre + half)
    empty = ~(size > 0)
    return np.where(empty, np.nan, low), np.where(empty, np.nan, high)


def mean_interval(
    mean: npt.ArrayLike,
    deviation: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    confidence: float = CONFIDENCE,
    bounds: tuple[float, float] | None = (0.0, 1.0),
) -> tuple[Floats, Floats]:
    """Student's t interval ``mean ± t·deviation/√n`` from sample statistics (deviation with n-1).

    With ``bounds`` the interval is cut to them; where all values are equal (deviation 0) the t interval
    would claim certainty, so the Wilson interval of a share of that size is used: for values inside the
    bounds it is the widest that their mean allows. NaN where n < 2 without bounds, or n is 0.
    """
    centre, spread, size = (np.asarray(part, dtype=float) for part in (mean, deviation, n))
    with np.errstate(divide="ignore", invalid="ignore"):
        quantile = stdtrit(np.maximum(size - 1, 1), 0.5 + confidence / 2)
        half = np.where(size >= 2, quantile * spread / np.sqrt(size), np.nan)
    low, high = centre - half, centre + half
    if bounds is None:
        return low, high
    bottom, top = bounds
    share = (centre - bottom) / (top - bottom)
    flat_low, flat_high = wilson_interval(share * size, size, confidence=confidence)
    flat = ~(spread > 0)
    low = np.where(flat, bottom + flat_low * (top - bottom), np.clip(low, bottom, top))
    high = np.where(flat, bottom + flat_high * (top - bottom), np.clip(high, bottom, top))
    return low, high


def with_mean_interval(frame: pd.DataFrame, prefix: str = "", *, bounded: bool = True) -> pd.DataFrame:
    """Add columns ``low`` and ``high`` to rows with ``mean``, ``sd`` and ``n`` (each after ``prefix``)."""
    parts: dict[str, Any] = {part: frame[prefix + part].astype(float) for part in ("mean", "sd", "n")}
    low, high = mean_interval(parts["mean"], parts["sd"], parts["n"], bounds=(0.0, 1.0) if bounded else None)
    bounds: dict[str, Any] = {f"{prefix}low": low, f"{prefix}high": high}
    return frame.assign(**bounds)


def with_component_interval(frame: pd.DataFrame, success: npt.ArrayLike) -> pd.DataFrame:
    """Add ``low`` and ``high`` to rows with ``mean``, ``sd`` and ``n`` of reward components.

    Where ``success`` (one for all rows, or one a row) says so the mean is a share of successes: Wilson.
    Others: :func:`with_mean_interval`, none where several values have no spread recorded.
    """
    rows = with_mean_interval(frame)
    shares = np.broadcast_to(np.asarray(success, dtype=bool), len(frame))
    size, mean = frame["n"].astype(float), frame["mean"].astype(float)
    wilson = wilson_interval(mean * size, size)
    unknown = np.asarray(frame["sd"].isna() & (size > 1)) & ~shares
    for name, ends in zip(("low", "high"), wilson, strict=True):
        rows[name] = np.where(shares, ends, np.where(unknown, np.nan, rows[name].to_numpy(dtype=float)))
    return rows


def with_share_interval(frame: pd.DataFrame, hits: str, n: str, prefix: str = "") -> pd.DataFrame:
    """Add ``<prefix>share``, ``<prefix>low`` and ``<prefix>high`` from count columns ``hits`` and ``n``."""
    successes, size = frame[hits].astype(float), frame[n].astype(float)
    low, high = wilson_interval(successes, size)
    share = (successes / size.where(size > 0)).astype(float)
    columns: dict[str, Any] = {f"{prefix}share": share, f"{prefix}low": low, f"{prefix}high": high}
    return frame.assign(**columns)


def interval_texts(
    low: pd.Series[float], high: pd.Series[float], *, factor: float = 1.0, digits: int = 3
) -> pd.Series[Any]:
    """Intervals as text for a table, ``"0.494 – 0.590"``; None where unknown."""
    texts = [
        None if math.isnan(a) or math.isnan(b) else f"{factor * a:.{digits}f} – {factor * b:.{digits}f}"
        for a, b in zip(low, high, strict=True)
    ]
    return pd.Series(texts, index=low.index, dtype=object)
