"""The first stage that broke in one episode, with the evidence for it.

With the task oracle - every product of the catalogue that has a satisfying purchase - the stage is exact:
what could have satisfied the task is known, so "it was never shown" and "it was shown but not opened" are
facts. Without it (another catalogue) the target product stands in for all of them, and the recorded reward
components tell what was wrong with the purchase: a proxy, marked as such in ``basis``.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Final, Literal

from shopsim.wording import plural

__all__ = ["Diagnosis", "Evidence", "diagnose"]

Basis = Literal["catalogue", "trace"]

_REPEATS: Final = 4
_LISTED: Final = 3


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a trace tells about one episode. ``satisfying`` is None when the run's catalogue is not at hand.

    ``shown`` and ``opened`` need hold only products that matter: those that could satisfy, and the target;
    ``products_shown`` and ``products_opened`` count all of them.
    Components are None when not recorded. ``most_repeated`` is how often its most frequent action was sent.
    """

    complete: bool
    scored: bool
    success: bool
    termination_reason: str | None
    goal_asin: str | None
    bought_asin: str | None
    shown: Set[str]
    opened: Set[str]
    satisfying: Set[str] | None
    products_shown: int = 0
    products_opened: int = 0
    r_type: float | None = None
    r_att: float | None = None
    r_option: float | None = None
    r_price: float | None = None
    price_verifiable: bool | None = None
    steps: int = 0
    protocol_errors: int = 0
    invalid_actions: int = 0
    searches: int = 0
    most_repeated: int = 0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Where it broke: a key of ``STAGES``, a sub-kind, why, and on what basis that is known.

    ``reached`` is the last step of the funnel that was passed.
    """

    stage: str
    detail: str
    evidence: str
    basis: Basis
    reached: str


def diagnose(evidence: Evidence) -> Diagnosis:
    """Find the first stage that broke. Pure: one episode's facts in, one diagnosis out."""
    basis: Basis = "trace" if evidence.satisfying is None else "catalogue"
    stage, detail, why = _first_broken(evidence)
    return Diagnosis(stage, detail, why, basis, _reached(evidence, stage))


def _first_broken(evidence: Evidence) -> tuple[str, str, str]:
    if not evidence.complete or not evidence.scored:
        return "technical", "not scored", evidence.error or "the episode was not completed or has no score"
    if evidence.success:
        return "success", "", "the purchase satisfies the task"
    if evidence.satisfying is not None and not evidence.satisfying:
        return "unsatisfiable", "", "no purchase in the whole catalogue satisfies the task"
    if evidence.bought_asin is None:
        detail, why = _no_purchase(evidence)
        return "no_purchase", detail, why
    if evidence.satisfying is None:
        return _by_trace(evidence)
    if evidence.bought_asin in evidence.satisfying:
        return _purchase_of_right_product(evidence)
    return _retrieval(evidence, evidence.satisfying)


def _no_purchase(evidence: Evidence) -> tuple[str, str]:
    steps = max(evidence.steps, 1)  # of no step at all nothing was broken or refused
    if evidence.termination_reason == "generation_length":
        return "cut off", f"the generation ran into its length limit at step {evidence.steps}"
    if 2 * evidence.protocol_errors >= steps:
        return "protocol trouble", f"{evidence.protocol_errors} of {steps} turns broke the tool protocol"
    if 2 * evidence.invalid_actions >= steps:
        return "invalid actions", f"{evidence.invalid_actions} of {steps} actions were refused"
    if evidence.most_repeated >= max(_REPEATS, steps // 4):
        return "looping", f"one action was sent {evidence.most_repeated} times in {steps} steps"
    if not evidence.products_opened:
        taken = plural(evidence.steps, "step")
        return "dead end", f"no product was opened in {taken} and {_searches(evidence)}"
    opened = plural(evidence.products_opened, "product")
    return "ran out", f"{plural(evidence.steps, 'step')}, {_searches(evidence)}, {opened} opened"


def _retrieval(evidence: Evidence, wanted: Set[str]) -> tuple[str, str, str]:
    """It bought something that cannot satisfy; ``detail`` says what was wrong with it."""
    shown = sorted(wanted & evidence.shown)
    opened = sorted(wanted & evidence.opened)
    fault = f"bought {_fault(evidence)}"
    could = "which could satisfy the task"
    if opened:
        return "left", fault, f"opened {_names(opened)}, {could}, then bought {evidence.bought_asin}"
    if shown:
        were = "was" if len(shown) == 1 else "were"
        return "not_chosen", fault, f"{_names(shown)}, {could}, {were} shown and never opened"
    seen = f"{plural(evidence.products_shown, 'product')} seen in {_searches(evidence)}"
    return "not_retrieved", fault, f"none of the {len(wanted)} that could satisfy among {seen}"


def _fault(evidence: Evidence) -> str:
    """The first component that the purchase broke."""
    for component, fault in (
        (evidence.r_type, "wrong type"),
        (evidence.r_att, "missing attribute"),
        (evidence.r_option, "wrong option"),
    ):
        if _below(component):
            return fault
    if _below(evidence.r_price):
        return "price unverifiable" if evidence.price_verifiable is False else "over budget"
    return "unknown fault"


def _purchase_of_right_product(evidence: Evidence) -> tuple[str, str, str]:
    if _below(evidence.r_option):
        return "wrong_option", "", f"options met: {_share(evidence.r_option)} of the wanted ones"
    if _below(evidence.r_price):
        if evidence.price_verifiable is False:
            return "price_unverifiable", "", "a budget is set and the chosen price cannot be verified"
        return "over_budget", "", "the chosen price is over the limit"
    return "unexplained", "", "the bought product could satisfy, yet no recorded component tells what failed"


def _by_trace(evidence: Evidence) -> tuple[str, str, str]:
    """Without the catalogue: the target stands in for all that could satisfy, components tell the rest."""
    if evidence.goal_asin is not None and evidence.bought_asin == evidence.goal_asin:
        return _purchase_of_right_product(evidence)
    if _below(evidence.r_type):
        return "wrong_type", "", f"type reward {evidence.r_type:g}: bought {evidence.bought_asin}"
    if _below(evidence.r_att):
        return "missing_attribute", "", f"attributes met: {_share(evidence.r_att)} of the wanted ones"
    return _purchase_of_right_product(evidence)


def _reached(evidence: Evidence, stage: str) -> str:
    wanted = evidence.satisfying
    if wanted is None:
        wanted = frozenset({evidence.goal_asin} if evidence.goal_asin else ())
    if stage == "success":
        return "success"
    if evidence.bought_asin is not None and evidence.bought_asin in wanted:
        return "bought" if _below(evidence.r_option) else "options"
    if wanted & evidence.opened:
        return "opened"
    return "shown" if wanted & evidence.shown else "all"


def _searches(evidence: Evidence) -> str:
    return plural(evidence.searches, "search", "searches")


def _below(component: float | None) -> bool:
    return component is not None and component < 1


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.0%}"


def _names(asins: list[str]) -> str:
    if len(asins) > _LISTED:
        return ", ".join(asins[:_LISTED]) + f" and {len(asins) - _LISTED} more"
    return " and ".join(part for part in (", ".join(asins[:-1]), asins[-1]) if part)
