"""Rules: a training round has one origin and one curriculum, and its sources agree (spec 04 B)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import Final

from dashboard.analysis.audit.facts import SUMMARY
from dashboard.analysis.audit.finding import Observation, Place, Severity
from dashboard.analysis.audit.provenance import change_places, changing_fields, is_harmless, leaves
from dashboard.analysis.audit.round_facts import (
    GROUPS_PER_ROUND,
    ROLLOUTS,
    ROUND_RULES,
    TRIAGE,
    RoundFacts,
)
from dashboard.analysis.audit.summaries import broken_summary, differing_summary

__all__: list[str] = []

_CURRICULUM: Final = {
    "state_id": "curriculum.state_id",
    "triage_round_id": "curriculum.round_id",
    "seed": "curriculum.seed",
    "q": "curriculum.skill_free_probability",
}
"""Columns of the groups: the fields of a triage that they come from."""
_CHECKPOINT: Final = "model.checkpoint_id"
_ROUND: Final = re.compile(r"round[-_]?(\d{1,4})(?!\d)", re.IGNORECASE)


@ROUND_RULES.rule("Provenance changes inside the round", "error")
def round_provenance_changes(facts: RoundFacts) -> Iterator[Observation]:
    """Rollouts of one round must come from one model, environment, reward version, prompt and runtime.

    A checkpoint that changes between rollout steps (info) is training at work; inside a step it is not.
    Addresses, transport and concurrency may change (info).
    """
    told = [(variant, leaves(variant.value)) for variant in facts.origins]
    changing = changing_fields(told)
    between = []
    if _CHECKPOINT in changing:
        steps = [steps for _, steps in change_places([_CHECKPOINT], told)]
        if not any(left & right for left, right in combinations(steps, 2)):
            between = [_CHECKPOINT]
    harmless = [name for name in changing if is_harmless(name)]
    serious = [name for name in changing if name not in between and name not in harmless]
    kinds: tuple[tuple[list[str], Severity, str], ...] = (
        (serious, "error", "Move the rollouts of one origin to a round of their own; do not mix them."),
        (between, "info", "Nothing to do: every step's rollouts come from one checkpoint."),
        (harmless, "info", "Nothing to do: this does not change meaning."),
    )
    for names, severity, mend in kinds:
        places = tuple(place for place, _ in change_places(names, told))
        if places:
            yield Observation(
                f"Rollouts of the round disagree on where they come from: {', '.join(names)}.",
                ROLLOUTS,
                mend,
                places,
                count=len(names),
                severity=severity,
            )


@ROUND_RULES.rule("Curriculum changes inside the round", "error")
def curriculum_changes(facts: RoundFacts) -> Iterator[Observation]:
    """All groups of a round are triaged under one curriculum: state, round id, seed and q."""
    places, names = [], []
    for column, field in _CURRICULUM.items():
        told = facts.groups.dropna(subset=[column])
        first = told.groupby(column, sort=False)["folder"].agg(["first", "size"])
        if len(first) > 1:
            names.append(field)
            for value, folder, n in first.itertuples():
                places.append(Place(f"{value} in {n:,} groups", field=field, file=f"{folder}/triage.json"))
    if places:
        yield Observation(
            f"Groups were triaged under different curricula: {', '.join(names)}.",
            TRIAGE,
            "Move the groups of another curriculum to the round that it belongs to.",
            tuple(places),
            count=len(names),
        )


@ROUND_RULES.rule("Curriculum is not the triages'", "error")
def curriculum_differs(facts: RoundFacts) -> Iterator[Observation]:
    """State and q of a curriculum.json in a round's folder must be those that its triages name."""
    places = []
    for column, stated in facts.curriculum.items():
        told = facts.groups.dropna(subset=[column])
        other = told[told[column] != stated]
        if stated is not None and len(other):
            first = other.iloc[0]
            detail = (
                f"{stated} in curriculum.json, {first[column]} in {len(other):,} of {len(told):,} triages"
            )
            places.append(Place(detail, field=_CURRICULUM[column], file=f"{first['folder']}/triage.json"))
    if places:
        yield Observation(
            f"The round's curriculum is not the one of its triages: {places[0].detail}.",
            "curriculum.json",
            "Put the curriculum beside the groups that were drawn from it.",
            tuple(places),
            field=places[0].field,
        )


