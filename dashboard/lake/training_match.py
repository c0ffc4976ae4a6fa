"""Which rollouts a training group has: its files, what they hold, and what its triage notes, put together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dashboard.lake.training_scan import GroupFile, GroupScan
from dashboard.lake.training_triage import Assignment, NotedRollout, Triage

__all__ = ["GroupRows", "Member", "Problem", "ReadFile", "match_group"]

_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class ReadFile:
    """One file of a group after reading: a record's main figures, or ``reason`` why there is none.

    ``number`` names the file within the ingest; ``origin`` is what its provenance says, as JSON text.
    """

    file: GroupFile
    number: int
    reason: str | None = None
    episode_id: str | None = None
    sample: int | None = None
    scored: bool = False
    reward: float | None = None
    diagnostic: bool = False
    assignment: Assignment | None = None
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """A rollout of a group. ``left_out`` says why it is no training sample, None when it is one.

    ``number`` is that of the file with its record, None when there is no readable one.
    """

    kind: str
    number: int | None
    file: str | None
    episode_id: str | None
    sample: int | None
    left_out: str | None = None
    noted: NotedRollout | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in a group: ``kind`` to count by, ``file`` (None: the folder), and a sentence."""

    kind: str
    file: str | None
    text: str


@dataclass(slots=True)
class GroupRows:
    """All rollouts of a group, the assignment that holds for it, and what is wrong."""

    members: list[Member] = field(default_factory=list)
    assignment: Assignment = field(default_factory=Assignment)
    problems: list[Problem] = field(default_factory=list)


def match_group(scan: GroupScan, files: Sequence[ReadFile], triage: Triage | None) -> GroupRows:
    """Put a group together. ``files`` are in the order of ``scan.files``; no triage file gives None.

    A rollout is one by its file or by the triage's note. Of several records of one episode the last file's
    counts; a diagnostic record never does (spec 04 B).
    """
    rows = GroupRows()
    training = [file for file in files if file.file.kind == "training"]
    rows.problems += _folder_problems(scan, triage)
    rows.problems += [Problem("unreadable", f.file.name, f.reason) for f in files if f.reason is not None]
    rows.problems += _repeated(training)
    noted = _notes(triage, rows.problems)
    listed = bool(noted)
    latest = {file.episode_id: file.number for file in training if file.episode_id and not file.diagnostic}
    for file in training:
        member = _training_member(file, latest, noted, rows.problems)
        if listed and member.left_out is None and member.noted is None:
            rows.problems.append(Problem("unlisted", file.file.name, "triage.json does not list it"))
        rows.members.append(member)
    for note in noted:
        name = note.episode_id or f"sample {note.sample}"
        text = f"no file of {name}, which triage.json lists"
        rows.problems.append(Problem("missing rollout", None, text))
        rows.members.append(Member("training", None, None, note.episode_id, note.sample, None, note))
    rows.members += [_retry(file) for file in files if file.file.kind == "retry"]
    rows.assignment = _assignment(training, triage, rows.problems)
    return rows


def _retry(file: ReadFile) -> Member:
    number = file.number if file.reason is None else None
    return Member("retry", number, file.file.name, file.episode_id, file.sample, "full-skill retry")


def _training_member(
    file: ReadFile, latest: dict[str, int], noted: list[NotedRollout], problems: list[Problem]
) -> Member:
    number = file.number if file.reason is None else None
    sample = file.sample if file.file.sample is None else file.file.sample
    name = file.file.name
    if file.diagnostic:
        problems.append(Problem("diagnostic", name, "a diagnostic full-skill episode among the rollouts"))
        return Member("training", number, name, file.episode_id, sample, "diagnostic")
    if file.episode_id is not None and latest[file.episode_id] != file.number:
        return Member("training", number, name, file.episode_id, sample, "repeated")
    note = _take_note(file, noted)
    if note is None:
        return Member("training", number, name, file.episode_id, sample)
    if number is not None:
        problems += _disagreements(file, note)
    told = sample if note.sample is None else note.sample
    return Member("training", number, name, file.episode_id or note.episode_id, told, None, note)


def _notes(triage: Triage | None, problems: list[Problem]) -> list[NotedRollout]:
    """The triage's notes; of several of one episode the last one."""
    notes: dict[object, NotedRollout] = {}
    for place, note in enumerate(triage.rollouts if triage is not None else ()):
        key = place if note.episode_id is None else note.episode_id
        if key in notes:
            text = f"triage.json lists {note.episode_id} more than once"
            problems.append(Problem("repeated", None, text))
        notes[key] = note
    return list(notes.values())


def _take_note(file: ReadFile, noted: list[NotedRollout]) -> NotedRollout | None:
    """Take out the note of a file's rollout: by episode id, else by sample number where one has no id."""
    for place, note in enumerate(noted):
        if file.episode_id is not None and note.episode_id == file.episode_id:
            return noted.pop(place)
    for place, note in enumerate(noted):
        unnamed = note.episode_id is None or file.episode_id is None
        if unnamed and note.sample is not None and note.sample == file.file.sample:
            return noted.pop(place)
    return None


def _disagreements(file: ReadFile, note: NotedRollout) -> Iterator[Problem]:
    name = file.file.name
    if note.scored is not None and note.scored != file.scored:
        told = "scored" if file.scored else "not scored"
        yield Problem("disagrees", name, f"its record is {told}, triage.json says scored: {note.scored}")
        return
    noted, recorded = note.reward, file.reward
    if file.scored and noted is not None and recorded is not None and abs(noted - recorded) > _TOLERANCE:
        text = f"its record has reward {recorded:g}, triage.json says {noted:g}"
        yield Problem("disagrees", name, text)


def _folder_problems(scan: GroupScan, triage: Triage | None) -> Iterator[Problem]:
    if scan.error is not None:
        yield Problem("unreadable", None, f"the folder cannot be read ({scan.error})")
        return
    if triage is None:
        yield Problem("no triage", None, "no triage.json")
    else:
        kind = "triage" if triage.read else "unreadable"
        yield from (Problem(kind, "triage.json", text) for text in triage.problems)
        if triage.group_index is not None and triage.group_index != scan.index:
            text = f"group_index is {triage.group_index}, the folder's is {scan.index}"
            yield Problem("triage", "triage.json", text)
    yield from (Problem("foreign", name, "does not belong in a group") for name in scan.foreign)


def _repeated(training: Sequence[ReadFile]) -> Iterator[Problem]:
    samples = Counter(file.file.sample for file in training if file.file.sample is not None)
    episodes = Counter(file.episode_id for file in training if file.episode_id is not None)
    for sample, times in samples.items():
        if times > 1:
            yield Problem("repeated", None, f"{times} files of sample {sample}")
    for name, times in episodes.items():
        if times > 1:
            yield Problem("repeated", None, f"{times} records of {name}; the last file's counts")


def _assignment(training: Sequence[ReadFile], triage: Triage | None, problems: list[Problem]) -> Assignment:
    """The triage's assignment, else that of the first record that has one."""
    recorded = [f.assignment for f in training if f.assignment is not None and f.assignment.mode is not None]
    told = triage.assignment if triage is not None else Assignment()
    if told.mode is None:
        told = recorded[0] if recorded else told
    if any(_differ(assignment, told) for assignment in recorded):
        text = "records state another assignment than " + ("triage.json" if triage else "the first of them")
        problems.append(Problem("assignment", None, text))
    return told


def _differ(one: Assignment, other: Assignment) -> bool:
    return (one.mode, set(one.skill_ids or ())) != (other.mode, set(other.skill_ids or ()))
