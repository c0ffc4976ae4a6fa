"""Curricula of training rounds: which chunks of the skill there are and how often each is to be included."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dashboard.lake.discovery import FileStamp, stamp
from dashboard.lake.fields import json_object, json_text
from dashboard.lake.runfiles import read_object
from dashboard.lake.training_discovery import CURRICULUM, round_number
from shopsim.formats import CURRICULUM_SCHEMA
from shopsim.rollout.summary import finite_number

__all__ = ["Chunk", "Curriculum", "curricula_near", "read_curriculum"]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk of the skill: ``rho`` is its inclusion probability, ``content`` its text."""

    chunk_id: str
    rho: float | None
    contribution: float | None
    content: str


@dataclass(frozen=True, slots=True)
class Curriculum:
    """A round's curriculum; ``q`` is the probability that a group gets no skill at all."""

    path: Path
    round: int | None
    state_id: str | None
    q: float | None
    chunks: tuple[Chunk, ...]


def curricula_near(folders: Iterable[Path]) -> dict[Path, FileStamp]:
    """``curriculum.json`` in folders below the given ones and in ``round-*`` beside them, with identities."""
    found: dict[Path, FileStamp] = {}
    for folder in folders:
        beside = folder.parent.glob(f"round-*/{CURRICULUM}")
        for path in sorted({*folder.glob(f"*/{CURRICULUM}"), *beside}):
            identity = stamp(path)
            if identity is not None:
                found[path] = identity
    return found


def read_curriculum(path: Path, problems: list[str]) -> Curriculum | None:
    """Read one curriculum; what is wrong with it is appended to ``problems``, None when it is unusable."""
    value = read_object(path, CURRICULUM_SCHEMA, problems)
    if value is None:
        return None
    chunks = value.get("chunks")
    if not isinstance(chunks, list):
        problems.append(f"{path}: chunks: missing or not a list")
        chunks = []
    told = json_text(value.get("round_id")) or ""
    number = round_number(path.parent.name)
    return Curriculum(
        path,
        round_number(told) if number is None else number,
        json_text(value.get("state_id")),
        finite_number(value.get("skill_free_probability")),
        tuple(chunk for entry in chunks if (chunk := _chunk(entry)) is not None),
    )


def _chunk(entry: object) -> Chunk | None:
    told = json_object(entry)
    chunk_id = json_text(told.get("skill_id"))
    if chunk_id is None:
        return None
    return Chunk(
        chunk_id,
        finite_number(told.get("inclusion_probability")),
        finite_number(told.get("contribution")),
        json_text(told.get("content")) or "",
    )
