"""Rules: recorded rewards agree with themselves and with the formulas of spec 03."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any, Final

import pandas as pd

from dashboard.analysis.audit.episode_rules import EPISODE_RULES, RecordedEpisodes
from dashboard.analysis.audit.facts import RunFacts, places_of
from dashboard.analysis.audit.finding import Observation
from dashboard.analysis.audit.run_rules import RUN_RULES
from shopsim.rollout.summary import REWARD_COMPONENTS

__all__: list[str] = []

_TOLERANCE: Final = 1e-9
_FACTORS: Final = ("r_type", "r_att", "r_option", "r_price")
_ENDINGS: Final = frozenset({"purchase", "action_limit", "generation_length"})
_VERIFY: Final = "Recompute with shopsim-review verify, and mend the program that wrote the records."
_DETAIL: Final = "final.reward_detail"

Row = Mapping[Hashable, Any]


@EPISODE_RULES.rule("Reward is not r_strict", "error")
def reward_is_not_strict(run: RecordedEpisodes) -> Iterator[Observation]:
    """Complete episodes whose reward differs from r_strict: the primary reward is r_strict (spec 03)."""
    scored = run.complete.dropna(subset=["reward", "r_strict"])
    wrong = scored[_differ(scored["reward"], scored["r_strict"])]
    yield from _observe(
        run,
        wrong,
        "The reward of episodes is not their r_strict.",
        lambda row: f"reward {row['reward']:g}, r_strict {row['r_strict']:g}",
        "final.reward",
    )


@EPISODE_RULES.rule("Reward components missing", "warning")
def components_missing(run: RecordedEpisodes) -> Iterator[Observation]:
    """Scored episodes without one of the seven components: component means are over fewer episodes."""
    scored = run.complete[run.complete["scored"].astype(bool)]
    missing = scored[scored[list(REWARD_COMPONENTS)].isna().any(axis=1)]
    yield from _observe(
        run,
        missing,
        "Scored episodes lack reward components.",
        lambda row: ", ".join(name for name in REWARD_COMPONENTS if pd.isna(row[name])),
        _DETAIL,
        mend="Component means are over the others; have the environment record every component.",
    )


@EPISODE_RULES.rule("Component out of range", "error")
def component_out_of_range(run: RecordedEpisodes) -> Iterator[Observation]:
    """A reward or component below 0 or above 1."""
    columns = ["reward", *REWARD_COMPONENTS]
    values = run.complete[columns].astype(float)
    outside = (values < -_TOLERANCE) | (values > 1 + _TOLERANCE)
    yield from _observe(
        run,
        run.complete[outside.any(axis=1)],
        "Rewards or components lie outside 0 to 1.",
        lambda row: ", ".join(
            f"{name} {row[name]:g}"
            for name in columns
            if pd.notna(row[name]) and not -_TOLERANCE <= row[name] <= 1 + _TOLERANCE
        ),
        _DETAIL,
    )


@EPISODE_RULES.rule("r_strict is not the product", "error")
def strict_is_not_product(run: RecordedEpisodes) -> Iterator[Observation]:
    """r_strict must be r_type * r_att * r_option * r_price (spec 03)."""
    known = run.complete.dropna(subset=[*_FACTORS, "r_strict"])
    product = known[list(_FACTORS)].astype(float).prod(axis=1)
    known = known.assign(expected=product)
    yield from _observe(
        run,
        known[_differ(known["r_strict"], product)],
        "r_strict is not r_type · r_att · r_option · r_price.",
        lambda row: f"r_strict {row['r_strict']:g}, the product is {row['expected']:g}",
        f"{_DETAIL}.r_strict",
    )


@EPISODE_RULES.rule("r_success against its components", "error")
def success_is_not_all_one(run: RecordedEpisodes) -> Iterator[Observation]:
    """r_success must be 1 when type, attributes, options and price are all exactly 1, else 0 (spec 03)."""
    known = run.complete.dropna(subset=[*_FACTORS, "r_success"])
    known = known.assign(expected=(known[list(_FACTORS)].astype(float) == 1).all(axis=1).astype(float))
    yield from _observe(
        run,
        known[_differ(known["r_success"], known["expected"])],
        "r_success does not follow from the four components.",
        lambda row: (
            f"r_success {row['r_success']:g}, " + ", ".join(f"{name} {row[name]:g}" for name in _FACTORS)
        ),
        f"{_DETAIL}.r_success",
    )


@EPISODE_RULES.rule("Component against its counts", "error")
def component_is_not_ratio(run: RecordedEpisodes) -> Iterator[Observation]:
    """r_att and r_option of a purchase must be matches over wanted, 1 when nothing is wanted (spec 03)."""
    bought = run.complete[run.complete["termination_reason"] == "purchase"]
    for component, matches, wanted in (
        ("r_att", "num_attr_matches", "n_attributes"),
        ("r_option", "num_option_matches", "n_options"),
    ):
        known = bought.dropna(subset=[component, matches, wanted])
        size = known[wanted].astype(float)
        known = known.assign(expected=(known[matches].astype(float) / size.where(size > 0)).fillna(1.0))
        yield from _observe(
            run,
            known[_differ(known[component], known["expected"])],
            f"{component} is not {matches} over the number that the goal wants.",
            lambda row, c=component, m=matches, w=wanted: f"{c} {row[c]:g}, {row[m]:g} of {row[w]:g}",
            f"{_DETAIL}.{component}",
        )


@EPISODE_RULES.rule("r_loose against its formula", "error")
def loose_is_not_formula(run: RecordedEpisodes) -> Iterator[Observation]:
    """r_loose of a purchase must be r_type * (matches + r_price) / (wanted + 1) (spec 03)."""
    parts = ["num_attr_matches", "num_option_matches", "n_attributes", "n_options"]
    bought = run.complete[run.complete["termination_reason"] == "purchase"]
    known = bought.dropna(subset=[*parts, "r_type", "r_price", "r_loose"])
    numbers = known[[*parts, "r_type", "r_price"]].astype(float)
    hits = numbers["num_attr_matches"] + numbers["num_option_matches"] + numbers["r_price"]
    expected = numbers["r_type"] * hits / (numbers["n_attributes"] + numbers["n_options"] + 1)
    known = known.assign(expected=expected)
    yield from _observe(
        run,
        known[_differ(known["r_loose"], expected)],
        "r_loose is not r_type · (matches + r_price) / (wanted + 1).",
        lambda row: f"r_loose {row['r_loose']:g}, the formula gives {row['expected']:g}",
        f"{_DETAIL}.r_loose",
    )


@EPISODE_RULES.rule("Reward without a purchase", "error")
def reward_without_purchase(run: RecordedEpisodes) -> Iterator[Observation]:
    """An episode that ended without a purchase has reward 0 and every component 0 (spec 01)."""
    ended = run.complete[run.complete["termination_reason"].isin(_ENDINGS - {"purchase"})]
    values = ended[["reward", *REWARD_COMPONENTS]].astype(float).abs().max(axis=1)
    yield from _observe(
        run,
        ended[values > _TOLERANCE],
        "Episodes that bought nothing have a reward or a component above 0.",
        lambda row: f"{row['termination_reason']}, reward {row['reward']:g}",
        "final.reward",
    )


@EPISODE_RULES.rule("Unknown termination reason", "warning")
def termination_unknown(run: RecordedEpisodes) -> Iterator[Observation]:
    """Complete episodes end by purchase, action_limit or generation_length, nothing else (spec 01)."""
    strange = run.complete[~run.complete["termination_reason"].isin(_ENDINGS)]
    yield from _observe(
        run,
        strange,
        "Episodes ended for a reason that the protocol does not know.",
        lambda row: str(row["termination_reason"]) if isinstance(row["termination_reason"], str) else "none",
        "final.termination_reason",
        mend="Tell what the reason means, or record one of purchase, action_limit, generation_length.",
    )


@RUN_RULES.rule("More steps than the limit", "warning")
def steps_beyond_limit(run: RunFacts) -> Iterator[Observation]:
    """Episodes with more steps than plan.runtime.max_steps allows."""
    runtime = run.plan.get("runtime")
    limit = runtime.get("max_steps") if isinstance(runtime, Mapping) else None
    if type(limit) is not int:
        return
    yield from _observe(
        run,
        run.episodes[run.episodes["steps"].astype(float) > limit],
        f"Episodes have more than the {limit} steps that the plan allows.",
        lambda row: f"{row['steps']} steps",
        "steps",
        mend="Find out which limit the runner used; the plan must name it.",
    )


def _differ(left: pd.Series[Any], right: pd.Series[Any]) -> pd.Series[bool]:
    return (left.astype(float) - right.astype(float)).abs() > _TOLERANCE


def _observe(
    run: RecordedEpisodes, wrong: pd.DataFrame, what: str, detail: Any, field: str, *, mend: str = _VERIFY
) -> Iterator[Observation]:
    if len(wrong):
        yield Observation(what, run.records_file, mend, places_of(wrong, detail, field=field), field=field)
