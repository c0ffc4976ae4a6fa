"""The stages by hand, the funnel, and shares and flow against plain counting."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.analysis.diagnosis import (
    FUNNEL,
    STAGES,
    Evidence,
    diagnose,
    diagnose_episodes,
    episodes_of_link,
    flow,
    stage_shares,
)

BOUGHT_GOAL = Evidence(
    complete=True,
    scored=True,
    success=False,
    termination_reason="purchase",
    goal_asin="g",
    bought_asin="g",
    shown=frozenset("gab"),
    opened=frozenset("ga"),
    satisfying=frozenset("gs"),
    products_shown=3,
    products_opened=2,
    r_type=1.0,
    r_att=1.0,
    r_option=1.0,
    r_price=1.0,
    steps=8,
    searches=2,
)


@pytest.mark.parametrize(
    ("changes", "stage", "detail", "reached"),
    [
        ({"complete": False}, "technical", "not scored", "options"),
        ({"scored": False}, "technical", "not scored", "options"),
        ({"success": True}, "success", "", "success"),
        ({"satisfying": frozenset(), "bought_asin": "a"}, "unsatisfiable", "", "all"),
        (
            {"bought_asin": None, "termination_reason": "generation_length"},
            "no_purchase",
            "cut off",
            "opened",
        ),
        ({"bought_asin": None, "protocol_errors": 4}, "no_purchase", "protocol trouble", "opened"),
        ({"bought_asin": None, "invalid_actions": 5}, "no_purchase", "invalid actions", "opened"),
        ({"bought_asin": None, "most_repeated": 4}, "no_purchase", "looping", "opened"),
        (
            {"bought_asin": None, "opened": frozenset(), "products_opened": 0},
            "no_purchase",
            "dead end",
            "shown",
        ),
        ({"bought_asin": None}, "no_purchase", "ran out", "opened"),
        (
            {"bought_asin": "a", "shown": frozenset("ab"), "opened": frozenset("a"), "r_att": 0.5},
            "not_retrieved",
            "bought missing attribute",
            "all",
        ),
        (
            {"bought_asin": "a", "opened": frozenset("a"), "r_price": 0.0},
            "not_chosen",
            "bought over budget",
            "shown",
        ),
        ({"bought_asin": "a", "r_type": 0.1}, "left", "bought wrong type", "opened"),
        ({"r_option": 0.5}, "wrong_option", "", "bought"),
        ({"r_option": 0.5, "r_price": 0.0}, "wrong_option", "", "bought"),
        ({"r_price": 0.0, "price_verifiable": True}, "over_budget", "", "options"),
        ({"r_price": 0.0, "price_verifiable": False}, "price_unverifiable", "", "options"),
        ({}, "unexplained", "", "options"),
    ],
)
def test_each_stage(changes: dict[str, object], stage: str, detail: str, reached: str) -> None:
    diagnosis = diagnose(replace(BOUGHT_GOAL, **changes))  # type: ignore[arg-type]
    assert (diagnosis.stage, diagnosis.detail, diagnosis.reached) == (stage, detail, reached)
    assert diagnosis.basis == "catalogue" and diagnosis.evidence


@pytest.mark.parametrize(
    ("could", "opened", "evidence"),
    [
        ("s", "a", "s, which could satisfy the task, was shown and never opened"),
        ("gs", "a", "g and s, which could satisfy the task, were shown and never opened"),
        ("gs", "ags", "opened g and s, which could satisfy the task, then bought a"),
        ("bgs", "a", "b, g and s, which could satisfy the task, were shown and never opened"),
        ("bcdgs", "a", "b, c, d and 2 more, which could satisfy the task, were shown and never opened"),
    ],
)
def test_the_evidence_reads_as_a_sentence(could: str, opened: str, evidence: str) -> None:
    told = replace(
        BOUGHT_GOAL,
        bought_asin="a",
        satisfying=frozenset(could),
        shown=frozenset("abcdgs"),
        opened=frozenset(opened),
    )
    assert diagnose(told).evidence == evidence


@pytest.mark.parametrize(
    ("changes", "stage"),
    [
        ({"bought_asin": "a", "r_type": 0.5, "r_att": 0.5}, "wrong_type"),
        ({"bought_asin": "a", "r_att": 0.5, "r_option": 0.0}, "missing_attribute"),
        ({"bought_asin": "a", "r_option": 0.0}, "wrong_option"),
        ({"r_type": 1.0, "r_option": 0.5}, "wrong_option"),
        ({"bought_asin": None}, "no_purchase"),
        ({"bought_asin": "a"}, "unexplained"),
    ],
)
def test_without_the_catalogue_the_trace_decides(changes: dict[str, object], stage: str) -> None:
    diagnosis = diagnose(replace(BOUGHT_GOAL, satisfying=None, **changes))  # type: ignore[arg-type]
    assert (diagnosis.stage, diagnosis.basis) == (stage, "trace")


component = st.one_of(st.none(), st.sampled_from([0.0, 0.5, 1.0]))
names = st.frozensets(st.sampled_from("gabs"), max_size=4)


@given(
    st.builds(
        Evidence,
        complete=st.booleans(),
        scored=st.booleans(),
        success=st.booleans(),
        termination_reason=st.sampled_from([None, "purchase", "action_limit", "generation_length"]),
        goal_asin=st.sampled_from([None, "g"]),
        bought_asin=st.sampled_from([None, "g", "a", "s"]),
        shown=names,
        opened=names,
        satisfying=st.one_of(st.none(), names),
        r_type=component,
        r_att=component,
        r_option=component,
        r_price=component,
        price_verifiable=st.sampled_from([None, True, False]),
        steps=st.integers(0, 40),
        protocol_errors=st.integers(0, 40),
        invalid_actions=st.integers(0, 40),
        most_repeated=st.integers(0, 40),
    )
)
def test_every_episode_gets_one_known_stage(evidence: Evidence) -> None:
    diagnosis = diagnose(evidence)
    assert diagnosis.stage in STAGES and diagnosis.reached in FUNNEL
    scored = evidence.complete and evidence.scored
    assert (diagnosis.stage == "technical") == (not scored)
    assert (diagnosis.stage == "success") == (scored and evidence.success)


def rows(*stages: tuple[str, str, str]) -> pd.DataFrame:
    return pd.DataFrame(stages, columns=["run_id", "stage", "reached"])


def test_shares_count_each_run_for_itself() -> None:
    shares = stage_shares(
        rows(
            ("a", "success", "success"),
            ("a", "left", "opened"),
            ("a", "left", "opened"),
            ("a", "wrong_option", "bought"),
            ("b", "left", "opened"),
        ),
        ["a", "b", "absent"],
        failures_only=True,
    )
    assert shares[["run_id", "stage", "n", "total"]].to_numpy().tolist() == [
        ["a", "left", 2, 3],
        ["a", "wrong_option", 1, 3],
        ["b", "left", 1, 1],
        ["b", "wrong_option", 0, 1],
    ]


def test_the_flow_loses_nobody() -> None:
    diagnoses = rows(
        ("a", "success", "success"),
        ("a", "not_retrieved", "all"),
        ("a", "no_purchase", "opened"),
        ("a", "left", "opened"),
        ("a", "over_budget", "options"),
    )
    links = flow(diagnoses)
    count = {(link.source, link.target): link.n for link in links.itertuples()}
    assert count["all", "shown"] == 4 and count["options", "success"] == 1
    for node in list(FUNNEL)[1:-1]:
        into = sum(n for (_, target), n in count.items() if target == node)
        out = sum(n for (source, _), n in count.items() if source == node)
        assert into == out
    assert sum(n for (_, target), n in count.items() if target.startswith("broke:")) == 4
    for (source, target), n in count.items():
        assert len(episodes_of_link(diagnoses, source, target)) == n


def test_the_oracle_counts_only_for_runs_of_its_catalogue() -> None:
    row = {
        "episode_id": "e", "task_id": 5, "complete": True, "scored": True, "success": False,
        "termination_reason": "purchase", "goal_asin": "g", "bought_asin": "a", "price_upper": 12.0,
        "price_verifiable": None, "r_type": 1.0, "r_att": 0.5, "r_option": 1.0, "r_price": 1.0, "steps": 4,
        "protocol_errors": 0, "invalid_actions": 0, "searches": 1, "most_repeated": 1, "shown": ["a"],
        "opened": ["a"], "products_shown": 1, "products_opened": 1, "error": None,
    }  # fmt: skip
    frame = pd.DataFrame([{**row, "run_id": "known"}, {**row, "run_id": "foreign"}])
    told = diagnose_episodes(frame, {(5, 12.0): frozenset({"g"})}, frozenset({"known"}))
    assert told["stage"].tolist() == ["not_retrieved", "missing_attribute"]
    assert told["basis"].tolist() == ["catalogue", "trace"]
