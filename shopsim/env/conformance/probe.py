"""Drives an environment and tests every answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final, Protocol

from shopsim.conformance import Expectations, UnusableAnswerError
from shopsim.env.conformance.answers import is_usable_page, reset_problems, step_problems
from shopsim.errors import ShopSimError

__all__ = ["Probe", "ShoppingEnvironment", "comparable"]

_TRANSPORT_KEYS: Final = frozenset({"env_idx", "lease_id"})


class ShoppingEnvironment(Protocol):
    """An environment of the contract: local, or behind a client."""

    def reset(
        self,
        task_id: int,
        *,
        persona: bool = True,
        interaction_mode: str = "single_turn",
        include_private_goal: bool = False,
    ) -> dict[str, Any]:
        """Start the episode of a task."""
        ...

    def step(self, response: str) -> dict[str, Any]:
        """Take one action."""
        ...

    def terminate(self, termination_reason: str) -> dict[str, Any]:
        """End the episode without a purchase."""
        ...


def comparable(answer: Mapping[str, Any]) -> dict[str, Any]:
    """An answer without what a transport adds to it."""
    return {key: value for key, value in answer.items() if key not in _TRANSPORT_KEYS}


class Probe(Expectations):
    """One environment under test."""

    def __init__(self, environment: ShoppingEnvironment) -> None:
        super().__init__()
        self.environment = environment

    def reset(self, task_id: int, **options: Any) -> dict[str, Any]:
        """Reset and test the answer. ``options`` are those of the environment."""
        private = bool(options.get("include_private_goal", False))
        problems = partial(reset_problems, private_goal=private)
        call = partial(self.environment.reset, task_id, **options)
        return self._tested(f"reset({task_id})", call, problems, ("task_instruction",))

    def step(self, response: str) -> dict[str, Any]:
        """Step and test the answer."""
        self.steps += 1
        call = partial(self.environment.step, response)
        answer = self._tested(f"step({response[:60]!r})", call, step_problems, ("done",))
        feedback = answer.get("action_feedback")
        if not isinstance(feedback, Mapping) or "reason" not in feedback:
            self.expect(False, f"step({response[:60]!r}): action_feedback gives no reason")
            raise UnusableAnswerError
        return answer

    def terminate(self, reason: str) -> dict[str, Any]:
        """Terminate and test the answer."""
        call = partial(self.environment.terminate, reason)
        return self._tested(f"terminate({reason!r})", call, step_problems, ("done",))

    def play(self, task_id: int, responses: Iterable[str], **options: Any) -> list[dict[str, Any]]:
        """Reset, take ``responses`` until the end, and return every answer, that of reset first."""
        answers = [self.reset(task_id, **options)]
        for response in responses:
            answers.append(self.step(response))
            if answers[-1]["done"]:
                break
        return answers

    def _tested(
        self,
        where: str,
        call: Callable[[], dict[str, Any]],
        problems: Callable[[Mapping[str, Any]], Iterable[str]],
        needed: tuple[str, ...],
    ) -> dict[str, Any]:
        try:
            answer = call()
        except ShopSimError as error:
            self.expect(False, f"{where} was refused: {error}")
            raise UnusableAnswerError from error
        if not isinstance(answer, Mapping):
            self.expect(False, f"{where}: the answer is no object")
            raise UnusableAnswerError
        found = list(problems(answer))
        self.expect(not found, f"{where}: {found[0]}" if found else "")
        usable = is_usable_page(answer.get("observation_state"))
        if not usable or not all(key in answer for key in needed):
            raise UnusableAnswerError
        return answer
