"""Two runs of conversations compared: pairs of problems, figures of both, paired and matched differences."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from dashboard.analysis.compare import (
    Interval,
    Pairing,
    align_plans,
    benjamini_hochberg,
    compare_pairs,
    mcnemar_exact,
    pair_episodes,
    transition_counts,
)
from dashboard.analysis.compare.catalogues import Kinship
from dashboard.analysis.compare.paired_shares import paired_share_interval
from dashboard.analysis.compare.strata import MatchedDifference, matched_means, matched_shares
from dashboard.analysis.conversations.comparison import (
    COMPARED,
    ConversationComparison,
    Difference,
    Estimate,
    GroupComparison,
)
from dashboard.analysis.conversations.words import env_places
from dashboard.analysis.intervals import mean_interval, wilson_interval

__all__ = ["PROBLEM_KEY", "compare_conversation_runs", "problem_kinship"]

PROBLEM_KEY: Final = ("env", "difficulty", "seed")
"""What names a problem of one catalogue: equal ones are equal problems (spec 06, "Episode")."""
_PROBLEM_FIELDS: Final = ("environment_version", "catalogue_sha256", "denied_categories")
"""Fields of ``plan.environment`` that decide, beside the key, which problem it is."""
_HARMLESS: Final = ("episodes", "user.base_url")


def problem_kinship(a: Mapping[str, Any] | None, b: Mapping[str, Any] | None) -> Kinship:
    """Whether two plans draw the same problem from the same environment, difficulty and seed.

    ``different`` where a field that decides it is known of both and differs, ``unknown`` where one is not
    recorded.
    """
    sides = [_environment(plan) for plan in (a, b)]
    values = [tuple(side.get(field) for side in sides) for field in _PROBLEM_FIELDS]
    known = [pair for pair in values if None not in pair]
    if any(left != right for left, right in known):
        return "different"
    return "same" if len(known) == len(values) else "unknown"


def _environment(plan: Mapping[str, Any] | None) -> Mapping[str, Any]:
    environment = (plan or {}).get("environment")
    return environment if isinstance(environment, Mapping) else {}


def compare_conversation_runs(
    a: pd.DataFrame, b: pd.DataFrame, plan_a: Mapping[str, Any] | None, plan_b: Mapping[str, Any] | None
) -> ConversationComparison:
    """Compare two frames of ``conversation_compare_episodes.sql``, each with an episode at least.

    ``plan_a`` and ``plan_b`` are those of the manifests, None where there is none. Where they draw different
    problems nothing is paired.
    """
    kin = problem_kinship(plan_a, plan_b)
    sides = [_once(side) for side in (a, b)]
    if kin == "different":
        sides = [side[:0] for side in sides]
    pairing = pair_episodes(sides[0], sides[1], key=PROBLEM_KEY, success="passed")
    names = env_places([*a["env"], *b["env"]])
    in_order = sorted(names, key=names.__getitem__)
    levels = sorted({*_levels(a), *_levels(b)}, key=lambda level: (names[level[0]], level[1]))
    return ConversationComparison(
        differences=align_plans(plan_a, plan_b, irrelevant=_HARMLESS) if plan_a and plan_b else [],
        plans_known=(plan_a is not None, plan_b is not None),
        kin=kin,
        whole=_group(a, b, pairing),
        envs=_with_q([_group(_of(a, env), _of(b, env), _pairs_of(pairing, env), env) for env in in_order]),
        levels=[
            _group(_of(a, env, level), _of(b, env, level), _pairs_of(pairing, env, level), env, level)
            for env, level in levels
        ],
        pairing=pairing,
        repeated=(_repeated(a), _repeated(b)),
        unnamed=(int(a["seed"].isna().sum()), int(b["seed"].isna().sum())),
    )


def _once(episodes: pd.DataFrame) -> pd.DataFrame:
    """Episodes of problems that the run played once: another time there is no telling which is the pair."""
    named = episodes[episodes["seed"].notna()]
    once = named[~named.duplicated(list(PROBLEM_KEY), keep=False)]
    return once.astype({"seed": "str"}).assign(scored=True)


def _repeated(episodes: pd.DataFrame) -> int:
    named = episodes[episodes["seed"].notna()]
    return int(named.duplicated(list(PROBLEM_KEY), keep=False).sum())


def _levels(episodes: pd.DataFrame) -> set[tuple[str, int]]:
    return {(str(env), int(d)) for env, d in zip(episodes["env"], episodes["difficulty"], strict=True)}


def _of(episodes: pd.DataFrame, env: str, difficulty: int | None = None) -> pd.DataFrame:
    mine = episodes[episodes["env"] == env]
    return mine if difficulty is None else mine[mine["difficulty"] == difficulty]


def _pairs_of(pairing: Pairing, env: str, difficulty: int | None = None) -> Pairing:
    parts = (pairing.pairs, pairing.only_a, pairing.only_b, pairing.unscored)
    return Pairing(*(_of(part, env, difficulty).reset_index(drop=True) for part in parts))


def _with_q(groups: list[GroupComparison]) -> list[GroupComparison]:
    paired = [group for group in groups if group.pairs]
    adjusted = dict(
        zip((g.env for g in paired), benjamini_hochberg([g.mcnemar_p for g in paired]), strict=True)
    )
    return [replace(group, q=adjusted.get(group.env)) for group in groups]


def _group(
    a: pd.DataFrame, b: pd.DataFrame, pairing: Pairing, env: str = "", difficulty: int | None = None
) -> GroupComparison:
    transitions = transition_counts(pairing.pairs)
    return GroupComparison(
        env,
        difficulty,
        len(a),
        len(b),
        {name: estimate for name in COMPARED if (estimate := _estimate(a, name)) is not None},
        {name: estimate for name in COMPARED if (estimate := _estimate(b, name)) is not None},
        {name: found for name in COMPARED if (found := _matched(a, b, name)) is not None},
        _paired(pairing, COMPARED if difficulty is None else ("passed",)),
        transitions,
        mcnemar_exact(transitions["fixed"], transitions["broken"]),
    )


def _paired(pairing: Pairing, names: Collection[str]) -> dict[str, Difference]:
    """Differences of the pairs: shares by Newcombe's method, means by the paired bootstrap."""
    means = {name: COMPARED[name].better for name in names if COMPARED[name].kind == "mean"}
    bootstrapped = compare_pairs(pairing, metrics=means)
    found = {}
    for name in names:
        compared = COMPARED[name]
        if compared.kind == "share":
            if len(pairing.pairs):
                found[name] = _paired_share(pairing.pairs, name, compared.better)
        elif (entry := bootstrapped.metric(name)) is not None:
            interval = entry.interval
            if interval is not None and interval.low == interval.high:  # all differ alike: no spread known
                interval = None
            found[name] = Difference(
                entry.mean_a, entry.mean_b, entry.difference, interval, entry.n, compared.better
            )
    return found


