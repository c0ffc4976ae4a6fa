"""The simulated user: tells part of what it wants, answers, corrects, loses patience (spec 06)."""

from shopsim.rlve.user.acts import TURNS_FOR_FREE, UserAct, UserTurn
from shopsim.rlve.user.simulator import UserSimulator
from shopsim.rlve.user.templates import Templates, bundled_templates, load_templates

__all__ = [
    "TURNS_FOR_FREE",
    "Templates",
    "UserAct",
    "UserSimulator",
    "UserTurn",
    "bundled_templates",
    "load_templates",
]
