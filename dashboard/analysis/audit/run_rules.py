"""The registry of rules about one run. Every module of rules adds its own to it."""

from __future__ import annotations

from typing import Final

from dashboard.analysis.audit.facts import RunFacts
from dashboard.analysis.audit.finding import Registry

__all__ = ["RUN_RULES"]

RUN_RULES: Final[Registry[RunFacts]] = Registry()
