"""Where records say they come from, field by field, and which of the fields change among them (spec 04 A)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dashboard.analysis.audit.facts import ProvenanceVariant
from dashboard.analysis.audit.finding import Place
from shopsim.jsonio import canonical_json
from shopsim.wording import plural

__all__ = ["Leaves", "change_places", "changing_fields", "is_harmless", "leaves"]

_HARMLESS: Final = ("model.base_url", "model.transport", "environment.base_url", "runtime.concurrency")
_SHOWN: Final = 80
_ABSENT: Final = "absent"

Leaves = Mapping[str, str]
Told = tuple[ProvenanceVariant, Leaves]


def leaves(value: Any, prefix: str = "") -> dict[str, str]:
    """Every field that is no object, as short text; lists are one field."""
    if isinstance(value, Mapping) and (value or not prefix):
        found: dict[str, str] = {}
        for key, inner in value.items():
            found |= leaves(inner, f"{prefix}.{key}" if prefix else str(key))
        return found
    if value is None and "." not in prefix:  # a part that the plan does not have
        return {}
    text = value if isinstance(value, str) else canonical_json(value)
    return {prefix: text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"}


def is_harmless(name: str) -> bool:
    """Whether a field may change: addresses, transport and concurrency do not change meaning."""
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in _HARMLESS)


def changing_fields(told: Sequence[Told]) -> list[str]:
    """The fields, sorted, that do not have the same value everywhere."""
    fields = sorted({name for _, its in told for name in its})
    return [name for name in fields if len({its.get(name, _ABSENT) for _, its in told}) > 1]


def change_places(names: Sequence[str], told: Sequence[Told]) -> Iterator[tuple[Place, frozenset[int]]]:
    """A place for each value of each field, with the rollout steps that have it (none in a trace)."""
    for name in names:
        for variant, its in _merged(name, told):
            detail = f"{its.get(name, _ABSENT)} in {plural(variant.episodes, 'episode')}"
            where = (variant.episode_id, variant.offset, f"provenance.{name}", variant.file)
            yield Place(detail, *where), variant.steps


def _merged(name: str, told: Sequence[Told]) -> Iterator[Told]:
    """One variant for each value of a field, with the episodes of all variants that share it."""
    by_value: dict[str, tuple[ProvenanceVariant, Leaves, int, frozenset[int]]] = {}
    for variant, its in told:
        value = its.get(name, _ABSENT)
        first, its_leaves, episodes, steps = by_value.get(value, (variant, its, 0, frozenset()))
        by_value[value] = (first, its_leaves, episodes + variant.episodes, steps | variant.steps)
    for variant, its, episodes, steps in by_value.values():
        yield replace(variant, episodes=episodes, steps=steps), its
