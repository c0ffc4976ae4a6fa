"""Tests, adjustments and planning against statsmodels and textbook values."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from dashboard.analysis.compare import (
    benjamini_hochberg,
    mcnemar_exact,
    paired_sign_flip_p,
    tasks_to_settle,
)


@pytest.mark.parametrize(("fixed", "broken"), [(139, 9), (46, 35), (19, 11), (5, 5), (0, 6), (1, 0)])
def test_mcnemar_equals_statsmodels(fixed: int, broken: int) -> None:
    table = [[10, broken], [fixed, 20]]
    assert mcnemar_exact(fixed, broken) == pytest.approx(mcnemar(table, exact=True).pvalue, rel=1e-12)


def test_mcnemar_without_change_is_one() -> None:
    assert mcnemar_exact(0, 0) == 1.0


def test_benjamini_hochberg_equals_statsmodels() -> None:
    p = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216]
    assert benjamini_hochberg(p) == pytest.approx(multipletests(p, method="fdr_bh")[1])
    assert benjamini_hochberg([]) == []


def test_sign_flip_agrees_with_mcnemar_on_binary_outcomes() -> None:
    differences = np.array([1.0] * 19 + [-1.0] * 11 + [0.0] * 370)
    assert paired_sign_flip_p(differences) == pytest.approx(mcnemar_exact(19, 11), abs=0.02)
    assert paired_sign_flip_p(np.zeros(8)) == 1.0


def test_tasks_to_settle_by_hand() -> None:
    # mean 0.02, sd of (19 ones, 11 minus ones, 370 zeros); (1.959964 + 0.841621)^2 = 7.8489
    differences = np.array([1.0] * 19 + [-1.0] * 11 + [0.0] * 370)
    variance = (30 - 400 * 0.02**2) / 399
    assert tasks_to_settle(differences) == int(np.ceil(7.8488797 * variance / 0.02**2))
    assert tasks_to_settle(np.zeros(10)) is None
    assert tasks_to_settle(np.array([1.0])) is None


def test_sign_flip_is_exact_for_few_or_binary_changes() -> None:
    assert paired_sign_flip_p(np.array([1.0, 1.0, 0.0])) == 0.5
    assert paired_sign_flip_p(np.array([1.0, 1.0, 1.0])) == 0.25
    assert paired_sign_flip_p(np.array([1.0] * 46 + [-1.0] * 35)) == mcnemar_exact(46, 35)
    # Sums of (0.5, 1, 2) under the eight signs: only +3.5 and -3.5 are as far from 0 as 3.5.
    assert paired_sign_flip_p(np.array([0.5, 1.0, 2.0])) == 0.25
    # Of (0.5, -1, 2) with sum 1.5: +-1.5, +-2.5 and +-3.5.
    assert paired_sign_flip_p(np.array([0.5, -1.0, 2.0])) == 0.75


def test_sign_flip_of_many_different_changes_is_near_the_exact_one() -> None:
    changed = np.array([0.3, -0.1, 0.7, 0.2, -0.4, 0.9, 0.6, -0.2, 0.5, 0.1, 0.8, -0.3, 0.35, 0.45])
    more = np.append(changed, 0.01)
    assert paired_sign_flip_p(more) == pytest.approx(paired_sign_flip_p(changed), abs=0.02)
