"""How a model behind an endpoint is sampled: what plans say and what requests hold (spec 04 A)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from shopsim.errors import UsageError
from shopsim.jsonio import require_portable

__all__ = ["Sampling"]

_NAMED: Final = ("temperature", "max_tokens", "top_p", "send_seed", "tool_choice", "extra_body")
_OURS: Final = frozenset({"model", "messages", "stream", "tools", "seed", "n"})
_TOOL_CHOICES: Final = ("auto", "required", "none")


@dataclass(frozen=True, slots=True)
class Sampling:
    """``plan.model.sampling``. None: left to the endpoint. ``extra_body`` goes into requests as is."""

    temperature: float | None = None
    max_tokens: int | None = None
    """Of one turn, reasoning included. A turn that reaches it ends the episode (``generation_length``)."""
    top_p: float | None = None
    send_seed: bool = False
    """Send the episode's seed, for endpoints that sample the same again from it."""
    tool_choice: str = "auto"
    extra_body: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.temperature is not None and not _within(self.temperature, 0.0, math.inf):
            raise UsageError("sampling: temperature must be a number of at least 0")
        if self.top_p is not None and not _within(self.top_p, 0.0, 1.0):
            raise UsageError("sampling: top_p must be a number from 0 to 1")
        if self.max_tokens is not None and (type(self.max_tokens) is not int or self.max_tokens < 1):
            raise UsageError("sampling: max_tokens must be a whole number of at least 1")
        if not isinstance(self.send_seed, bool):
            raise UsageError("sampling: send_seed must be true or false")
        if self.tool_choice not in _TOOL_CHOICES:
            raise UsageError(f"sampling: tool_choice must be one of {', '.join(_TOOL_CHOICES)}")
        if not isinstance(self.extra_body, Mapping):
            raise UsageError("sampling: extra_body must be a JSON object")
        require_portable(dict(self.extra_body), "sampling")
        if taken := sorted(self.extra_body.keys() & (_OURS | set(_NAMED))):
            raise UsageError(f"sampling: {taken[0]} does not belong into extra_body")

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Sampling:
        """The sampling that a JSON object says; names that are not ours belong to ``extra_body``.

        Raises :class:`UsageError` for what the runner sets itself and for values out of range.
        """
        if taken := sorted(values.keys() & _OURS):
            mend = "Use send_seed." if taken[0] == "seed" else None
            raise UsageError(f"sampling: {taken[0]} is set by the runner", hint=mend)
        extra = values.get("extra_body", {})
        if not isinstance(extra, Mapping):
            raise UsageError("sampling: extra_body must be a JSON object")
        others = {name: value for name, value in values.items() if name not in _NAMED}
        named = {name: values[name] for name in _NAMED[:-1] if name in values}
        return cls(**named, extra_body={**others, **extra})

    def to_wire(self) -> dict[str, Any]:
        """The object of a plan, every field in it."""
        return {name: getattr(self, name) for name in _NAMED[:-1]} | {"extra_body": dict(self.extra_body)}

    def request_fields(self, seed: int) -> dict[str, Any]:
        """What a request says beside messages and tools; ``seed`` is the episode's."""
        named = {name: getattr(self, name) for name in ("temperature", "max_tokens", "top_p")}
        fields = {name: value for name, value in named.items() if value is not None}
        if self.send_seed:
            fields["seed"] = seed
        return {**fields, **self.extra_body}


def _within(value: object, least: float, most: float) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return least <= value <= most and value < math.inf
