"""A conformance checker for conversation environments, the bundled one or one of yours (spec 06)."""

from shopsim.rlve.conformance.check import check_env
from shopsim.rlve.conformance.probe import Case, ConversationEnvironment, StepAnswer
from shopsim.rlve.conformance.report import ConformanceReport

__all__ = ["Case", "ConformanceReport", "ConversationEnvironment", "StepAnswer", "check_env"]
