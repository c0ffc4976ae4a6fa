"""Rules: the groups and files of a training round are all there, and can be read (spec 04 B)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dashboard.analysis.audit.finding import Observation, Place
from dashboard.analysis.audit.round_facts import (
    GROUP_SIZE,
    GROUPS_PER_ROUND,
    GROUPS_PER_STEP,
    ROLLOUTS,
    ROUND_RULES,
    TRIAGE,
    RoundFacts,
    span_text,
    spans,
)

__all__: list[str] = []

_RESTORE = "Restore the file from where the round was made; until then it is in no mean."


@ROUND_RULES.rule("Part of a round cannot be read", "error")
def round_unreadable(facts: RoundFacts) -> Iterator[Observation]:
    """A round or group folder that cannot be looked into: its rollouts are missing everywhere."""
    problems = [*facts.problems_of("not read"), *_of_folders(facts)]
    if problems:
        yield Observation(
            "Not every folder of the round could be read.",
            str(facts.path),
            "Give read permission, or free what is named here; then look for new data.",
            tuple(Place(text, file=folder) for _, folder, text in problems),
        )


@ROUND_RULES.rule("Files that are no records", "warning")
def round_files_invalid(facts: RoundFacts) -> Iterator[Observation]:
    """Files of a group that are torn, empty, no JSON object or without an episode id."""
    problems = [(file, text) for file, _, text in facts.problems_of("unreadable") if file is not None]
    if problems:
        files = len(problems) + _files(facts)
        yield Observation(
            f"{len(problems):,} of {files:,} files cannot be read and are passed over.",
            ROLLOUTS,
            _RESTORE,
            tuple(Place(text, file=file) for file, text in problems),
        )


@ROUND_RULES.rule("Groups missing", "warning")
def groups_missing(facts: RoundFacts) -> Iterator[Observation]:
    """Group folders that a round of 640 groups in 20 steps lacks.

    Those after the last group of the last round are (info) still to come, or the round was stopped.
    """
    first = facts.first_group
    found = {int(index) for index in facts.groups["group_index"]}
    missing = set(range(first, first + GROUPS_PER_ROUND)) - found
    if not missing or not found:
        return
    last = max(index for index in found if index < first + GROUPS_PER_ROUND)
    gaps = {index for index in missing if index < last or not facts.is_last}
    tail = missing - gaps
    if gaps:
        steps = _steps(facts, gaps)
        yield Observation(
            f"{len(gaps):,} of {GROUPS_PER_ROUND} groups are missing, in {steps}: figures are over fewer.",
            "group-*",
            "Copy the missing folders from where the round was made, or say why the round has fewer.",
            tuple(Place(_stretch(facts, *span), file=f"group-{span[0]:09d}") for span in spans(gaps)),
            count=len(gaps),
        )
    if tail:
        yield Observation(
            f"{len(found):,} of {GROUPS_PER_ROUND} groups are there, none after group {last}; to come: "
            f"{_steps(facts, tail)}. The round goes on, or was stopped.",
            "group-*",
            "Nothing to do while the round is being written.",
            tuple(Place(_stretch(facts, *span), file=f"group-{span[0]:09d}") for span in spans(tail)),
            count=len(tail),
            severity="info",
        )


@ROUND_RULES.rule("Groups of another round", "error")
def groups_outside(facts: RoundFacts) -> Iterator[Observation]:
    """Groups whose index lies outside the 640 of the round: they count in this round's figures."""
    first = facts.first_group
    outside = [i for i in facts.groups["group_index"] if not first <= i < first + GROUPS_PER_ROUND]
    if outside:
        yield Observation(
            f"The round has groups {first} to {first + GROUPS_PER_ROUND - 1}, and {len(outside):,} others.",
            "group-*",
            "Move these folders to the round that they were made in.",
            tuple(
                Place(f"group {i} belongs to round {i // GROUPS_PER_ROUND}", file=f"group-{i:09d}")
                for i in outside
            ),
        )


@ROUND_RULES.rule("Groups without 8 rollouts", "warning")
def groups_incomplete(facts: RoundFacts) -> Iterator[Observation]:
    """Groups with fewer or more rollout files than 8: their baseline is over another number."""
    wrong = facts.groups[facts.groups["files"] != GROUP_SIZE]
    places = tuple(
        Place(
            f"{row['files']} of {GROUP_SIZE} rollout files"
            + _lacking(int(row["group_index"]), row["samples"]),
            file=row["folder"],
        )
        for row in wrong.to_dict("records")
    )
    if places:
        files, expected = int(facts.groups["files"].sum()), GROUP_SIZE * len(facts.groups)
        yield Observation(
            f"{len(places):,} of {len(facts.groups):,} groups have not {GROUP_SIZE} rollouts "
            f"({files:,} files, expected {expected:,}).",
            ROLLOUTS,
            "Restore the missing files; a group that is being written is whole in a moment.",
            places,
        )


