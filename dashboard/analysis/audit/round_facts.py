"""The facts that audit rules look at of one training round (spec 04 B), and the registry of those rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pandas as pd

from dashboard.analysis.audit.facts import Document, ProvenanceVariant
from dashboard.analysis.audit.finding import Registry

__all__ = [
    "GROUPS_PER_ROUND",
    "GROUPS_PER_STEP",
    "GROUP_SIZE",
    "ROLLOUTS",
    "ROUND_RULES",
    "TRIAGE",
    "Claim",
    "RoundFacts",
    "span_text",
    "spans",
]

GROUPS_PER_ROUND: Final = 640
GROUPS_PER_STEP: Final = 32
GROUP_SIZE: Final = 8
"""Sizes of spec 04 B: 640 groups of 8 rollouts, 32 groups a rollout step."""

_NONE: Final = Document()
ROLLOUTS: Final = "group-*/rollout-*.json"
TRIAGE: Final = "group-*/triage.json"


@dataclass(frozen=True, slots=True)
class Claim:
    """What another file states of the round: ``field`` of ``file`` is ``stated``, its files give ``found``.

    ``certain`` tells whether that file is known to be about the same training.
    """

    file: str
    field: str
    stated: float
    found: float
    certain: bool


@dataclass(frozen=True, slots=True)
class RoundFacts:
    """All that is known about one round.

    ``rollouts`` and ``groups`` are rows of ``audit_training_rollouts.sql`` and ``audit_training_groups.sql``,
    ``problems`` those of ``audit_training_problems.sql``. ``number`` counts the rounds from 0; none follows
    when ``is_last``. ``curriculum`` is what its curriculum.json states. ``episodes`` are the rollouts and
    retries that have a record which counts, ``complete`` the complete ones of them.
    """

    run_id: str
    path: Path
    number: int
    is_last: bool
    rollouts: pd.DataFrame
    groups: pd.DataFrame
    problems: pd.DataFrame
    origins: Sequence[ProvenanceVariant] = ()
    summary: Document = _NONE
    computed_summary: Mapping[str, Any] | None = None
    claims: Sequence[Claim] = ()
    curriculum: Mapping[str, Any] = field(default_factory=dict)
    episodes: pd.DataFrame = field(init=False)
    complete: pd.DataFrame = field(init=False)

    def __post_init__(self) -> None:
        """Pick the records that count once; whether one is scored is taken from itself, not its triage."""
        rows = self.rollouts
        counts = rows["has_record"].astype(bool) & (rows["counted"].astype(bool) | (rows["kind"] == "retry"))
        episodes = rows[counts]
        complete = episodes["complete"].astype(bool)
        episodes = episodes.assign(scored=complete & episodes["reward"].notna())
        object.__setattr__(self, "episodes", episodes)
        object.__setattr__(self, "complete", episodes[complete])

    @property
    def records_file(self) -> str:
        """The files of the records, in the folder of the round."""
        return ROLLOUTS

    @property
    def redo(self) -> str:
        """How to have what is missing."""
        return "A technical failure, never reward 0: find its cause in the trainer's log; it is in no mean."

    @property
    def goes_on(self) -> bool:
        """Whether more groups may come: none is there yet of the end of the last round."""
        return self.is_last and len(self.groups) < GROUPS_PER_ROUND

    @property
    def training(self) -> pd.DataFrame:
        """The training rollouts that count, those without a file among them."""
        return self.rollouts[self.rollouts["counted"].astype(bool) & (self.rollouts["kind"] == "training")]

    @property
    def first_group(self) -> int:
        """Index of the round's first group: that of the block of 640 which most of its groups are in."""
        blocks = Counter(int(index) // GROUPS_PER_ROUND for index in self.groups["group_index"])
        best = max(blocks, key=lambda block: (blocks[block], -block)) if blocks else 0
        return best * GROUPS_PER_ROUND

    def problems_of(self, *kinds: str) -> Iterator[tuple[str | None, str | None, str]]:
        """``(file, group folder, problem)`` of the problems of some kinds; the file is None for a folder."""
        rows = self.problems[self.problems["kind"].isin(kinds)]
        for index, file, text in rows[["group_index", "file", "problem"]].itertuples(index=False):
            folder = None if pd.isna(index) else f"group-{int(index):09d}"
            name = None if pd.isna(file) else str(file)
            yield f"{folder}/{name}" if folder and name else name, folder, str(text)


def spans(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """The numbers as stretches ``(first, last)`` without a gap, in order."""
    found: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][1] + 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def span_text(first: int, last: int) -> str:
    """A stretch in words: ``7`` or ``7 to 9``."""
    return str(first) if first == last else f"{first} to {last}"


ROUND_RULES: Final[Registry[RoundFacts]] = Registry()