def _paired_share(pairs: pd.DataFrame, name: str, better: bool | None) -> Difference:
    a, b = (pairs[f"{name}_{side}"].to_numpy() == 1 for side in ("a", "b"))
    counts = [int(part.sum()) for part in (a & b, ~a & b, a & ~b, ~a & ~b)]
    difference = (counts[1] - counts[2]) / len(pairs)
    return Difference(
        float(a.mean()), float(b.mean()), difference, paired_share_interval(*counts), len(pairs), better
    )


def _estimate(episodes: pd.DataFrame, name: str) -> Estimate | None:
    """The figure of some episodes: Wilson for shares, Student's t for means (cut to what is possible)."""
    values = episodes[name].dropna().to_numpy(dtype=float)
    n = len(values)
    if n == 0:
        return None
    compared = COMPARED[name]
    if compared.kind == "share":
        low, high = wilson_interval([values.sum()], [n])
    else:
        deviation = float(values.std(ddof=1)) if n > 1 else 0.0
        low, high = mean_interval([values.mean()], [deviation], [n], bounds=compared.bounds)
    known = np.isfinite(low[0]) and np.isfinite(high[0]) and low[0] < high[0]
    return Estimate(float(values.mean()), Interval(float(low[0]), float(high[0])) if known else None, n)


def _matched(a: pd.DataFrame, b: pd.DataFrame, name: str) -> MatchedDifference | None:
    """The difference over what both have of environment and difficulty."""
    sides = [side.dropna(subset=[name]).groupby(["env", "difficulty"])[name] for side in (a, b)]
    table = pd.concat([side.agg(["sum", "mean", "std", "size"]) for side in sides], axis=1, keys=["a", "b"])

    def column(side: str, part: str) -> npt.NDArray[np.float64]:
        values: npt.NDArray[np.float64] = np.nan_to_num(table[side, part].to_numpy(dtype=float))
        return values

    if COMPARED[name].kind == "share":
        return matched_shares(*(column(side, part) for side in ("a", "b") for part in ("sum", "size")))
    return matched_means(*(column(side, part) for side in ("a", "b") for part in ("mean", "std", "size")))
