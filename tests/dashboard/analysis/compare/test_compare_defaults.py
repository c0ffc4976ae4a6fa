"""Which runs a comparison begins with."""

from __future__ import annotations

from dashboard.analysis.compare.catalogues import family_warning, kinship
from dashboard.analysis.compare.defaults import Candidate, default_baseline, default_opponent


def test_a_family_begins_with_its_first_iteration_and_goes_to_the_last_of_the_series() -> None:
    published = [
        Candidate("base_s0", "bundle", "S0", 0, False),
        Candidate("base_free", "bundle", "no skill", 0, True),
        Candidate("iter80_st", "bundle", "ST", 80, False),
        Candidate("iter80_free", "bundle", "no skill", 80, True),
    ]
    assert default_baseline(published) == "base_free"
    assert default_opponent(published, "base_free") == "iter80_free"
    demo = [
        Candidate("demo-random", "demo", "demo-random", None, True),
        *(Candidate(f"demo-iter{k}", "demo", "demo", k, True) for k in (0, 20, 40, 60, 80)),
    ]
    assert default_baseline([*published, *demo]) == "demo-iter0"
    assert default_opponent([*published, *demo], "demo-iter0") == "demo-iter80"
    assert default_opponent([*published, *demo], "base_s0") == "iter80_st"


def test_without_iterations_or_kin_the_order_of_the_runs_counts() -> None:
    runs = [Candidate(name, name, name, None, True) for name in ("one", "two", "three")]
    assert default_baseline(runs) == "one"
    assert default_opponent(runs, "one") == "three"


def test_kinship() -> None:
    assert kinship("sha256:a", "sha256:a") == kinship("folder:x", "folder:x") == "same"
    assert kinship("sha256:a", "sha256:b") == "different"
    assert kinship("sha256:a", "folder:x") == kinship("bundle:x", "folder:x") == "unknown"
    assert family_warning("same", "A", "B") is None
    assert "different catalogues" in (family_warning("different", "A", "B") or "")
