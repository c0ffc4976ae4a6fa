"""Rules: the plan is what its fingerprint says, and records come from one plan (spec 04 A)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dashboard.analysis.audit.facts import MANIFEST, TRACES, ProvenanceVariant, RunFacts
from dashboard.analysis.audit.finding import Observation, Place, Severity
from dashboard.analysis.audit.run_rules import RUN_RULES
from shopsim.jsonio import canonical_json
from shopsim.rollout.manifest import plan_fingerprint

__all__: list[str] = []

_HARMLESS: Final = ("model.base_url", "model.transport", "environment.base_url", "runtime.concurrency")
_PARTS: Final = ("model", "environment", "prompt", "skills", "runtime")
_SHOWN: Final = 80
_ABSENT: Final = "absent"

Leaves = Mapping[str, str]


@RUN_RULES.rule("Plan does not match its fingerprint", "error")
def fingerprint_differs(run: RunFacts) -> Iterator[Observation]:
    """plan_fingerprint must be the SHA-256 of the plan's canonical JSON: else the plan was edited since."""
    recorded = run.manifest.object.get("plan_fingerprint")
    if not run.plan or not isinstance(recorded, str):
        return
    try:
        computed = plan_fingerprint(run.plan)
    except UnicodeEncodeError:  # a lone surrogate: no fingerprint can be made of it
        computed = "not computable"
    if computed != recorded:
        yield Observation(
            "The plan in the manifest is not the one that its fingerprint was made of.",
            MANIFEST,
            "Restore the manifest as it was written; a changed plan is a new experiment in a new folder.",
            (Place(f"recorded {recorded[:16]}…, computed {computed[:16]}…", field="plan_fingerprint"),),
            field="plan_fingerprint",
        )


@RUN_RULES.rule("Provenance changes inside the run", "error")
def provenance_changes(run: RunFacts) -> Iterator[Observation]:
    """Records of one run must come from one model, environment, prompt, skill bank and runtime.

    Addresses, transport and concurrency may change (info): they do not change meaning.
    """
    variants = [(variant, _leaves(variant.value)) for variant in run.provenances]
    fields = sorted({name for _, leaves in variants for name in leaves})
    changing = [name for name in fields if len({leaves.get(name, _ABSENT) for _, leaves in variants}) > 1]
    for harmless in (False, True):
        names = [name for name in changing if _is_harmless(name) is harmless]
        if not names:
            continue
        places = [
            Place(
                f"{leaves.get(name, _ABSENT)} in {variant.episodes:,} episodes",
                variant.episode_id,
                variant.offset,
                f"provenance.{name}",
            )
            for name in names
            for variant, leaves in _merged(name, variants)
        ]
        beyond = f"; {run.unread_variants:,} more variants were not looked at" if run.unread_variants else ""
        severity: Severity = "info" if harmless else "error"
        yield Observation(
            f"Records disagree on where they come from: {', '.join(names)}{beyond}.",
            TRACES,
            "Nothing to do: this does not change meaning."
            if harmless
            else "Split the run: records of one provenance to a folder with the manifest they belong to.",
            tuple(places),
            count=len(names),
            severity=severity,
        )


@RUN_RULES.rule("Provenance is not the plan's", "error")
def provenance_is_not_plan(run: RunFacts) -> Iterator[Observation]:
    """What records say of their origin must agree with the manifest's plan, field by field.

    Fields that only one of both has are passed over: either may say more.
    """
    plan = _leaves({part: run.plan.get(part) for part in _PARTS})
    places: dict[str, Place] = {}
    for variant in run.provenances:
        for name, value in _leaves(variant.value).items():
            if name in plan and plan[name] != value and not _is_harmless(name):
                detail = f"plan {plan[name]}, recorded {value} in {variant.episodes:,} episodes"
                place = Place(detail, variant.episode_id, variant.offset, f"provenance.{name}")
                places.setdefault(f"{name}={value}", place)
    if places:
        yield Observation(
            "Records come from another setting than the plan names.",
            TRACES,
            "Put the records into a folder with the manifest that they were made under.",
            tuple(places.values()),
        )


def _merged(
    name: str, variants: Sequence[tuple[ProvenanceVariant, Leaves]]
) -> Iterator[tuple[ProvenanceVariant, Leaves]]:
    """One variant for each value of a field, with the episodes of all variants that share it."""
    by_value: dict[str, tuple[ProvenanceVariant, Leaves, int]] = {}
    for variant, leaves in variants:
        first, its_leaves, episodes = by_value.get(leaves.get(name, _ABSENT), (variant, leaves, 0))
        by_value[leaves.get(name, _ABSENT)] = (first, its_leaves, episodes + variant.episodes)
    for variant, leaves, episodes in by_value.values():
        yield replace(variant, episodes=episodes), leaves


def _is_harmless(name: str) -> bool:
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in _HARMLESS)


def _leaves(value: Any, prefix: str = "") -> dict[str, str]:
    """Every field that is no object, as short text; lists are one field."""
    if isinstance(value, Mapping) and (value or not prefix):
        leaves: dict[str, str] = {}
        for key, inner in value.items():
            leaves |= _leaves(inner, f"{prefix}.{key}" if prefix else str(key))
        return leaves
    if value is None and "." not in prefix:  # a part that the plan does not have
        return {}
    text = value if isinstance(value, str) else canonical_json(value)
    return {prefix: text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"}
