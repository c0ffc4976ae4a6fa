"""Two runs of conversations compared, every figure against plain Python over the records."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from copy import deepcopy
from statistics import fmean
from typing import Any

import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from dashboard.analysis.conversations.comparing import problem_kinship
from dashboard.analysis.conversations.comparison import ConversationComparison
from dashboard.analysis.conversations.comparison_tables import problem_rows
from dashboard.lake.conversations import Conversations
from dashboard.lake.conversations_pairs import compare_conversations
from dashboard.lake.errors import LakeError, UnknownRunError
from tests.factories.rlve_review import conversation, write_conversations

ENVS = ("PD", "CART", "STATUS")


def played(skill: float, dice: int, count: int = 90, hardest: int = 2) -> list[dict[str, Any]]:
    """Episodes as a run of this skill leaves them; ``dice`` decides difficulties and outcomes."""
    source, records = random.Random(dice), []
    for number in range(count):
        env, difficulty = ENVS[number % 3], source.randrange(hardest + 1)
        violation = "invalid_tool_call" if source.random() < 0.1 else None
        record = conversation(number, env, difficulty, correct=source.random() < skill, violation=violation)
        record["turns"] = record["turns"] * source.randrange(1, 4)
        if violation:
            record["turns"] = deepcopy(record["turns"])
            record["turns"][0]["tool_results"][0]["invalid"] = True
        record["end"]["told"] = ["wish:price", "wish:color"][: source.randrange(3)]
        records.append(record)
    return records


A, B = played(0.5, 1), played(0.8, 2)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Conversations:
    folder = tmp_path_factory.mktemp("conversation-comparison")
    write_conversations(folder / "runs" / "a", A)
    write_conversations(folder / "runs" / "b", B, user={"provider": "openai", "model": "voice"})
    write_conversations(folder / "runs" / "foreign", B, environment={"catalogue_sha256": "d" * 64})
    write_conversations(folder / "runs" / "hard", played(0.5, 3, hardest=0, count=9)[:4], difficulty=0)
    write_conversations(folder / "runs" / "waiting", [])
    twins = [conversation(number, seed=1000) for number in range(3)]
    nameless = conversation(7)
    nameless["seed"] = None
    big = [conversation(8, seed=2**62 + 1), conversation(9, seed=2**62 + 2)]
    write_conversations(folder / "runs" / "odd", [*twins, nameless, *big])
    write_conversations(folder / "runs" / "plain", [conversation(0), conversation(8, seed=2**62 + 1)])
    bare = write_conversations(folder / "runs" / "bare", B)
    (bare / "rlve_manifest.json").unlink()
    found = Conversations([folder / "runs"], folder / "lake")
    found.refresh()
    return found


@pytest.fixture(scope="module")
def result(lake: Conversations) -> ConversationComparison:
    return compare_conversations(lake, "a", "b")


def key(record: dict[str, Any]) -> tuple[str, int, int]:
    return record["env"], record["difficulty"], record["seed"]


def figures(record: dict[str, Any]) -> dict[str, float]:
    known = len(record["private"]["facts"])
    calls = [call for turn in record["turns"] for call in turn["tool_results"]]
    return {
        "passed": float(record["end"]["correct"]),
        "reward": record["end"]["reward"]["total"],
        "turns": float(len(record["turns"])),
        "facts_told": len(record["end"]["told"]) / known,
        "invalid_calls": float(any(call["invalid"] for call in calls)),
    }


PAIRS = [(a, b) for a in A for b in B if key(a) == key(b)]


def test_figures_of_each_run_as_played(result: ConversationComparison) -> None:
    for side, records in ((result.whole.a, A), (result.whole.b, B)):
        for name, estimate in side.items():
            values = [figures(record)[name] for record in records]
            assert estimate.n == 90 and estimate.value == pytest.approx(fmean(values))
            assert estimate.interval is not None
            ends = (estimate.interval.low, estimate.interval.high)
            if name in ("passed", "invalid_calls"):
                wanted = proportion_confint(sum(values), 90, method="wilson")
            else:
                wanted = stats.t.interval(0.95, 89, fmean(values), stats.sem(values))
            assert ends == pytest.approx(tuple(map(float, wanted)))
    assert 0 < len(PAIRS) < 60 and not result.same_mix


def test_pairs_are_the_same_problems(result: ConversationComparison) -> None:
    assert (result.kin, result.whole.pairs) == ("same", len(PAIRS))
    assert result.repeated == result.unnamed == (0, 0)
    for name in ("passed", "reward", "turns", "facts_told", "invalid_calls"):
        found = result.whole.difference(name, "paired")
        assert found is not None and found.n == len(PAIRS) and found.interval is not None
        changes = [figures(b)[name] - figures(a)[name] for a, b in PAIRS]
        assert found.value == pytest.approx(fmean(changes))
        assert found.interval.low < found.value < found.interval.high
    outcomes = [(figures(a)["passed"] == 1, figures(b)["passed"] == 1) for a, b in PAIRS]
    wanted = {"kept": (True, True), "fixed": (False, True), "broken": (True, False), "never": (False, False)}
    assert dict(result.whole.transitions) == {name: outcomes.count(pair) for name, pair in wanted.items()}
    table = [[0, outcomes.count((True, False))], [outcomes.count((False, True)), 0]]
    assert result.whole.mcnemar_p == pytest.approx(mcnemar(table, exact=True).pvalue)


def test_paired_means_have_the_bootstrap_of_an_interval(result: ConversationComparison) -> None:
    changes = [figures(b)["reward"] - figures(a)["reward"] for a, b in PAIRS]
    found = result.whole.difference("reward", "paired")
    assert found is not None and found.interval is not None
    source = random.Random(5)
    means = sorted(fmean(source.choices(changes, k=len(changes))) for _ in range(4000))
    assert found.interval.low == pytest.approx(means[100], abs=0.03)
    assert found.interval.high == pytest.approx(means[3899], abs=0.03)


def levels_of(records: list[dict[str, Any]]) -> dict[tuple[str, int], list[dict[str, float]]]:
    found = defaultdict(list)
    for record in records:
        found[record["env"], record["difficulty"]].append(figures(record))
    return found


def test_matched_differences_never_mix_difficulties(result: ConversationComparison) -> None:
    a, b = levels_of(A), levels_of(B)
    shared = sorted(a.keys() & b.keys())
    weights = {level: min(len(a[level]), len(b[level])) for level in shared}
    for name in ("passed", "reward", "turns", "facts_told", "invalid_calls"):
        found = result.whole.difference(name, "matched")
        assert found is not None and found.interval is not None and found.n == sum(weights.values())
        wanted = sum(
            weights[level] * (fmean(e[name] for e in b[level]) - fmean(e[name] for e in a[level]))
            for level in shared
        ) / sum(weights.values())
        assert found.value == pytest.approx(wanted)
        assert found.interval.low < wanted < found.interval.high
    assert len(result.levels) == len(a.keys() | b.keys())
    for level in result.levels:
        mine = (level.env, level.difficulty or 0)
        assert (level.n_a, level.n_b) == (len(a[mine]), len(b[mine]))
        difference = level.difference("passed", "matched")
        assert difference is not None and difference.value == pytest.approx(
            fmean(e["passed"] for e in b[mine]) - fmean(e["passed"] for e in a[mine])
        )
        assert level.pairs == sum(key(x)[:2] == mine for x, _ in PAIRS)


def test_environments_and_their_corrected_p(result: ConversationComparison) -> None:
    assert [group.env for group in result.envs] == ["PD", "CART", "STATUS"]
    p_values = []
    for group in result.envs:
        mine = [(a, b) for a, b in PAIRS if a["env"] == group.env]
        fixed = sum(not a["end"]["correct"] and b["end"]["correct"] for a, b in mine)
        broken = sum(a["end"]["correct"] and not b["end"]["correct"] for a, b in mine)
        assert (group.pairs, group.transitions["fixed"], group.transitions["broken"]) == (
            len(mine),
            fixed,
            broken,
        )
        p_values.append(mcnemar([[0, broken], [fixed, 0]], exact=True).pvalue)
        assert group.mcnemar_p == pytest.approx(p_values[-1])
    corrected = multipletests(p_values, method="fdr_bh")[1]
    assert [group.q for group in result.envs] == pytest.approx(list(corrected))


def test_lists_hold_the_episodes_of_both(result: ConversationComparison) -> None:
    rows = problem_rows(result, "fixed", "CART")
    wanted = [
        (a["episode_id"], b["episode_id"])
        for a, b in sorted(PAIRS, key=lambda pair: (pair[0]["difficulty"], pair[0]["episode"]))
        if a["env"] == "CART" and not a["end"]["correct"] and b["end"]["correct"]
    ]
    assert list(zip(rows["episode_id_a"], rows["episode_id_b"], strict=True)) == wanted and wanted


def test_settings_that_differ_are_listed(result: ConversationComparison) -> None:
    found = {difference.field: difference.role for difference in result.differences}
    assert found == {"user.provider": "confounder", "user.model": "confounder", "experiment": "irrelevant"}
    assert result.plans_known == (True, True)


def test_few_pairs_leave_the_main_figure_to_matching(lake: Conversations) -> None:
    assert compare_conversations(lake, "a", "b").basis == "matched"
    full = compare_conversations(lake, "a", "a")
    assert (full.basis, full.whole.pairs, full.same_mix) == ("paired", 90, True)
    alike = full.whole.difference("reward", "paired")
    assert alike is not None and alike.value == 0 and alike.interval is None
    assert alike.verdict == "no interval"
    passed = full.whole.difference("passed", "paired")
    assert passed is not None and passed.interval is not None and passed.verdict == "undecided"
    hard = compare_conversations(lake, "a", "hard")
    assert {"difficulty", "episodes"} <= {difference.field for difference in hard.differences}


def test_foreign_problems_are_not_paired(lake: Conversations) -> None:
    foreign = compare_conversations(lake, "a", "foreign")
    assert (foreign.kin, foreign.whole.pairs, foreign.bases) == ("different", 0, ["matched"])
    assert foreign.whole.difference("passed", "paired") is None
    bare = compare_conversations(lake, "a", "bare")
    assert (bare.kin, bare.plans_known, bare.differences) == ("unknown", (True, False), [])
    assert bare.whole.pairs == len(PAIRS)


def test_a_problem_played_twice_or_without_a_seed_has_no_pair(lake: Conversations) -> None:
    odd = compare_conversations(lake, "odd", "plain")
    assert (odd.repeated, odd.unnamed, odd.whole.pairs) == ((3, 0), (1, 0), 1)
    assert odd.pairing.pairs["seed"].tolist() == [str(2**62 + 1)]  # beside a missing one, not rounded


def test_runs_that_cannot_be_compared(lake: Conversations) -> None:
    with pytest.raises(LakeError, match="waiting: no episode with a verdict"):
        compare_conversations(lake, "a", "waiting")
    with pytest.raises(UnknownRunError, match="nobody"):
        compare_conversations(lake, "nobody", "a")


@pytest.mark.parametrize(
    "change, wanted",
    [
        ({}, "same"),
        ({"disclose": False}, "same"),
        ({"catalogue_sha256": "other"}, "different"),
        ({"environment_version": "v9"}, "different"),
        ({"denied_categories": ["Beauty"]}, "different"),
        ({"catalogue_sha256": None}, "unknown"),
        ({"catalogue_sha256": None, "environment_version": "v9"}, "different"),
    ],
)
def test_what_makes_problems_the_same(change: dict[str, Any], wanted: str) -> None:
    known = {"environment_version": "v1", "catalogue_sha256": "x", "denied_categories": []}
    plans: list[Any] = [{"environment": known}, {"environment": known | change}]
    assert problem_kinship(*plans) == problem_kinship(*plans[::-1]) == wanted
    assert problem_kinship(None, plans[0]) == problem_kinship({"environment": 3}, plans[0]) == "unknown"


def test_verdicts_say_which_way_is_better(lake: Conversations) -> None:
    back, forth = compare_conversations(lake, "b", "a"), compare_conversations(lake, "a", "b")
    there, here = back.whole.difference("passed", "matched"), forth.whole.difference("passed", "matched")
    assert there is not None and here is not None
    assert (there.verdict, here.verdict) == ("worse", "better")
    assert there.interval is not None and here.interval is not None
    assert math.isclose(there.interval.low, -here.interval.high)
