"""Running the rules over some tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Final

from shopsim.conformance import UnusableAnswerError
from shopsim.env.conformance.probe import Probe, ShoppingEnvironment
from shopsim.env.conformance.report import ConformanceReport
from shopsim.env.conformance.rules import RULES, Rule
from shopsim.errors import UsageError

__all__ = ["DEFAULT_LIMITS", "check_env"]

DEFAULT_LIMITS: Final[Mapping[str, int]] = MappingProxyType({"single_turn": 30, "multi_turn": 40})


def check_env(
    environment: ShoppingEnvironment,
    task_ids: Sequence[int],
    *,
    limits: Mapping[str, int] = DEFAULT_LIMITS,
    progress: Callable[[Iterable[Rule]], Iterable[Rule]] = iter,
) -> ConformanceReport:
    """Test every rule of the contract on every task of ``task_ids``.

    ``limits`` are the action budgets by interaction mode. The environment is reset many times; about 300
    steps a task are taken. Raises :class:`~shopsim.errors.UsageError` without tasks; errors of another kind
    than :class:`~shopsim.errors.ShopSimError` are defects of the environment and are passed on.
    """
    if not task_ids:
        raise UsageError("task_ids: at least one task is needed")
    probe = Probe(environment)
    results = []
    for rule in progress(RULES):
        probe.begin()
        for task_id in task_ids:
            with suppress(UnusableAnswerError):  # noted as a failure; the next task may do better
                rule.test(probe, task_id, limits)
        results.append(probe.result(rule.name, rule.description))
    return ConformanceReport(results=tuple(results), steps=probe.steps, task_ids=tuple(task_ids))
