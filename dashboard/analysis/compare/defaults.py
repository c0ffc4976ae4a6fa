"""Which two runs a comparison begins with, when nobody chose: of one catalogue, first against latest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Candidate", "default_baseline", "default_opponent"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A run that can be compared.

    ``family`` is its ``catalogue_family``; ``series`` its name without the iteration; ``iteration`` is None
    where it states none; ``skill_free`` tells whether it played without skills.
    """

    run_id: str
    family: str
    series: str
    iteration: int | None
    skill_free: bool


def default_baseline(candidates: Sequence[Candidate]) -> str:
    """The earliest iteration of the largest family, without skills where there is a choice.

    ``candidates`` (at least one) in display order; where no run states its iteration, the first one.
    """
    pool = _largest_family(candidates)
    earliest = min(
        range(len(pool)),
        key=lambda k: (pool[k].iteration is None, pool[k].iteration or 0, not pool[k].skill_free, k),
    )
    return pool[earliest].run_id


def default_opponent(candidates: Sequence[Candidate], baseline: str) -> str:
    """What ``baseline`` is compared with first: the latest iteration of its series, else of its family.

    A run of another family only where there is no other; the last one where none states its iteration.
    """
    first = next(one for one in candidates if one.run_id == baseline)
    others = [one for one in candidates if one.run_id != baseline]
    kin = [one for one in others if one.family == first.family] or others
    pool = [one for one in kin if one.series == first.series and one.iteration is not None] or kin
    known = [one for one in pool if one.iteration is not None]
    return (max(known, key=lambda one: one.iteration or 0) if known else pool[-1]).run_id


def _largest_family(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The members of the family with the most runs (the first of equals); all where no family has two."""
    members: dict[str, list[Candidate]] = {}
    for one in candidates:
        members.setdefault(one.family, []).append(one)
    best = max(members.values(), key=len, default=[])
    return best if len(best) > 1 else list(candidates)
