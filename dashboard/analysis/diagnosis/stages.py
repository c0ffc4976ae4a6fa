"""The stages at which an episode can break, in the order in which they are passed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["FUNNEL", "STAGES", "STAGE_ORDER", "SUCCESS_STAGE", "Stage"]

SUCCESS_STAGE: Final = "success"


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: its key, what it is called, and what it means in one sentence."""

    key: str
    label: str
    meaning: str


_ALL: Final = (
    Stage("success", "success", "A purchase that satisfies the task."),
    Stage("technical", "technical", "The episode was not completed or not scored: no fault of the agent."),
    Stage("unsatisfiable", "unsatisfiable task", "No purchase in the whole catalogue satisfies the task."),
    Stage("no_purchase", "no purchase", "The actions or the generation ran out before anything was bought."),
    Stage(
        "not_retrieved", "not retrieved", "No result page that it saw showed a product that could satisfy."
    ),
    Stage("not_chosen", "not chosen", "A product that could satisfy was shown, but never opened."),
    Stage("left", "left", "A product that could satisfy was opened, then another one was bought."),
    Stage("wrong_type", "wrong type", "The bought product is of another kind (judged by the trace alone)."),
    Stage(
        "missing_attribute", "missing attribute", "The bought product lacks a wanted attribute (trace alone)."
    ),
    Stage(
        "wrong_option", "wrong option", "The right product with an option value that the task does not want."
    ),
    Stage("over_budget", "over budget", "The right product and options at a price over the limit."),
    Stage(
        "price_unverifiable", "price unverifiable", "A budget is set and the chosen price cannot be verified."
    ),
    Stage("unexplained", "unexplained", "No rule applies: the record contradicts itself or lacks fields."),
)

STAGES: Final[dict[str, Stage]] = {stage.key: stage for stage in _ALL}
STAGE_ORDER: Final = tuple(STAGES)

FUNNEL: Final = {
    "all": "episodes",
    "shown": "could satisfy: shown",
    "opened": "could satisfy: opened",
    "bought": "could satisfy: bought",
    "options": "options right",
    "success": "success",
}
"""What a successful episode passes, in order."""
