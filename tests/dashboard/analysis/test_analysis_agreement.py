"""Cohen's kappa against textbook values, statsmodels and a plain computation; undefined cases."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa as reference

from dashboard.analysis.agreement import (
    agreement_rows,
    cohens_kappa,
    disagreements,
    linear_weights,
    pair_rows,
)

CELLS = st.integers(0, 30)
SEVERITIES = ("minor", "major", "critical")


def verdicts(*rows: tuple[str, str, tuple[str, ...], str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["target", "reviewer", "labels", "severity"])


def test_textbook_values() -> None:
    """Fleiss, Levin and Paik, Statistical Methods for Rates and Proportions, table 18.1: kappa 0.68."""
    table = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]
    told = cohens_kappa(table)
    assert told.n == 100
    assert told.observed == pytest.approx(0.89)
    assert told.expected == pytest.approx(0.66)
    assert told.kappa == pytest.approx(0.6765, abs=1e-4)
    # A second one, worked out by hand: 20 + 15 of 50 agree, chance gives a half.
    assert cohens_kappa([[20, 5], [10, 15]]).kappa == pytest.approx(0.4)


@settings(max_examples=80, deadline=None)
@given(st.integers(2, 4).flatmap(lambda k: st.lists(CELLS, min_size=k * k, max_size=k * k)), st.booleans())
def test_kappa_and_interval_equal_those_of_statsmodels(cells: list[int], weighted: bool) -> None:
    size = math.isqrt(len(cells))
    table = np.array(cells).reshape(size, size)
    told = cohens_kappa(table, linear_weights(size) if weighted else None)
    assert told.n == table.sum()
    if told.kappa is None:
        assert told.low is None
        assert told.high is None
        assert table.sum() == 0 or np.count_nonzero(table.sum(0)) == np.count_nonzero(table.sum(1)) == 1
        return
    with np.errstate(invalid="ignore", divide="ignore"):
        other = reference(table, wt="linear" if weighted else None)
    assert told.kappa == pytest.approx(other.kappa, abs=1e-12)
    if told.low is None:  # no spread and no full agreement
        assert told.high is None and told.observed != 1
        assert abs(other.var_kappa) < 1e-9
        return
    assert told.high is not None
    assert -1 <= told.low <= told.kappa + 1e-12
    assert told.kappa - 1e-12 <= told.high <= 1
    if other.var_kappa > 1e-9:
        assert told.low == pytest.approx(max(-1, other.kappa_low), abs=1e-9)
        assert told.high == pytest.approx(min(1, other.kappa_upp), abs=1e-9)


def test_undefined_is_said_and_full_agreement_claims_no_certainty() -> None:
    assert cohens_kappa([[0, 0], [0, 0]]).kappa is None
    always = cohens_kappa([[7, 0], [0, 0]])
    assert (always.n, always.observed, always.kappa, always.low) == (7, 1.0, None, None)
    few, many = cohens_kappa([[3, 0], [0, 3]]), cohens_kappa([[60, 0], [0, 60]])
    assert few.kappa == many.kappa == 1.0
    assert few.high == many.high == 1.0
    assert few.low is not None
    assert many.low is not None
    assert few.low < 0.3 < 0.9 < many.low
    # Wilson's lower end at 6 of 6, with chance agreement of a half
    z = 1.959963984540054
    assert few.low == pytest.approx((6 / (6 + z * z) - 0.5) / 0.5)


@pytest.mark.parametrize("table", [[[0, 1], [0, 0]], [[0, 0], [1, 0]], [[0, 5], [5, 0]], [[0, 9], [0, 0]]])
def test_full_disagreement_has_no_interval(table: list[list[int]]) -> None:
    """Wilson's interval of agreement is meant for full agreement: here it would be wrong."""
    told = cohens_kappa(table)
    assert told.observed == 0 and told.kappa is not None and told.kappa <= 0
    assert (told.low, told.high) == (None, None)


def test_linear_weights() -> None:
    assert linear_weights(3).tolist() == [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]]
    assert linear_weights(1).tolist() == [[1]]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("abcdef"),
            st.sampled_from(["Ann", "Bob", "Cem"]),
            st.sets(st.sampled_from(["x", "y"])),
            st.sampled_from(["", *SEVERITIES]),
        ),
        unique_by=lambda row: row[:2],
        max_size=18,
    )
)
def test_rows_equal_a_plain_count(said: list[tuple[str, str, set[str], str]]) -> None:
    frame = verdicts(*((target, who, tuple(labels), severity) for target, who, labels, severity in said))
    by = {(target, who): (labels, severity) for target, who, labels, severity in said}
    people = sorted({who for _, who, _, _ in said})
    expected, pairs = {}, {}
    for place, first in enumerate(people):
        for second in people[place + 1 :]:
            shared = sorted({t for t, w in by if w == first} & {t for t, w in by if w == second})
            if not shared:
                continue
            same = sum(by[t, first][0] == by[t, second][0] for t in shared)
            both = sum(bool(by[t, first][1] and by[t, second][1]) for t in shared)
            pairs[first, second] = (len(shared), same, both)
            for label in ("x", "y"):
                cells = Counter((label in by[t, first][0], label in by[t, second][0]) for t in shared)
                if cells[True, True] + cells[True, False] + cells[False, True]:
                    expected[first, second, label] = [
                        cells[True, True],
                        cells[True, False],
                        cells[False, True],
                        cells[False, False],
                    ]
    rows = agreement_rows(frame, ["x", "y"])
    found = {
        (row["first"], row["second"], row["label"]): [
            row["both"],
            row["only_first"],
            row["only_second"],
            row["neither"],
        ]
        for row in rows.to_dict("records")
    }
    assert found == expected
    for row in rows.to_dict("records"):
        assert row["n"] == row["both"] + row["only_first"] + row["only_second"] + row["neither"]
    told = pair_rows(frame, SEVERITIES)
    assert {
        (r["first"], r["second"]): (r["n"], r["same"], r["severity_n"]) for r in told.to_dict("records")
    } == pairs
    different = {
        (t, first, second)
        for first, second in pairs
        for t in "abcdef"
        if (t, first) in by and (t, second) in by and by[t, first][0] != by[t, second][0]
    }
    listed = disagreements(frame)
    assert set(zip(listed["target"], listed["first"], listed["second"], strict=True)) == different


def test_the_order_of_labels_is_no_difference() -> None:
    frame = verdicts(("a", "Ann", ("x", "y"), "minor"), ("a", "Bob", ("y", "x"), "major"))
    assert disagreements(frame).empty
    assert pair_rows(frame, SEVERITIES).at[0, "same"] == 1