@ROUND_RULES.rule("Rollouts that only the triage knows", "error")
def rollouts_lost(facts: RoundFacts) -> Iterator[Observation]:
    """Rollouts that a triage.json lists and no file holds: only its figures of them are left."""
    yield from _listed(
        facts,
        "missing rollout",
        "Triages list rollouts that have no file; their rewards cannot be checked.",
        "Restore the rollout files from where the round was made.",
    )


@ROUND_RULES.rule("Rollouts unknown to the triage", "warning")
def rollouts_unlisted(facts: RoundFacts) -> Iterator[Observation]:
    """Rollout files that the triage.json beside them does not list."""
    yield from _listed(
        facts,
        "unlisted",
        "Files are beside a triage that does not list them; they count in the figures here.",
        "Find out whether they were trained on; files of another attempt belong elsewhere.",
    )


@ROUND_RULES.rule("Groups without a triage", "warning")
def triage_missing(facts: RoundFacts) -> Iterator[Observation]:
    """Groups without triage.json: their class and the skills meant for them are unknown."""
    yield from _listed(
        facts,
        "no triage",
        "Groups have no triage.",
        "Restore triage.json; of a group that is being written it comes last.",
        file=TRIAGE,
    )


@ROUND_RULES.rule("Triage broken", "error")
def triage_broken(facts: RoundFacts) -> Iterator[Observation]:
    """A triage.json of another group, or without its list of rollouts."""
    yield from _listed(
        facts,
        "triage",
        "Triages are not what they promise.",
        "Restore them from where the round was made.",
        file=TRIAGE,
    )


@ROUND_RULES.rule("Retries missing", "warning")
def retry_missing(facts: RoundFacts) -> Iterator[Observation]:
    """Groups whose triage notes a full-skill retry without a file of it, or a file that it does not note."""
    groups = facts.groups[facts.groups["noted_retried"].notna()]
    noted, files = groups["noted_retried"].astype(bool), groups["retry_files"] > 0
    wrong = groups[noted != files]
    if len(wrong):
        yield Observation(
            "Triages and files disagree on the full-skill retry of groups.",
            "group-*/full-skill-retry.json",
            "Restore the file, or the triage, of the same attempt.",
            tuple(
                Place(
                    "the triage notes none" if row.retry_files else "noted, but there is no file",
                    field="full_skill_retry",
                    file=f"{row.folder}/full-skill-retry.json",
                )
                for row in wrong.itertuples()
            ),
        )


@ROUND_RULES.rule("Empty round", "warning")
def round_empty(facts: RoundFacts) -> Iterator[Observation]:
    """A round's folder without any group."""
    yield from _listed(
        facts,
        "empty",
        f"There is no group yet, of {GROUPS_PER_ROUND}.",
        "Start the round, or delete the folder if it was given up.",
        file="group-*",
    )


@ROUND_RULES.rule("Files that do not belong there", "info")
def round_files_foreign(facts: RoundFacts) -> Iterator[Observation]:
    """Files and folders in a round that are none of spec 04 B: they are passed over."""
    yield from _listed(
        facts,
        "foreign",
        "Files lie in the round that do not belong there; they are passed over.",
        "Give them the names of the format if they are rollouts; else move them away.",
        file="round",
    )


def _listed(
    facts: RoundFacts, kind: str, what: str, mend: str, *, file: str = ROLLOUTS
) -> Iterator[Observation]:
    """One observation of all problems of a kind."""
    places = tuple(Place(text, file=name or folder) for name, folder, text in facts.problems_of(kind))
    if places:
        yield Observation(what, file, mend, places)


def _of_folders(facts: RoundFacts) -> Iterator[tuple[str | None, str | None, str]]:
    return (row for row in facts.problems_of("unreadable") if row[0] is None)


def _files(facts: RoundFacts) -> int:
    return int(facts.rollouts["has_record"].sum()) + int(facts.groups["has_triage"].sum())


def _lacking(index: int, samples: Iterable[int]) -> str:
    """Which samples a group lacks, where its files are numbered as spec 04 B does."""
    usual = set(range(GROUP_SIZE * index, GROUP_SIZE * (index + 1)))
    found = {int(sample) for sample in samples}
    if not found or not found < usual:
        return ""
    return "; missing: sample " + ", ".join(span_text(*span) for span in spans(usual - found))


def _step(facts: RoundFacts, index: int) -> int:
    """The rollout step of a group, counted through the rounds."""
    return facts.number * (GROUPS_PER_ROUND // GROUPS_PER_STEP) + (
        (index - facts.first_group) // GROUPS_PER_STEP + 1
    )


def _steps(facts: RoundFacts, groups: Iterable[int]) -> str:
    found = spans({_step(facts, index) for index in groups})
    plural = len(found) > 1 or found[0][0] < found[0][1]
    return f"step{'s' if plural else ''} " + ", ".join(span_text(*span) for span in found)


def _stretch(facts: RoundFacts, first: int, last: int) -> str:
    groups = f"group{'' if first == last else 's'} {span_text(first, last)}"
    return f"{groups} of {_steps(facts, range(first, last + 1))}, none found"
