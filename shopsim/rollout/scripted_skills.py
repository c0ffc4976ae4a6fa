"""What the skills of scripted agents have in common: chances within bounds, and parameters by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from shopsim.errors import UsageError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    class Labelled(DataclassInstance, Protocol):
        """A frozen dataclass of parameters with a ``label``."""

        @property
        def label(self) -> str: ...


__all__ = ["check_chance", "skill_from_mapping"]

AnySkill = TypeVar("AnySkill", bound="Labelled")


def check_chance(skill: Labelled, name: str, most: float = 1.0) -> None:
    """Raise :class:`UsageError` unless the parameter ``name`` is a number from 0 to ``most``."""
    value = getattr(skill, name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise UsageError(f"skill {skill.label}: {name} must be between 0 and {most:g}")


def skill_from_mapping(values: Mapping[str, Any], base: AnySkill) -> AnySkill:
    """``base`` with the named parameters of ``values`` replaced.

    Raises :class:`UsageError` for an unknown name or a value out of range.
    """
    known = [field.name for field in fields(base)]
    if unknown := sorted(set(values) - set(known)):
        raise UsageError(f"skill: unknown parameter {unknown[0]!r}", hint=f"Known: {', '.join(known)}.")
    return replace(base, **values)
