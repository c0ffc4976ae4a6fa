"""Rules: the plan is what its fingerprint says, and records come from one plan (spec 04 A)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dashboard.analysis.audit.facts import MANIFEST, TRACES, RunFacts
from dashboard.analysis.audit.finding import Observation, Place, Severity
from dashboard.analysis.audit.provenance import change_places, changing_fields, is_harmless, leaves
from dashboard.analysis.audit.run_rules import RUN_RULES
from shopsim.rollout.manifest import plan_fingerprint
from shopsim.wording import plural

__all__: list[str] = []

_PARTS: Final = ("model", "environment", "prompt", "skills", "runtime")


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
    told = [(variant, leaves(variant.value)) for variant in run.provenances]
    changing = changing_fields(told)
    for harmless in (False, True):
        names = [name for name in changing if is_harmless(name) is harmless]
        if not names:
            continue
        places = [place for place, _ in change_places(names, told)]
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
    plan = leaves({part: run.plan.get(part) for part in _PARTS})
    places: dict[str, Place] = {}
    for variant in run.provenances:
        for name, value in leaves(variant.value).items():
            if name in plan and plan[name] != value and not is_harmless(name):
                detail = f"plan {plan[name]}, recorded {value} in {plural(variant.episodes, 'episode')}"
                place = Place(detail, variant.episode_id, variant.offset, f"provenance.{name}")
                places.setdefault(f"{name}={value}", place)
    if places:
        yield Observation(
            "Records come from another setting than the plan names.",
            TRACES,
            "Put the records into a folder with the manifest that they were made under.",
            tuple(places.values()),
        )
