"""Whether two runs may be compared: every difference of their plans, sorted by what it means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["PlanDifference", "align_plans"]

Role = Literal["subject", "irrelevant", "confounder"]

# What a comparison is usually about: the policy and the skills it was given.
_SUBJECT = ("model", "model_id", "skills")
# What spec 04 A says does not change meaning, and names that differ in any two runs.
_IRRELEVANT = (
    "experiment",
    "runtime.concurrency",
    "environment.base_url",
    "model.base_url",
    "model.transport",
)


@dataclass(frozen=True, slots=True)
class PlanDifference:
    """One field that differs. ``role``: what is compared, harmless, or a possible confounder."""

    field: str
    a: Any
    b: Any
    role: Role


def align_plans(
    a: Mapping[str, Any] | None, b: Mapping[str, Any] | None, *, irrelevant: Sequence[str] = ()
) -> list[PlanDifference]:
    """List every difference of two manifests' plans, confounders first.

    Job lists are left out: pairing reports them task by task. A missing plan counts as empty. ``irrelevant``
    names fields that do not change meaning, beside those of spec 04 A.
    """
    left = dict(_leaves({k: v for k, v in (a or {}).items() if k != "jobs"}))
    right = dict(_leaves({k: v for k, v in (b or {}).items() if k != "jobs"}))
    differences = [
        PlanDifference(field, left.get(field), right.get(field), _role(field, irrelevant))
        for field in sorted(left.keys() | right.keys())
        if left.get(field) != right.get(field)
    ]
    order: dict[Role, int] = {"confounder": 0, "subject": 1, "irrelevant": 2}
    return sorted(differences, key=lambda difference: (order[difference.role], difference.field))


def _role(field: str, irrelevant: Sequence[str]) -> Role:
    def inside(prefixes: Sequence[str]) -> bool:
        return any(field == prefix or field.startswith(f"{prefix}.") for prefix in prefixes)

    if inside(_IRRELEVANT) or inside(irrelevant):
        return "irrelevant"
    # Sampling belongs to the protocol of the evaluation, not to the policy that is compared.
    if inside(_SUBJECT) and not inside(("model.sampling",)):
        return "subject"
    return "confounder"


def _leaves(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{prefix}.{key}" if prefix else str(key))
    elif prefix:
        yield prefix, value
