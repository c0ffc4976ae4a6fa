"""EcomRLVE: eight verifiable conversation environments of a shop, adaptive in their difficulty (spec 06).

``open_shop(settings).new_env()`` gives an environment; the rooms below hold the rest: ``catalogue``,
``world``, ``tools``, ``tasks``, ``user``, ``agents``, ``rollout``, ``conformance``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shopsim.rlve.action import ACTION_SCHEMA, AgentAction, Answer, SubgoalAnswer, ToolCall, parse_action
    from shopsim.rlve.collections import COLLECTIONS, ENVIRONMENTS, collection
    from shopsim.rlve.curriculum import AdaptiveWindow, Curriculum
    from shopsim.rlve.difficulty import Difficulty
    from shopsim.rlve.env import RlveEnv, StepResult
    from shopsim.rlve.problem import Fact, Outcome, Problem, Task, Verdict
    from shopsim.rlve.reward import EpisodeReward, episode_reward
    from shopsim.rlve.shop import Shop, open_shop

__all__ = [
    "ACTION_SCHEMA",
    "COLLECTIONS",
    "ENVIRONMENTS",
    "AdaptiveWindow",
    "AgentAction",
    "Answer",
    "Curriculum",
    "Difficulty",
    "EpisodeReward",
    "Fact",
    "Outcome",
    "Problem",
    "RlveEnv",
    "Shop",
    "StepResult",
    "SubgoalAnswer",
    "Task",
    "ToolCall",
    "Verdict",
    "collection",
    "episode_reward",
    "open_shop",
    "parse_action",
]

_HOMES = {
    "action": ("ACTION_SCHEMA", "AgentAction", "Answer", "SubgoalAnswer", "ToolCall", "parse_action"),
    "collections": ("COLLECTIONS", "ENVIRONMENTS", "collection"),
    "curriculum": ("AdaptiveWindow", "Curriculum"),
    "difficulty": ("Difficulty",),
    "env": ("RlveEnv", "StepResult"),
    "problem": ("Fact", "Outcome", "Problem", "Task", "Verdict"),
    "reward": ("EpisodeReward", "episode_reward"),
    "shop": ("Shop", "open_shop"),
}


def __getattr__(name: str) -> Any:
    """Load what is asked for: the rooms need each other, and a small question no catalogue."""
    from importlib import import_module

    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
