"""Whether observations give away what only the verifier may know."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from shopsim.rlve.wire import problems_of

__all__ = ["privacy_problems"]

_ID_FIELDS: Final = ("_id", "_ids")


def privacy_problems(
    private: Mapping[str, Any], observations: Sequence[Mapping[str, Any]], told: Collection[str]
) -> Iterator[str]:
    """Problems of the ``observations`` of an episode in which nothing was asked and nothing searched.

    ``private`` is the environment's private part; ``told`` are the names of the facts that were told until
    the end (in a journey with the part's environment before them: ``STATUS/order``).
    """
    shown = json.dumps(observations, ensure_ascii=False)
    problems = list(problems_of(private))
    for prefix, problem in problems:
        for fact in problem.get("facts", ()):
            if prefix + fact["name"] not in told and _escaped(fact["text"]) in shown:
                yield f"the fact {prefix}{fact['name']} is shown, though it was never told"
    said = json.dumps([[problem.get("request"), problem.get("facts")] for _, problem in problems])
    for _, problem in problems:
        for name in sorted(set(_ids(problem.get("target")))):
            if name not in said and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", shown):
                yield f"the id {name} of the target is shown"
    weights = [number for number in _numbers(private.get("persona")) if number != round(number, 3)]
    if any(repr(number) in shown for number in weights):
        yield "the persona's weights are shown"


def _ids(value: Any, name: str = "") -> Iterator[str]:
    """Texts of fields that hold ids, wherever they stand."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _ids(inner, str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _ids(inner, name)
    elif isinstance(value, str) and value and name.endswith(_ID_FIELDS):
        yield value


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _numbers(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _numbers(inner)
    elif isinstance(value, float):
        yield value


def _escaped(text: str) -> str:
    """``text`` as it stands inside JSON."""
    return json.dumps(text, ensure_ascii=False)[1:-1]