@ROUND_RULES.rule("Assignment differs", "error")
def assignment_differs(facts: RoundFacts) -> Iterator[Observation]:
    """The skills that records say they were given must be those that their group's triage assigns."""
    places = tuple(
        Place(text, field="provenance.skills.assignment", file=f"{folder}/triage.json")
        for _, folder, text in facts.problems_of("assignment")
    )
    if places:
        yield Observation(
            f"In {len(places):,} of {len(facts.groups):,} groups records state another assignment.",
            TRIAGE,
            "Find out which skills the rollouts really saw: shares without a skill depend on it.",
            places,
        )


@ROUND_RULES.rule("Round numbered differently", "warning")
def round_misnumbered(facts: RoundFacts) -> Iterator[Observation]:
    """The number in the folder's name must be that of the triages' round id and of the group indices.

    Groups may be numbered through all rounds, or each round starts again at 0.
    """
    told = _ROUND.search(facts.path.resolve().name)
    if told is None or facts.groups.empty:
        return
    number, places = int(told[1]), []
    block = facts.first_group // GROUPS_PER_ROUND
    if block not in (0, number):
        detail = f"the groups are those of round {block}, the folder is of round {number}"
        places.append(Place(detail, file=f"group-{facts.first_group:09d}"))
    named = facts.groups.dropna(subset=["triage_round_id"]).groupby("triage_round_id", sort=False)
    for name, folder, n in named["folder"].agg(["first", "size"]).itertuples():
        match = _ROUND.search(str(name))
        if match is not None and int(match[1]) != number:
            detail = f"{n:,} triages say {name}, the folder is of round {number}"
            places.append(Place(detail, field="curriculum.round_id", file=f"{folder}/triage.json"))
    if places:
        yield Observation(
            f"The folder is called round {number}, and its files say otherwise.",
            TRIAGE,
            "Give the folder the number of its round: rollout steps are counted by it.",
            tuple(places),
        )


@ROUND_RULES.rule("Summary of the round broken", "error")
def round_summary_broken(facts: RoundFacts) -> Iterator[Observation]:
    """A summary.json in a round's folder that is no JSON object of a known schema."""
    yield from broken_summary(facts.summary)


@ROUND_RULES.rule("Summary differs from the rollouts", "error")
def round_summary_differs(facts: RoundFacts) -> Iterator[Observation]:
    """Every figure of a summary.json in a round's folder must be what its training rollouts give."""
    if facts.computed_summary is not None:
        yield from differing_summary(
            facts.summary.object,
            facts.computed_summary,
            records="rollouts",
            unfinished=facts.goes_on,
            mend=f"Delete {SUMMARY} or have it written anew; the page Training counts the rollouts itself.",
        )


@ROUND_RULES.rule("Two sources disagree on the round", "error")
def round_sources_disagree(facts: RoundFacts) -> Iterator[Observation]:
    """What a bundle states of a round (groups, episodes, means by step) must be what its files give.

    A warning where nothing but the round's number says that both are about the same training.
    """
    for file in dict.fromkeys(claim.file for claim in facts.claims):
        claims = [claim for claim in facts.claims if claim.file == file]
        places = tuple(
            Place(
                f"{c.file.rpartition('/')[2]} states {c.stated:,.10g}, the files give {c.found:,.10g}",
                field=c.field,
            )
            for c in claims
        )
        certain = all(claim.certain for claim in claims)
        first = f"{claims[0].field}: {places[0].detail}"
        more = f", and {len(places) - 1:,} more figures" if len(places) > 1 else ""
        yield Observation(
            f"{first}{more}." + ("" if certain else " They may be of different trainings."),
            file,
            "Count the round's folders; mend the wrong file, or say what it leaves out.",
            places,
            field=claims[0].field,
            severity=None if certain else "warning",
        )
