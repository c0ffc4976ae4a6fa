"""Tasks: goals, stated budgets, splits, and which purchases satisfy a goal."""

from shopsim.tasks.budget import BudgetReading, parse_budget
from shopsim.tasks.goals import Goal, GoalSet, TaskError, UnknownTaskError, build_goals
from shopsim.tasks.splits import Splits, load_splits

__all__ = [
    "BudgetReading",
    "Goal",
    "GoalSet",
    "Splits",
    "TaskError",
    "UnknownTaskError",
    "build_goals",
    "load_splits",
    "parse_budget",
]
