"""Groups of a training round turned into Parquet segments (spec 04 B)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa

from dashboard.lake.fields import json_object
from dashboard.lake.lines import Stretch
from dashboard.lake.segment import make_winners, table_path, write_parquet
from dashboard.lake.sql import load_sql
from dashboard.lake.stage import stage_batches
from dashboard.lake.training_match import GroupRows, ReadFile, match_group
from dashboard.lake.training_reader import DocumentReader
from dashboard.lake.training_scan import TRIAGE, GroupScan
from dashboard.lake.training_schema import MEMBERS_SCHEMA, PROBLEMS_SCHEMA, TRIAGE_SCHEMA
from dashboard.lake.training_triage import Assignment, Triage, read_assignment, read_triage
from shopsim.jsonio import canonical_json

__all__ = ["SEGMENT_TABLES", "compact_segments", "ingest_groups"]

SEGMENT_TABLES: Final = ("rollouts", "problems", "triage")
"""In the order in which they are written: a segment is whole when its last table is there."""
_WHOSE: Final = frozenset({"provider", "curriculum_state_id"})
_STAGED: Final = {"stage_assignments": "training_ingest_assignments"}


def ingest_groups(
    connection: duckdb.DuckDBPyConnection, path: Path, groups: Sequence[GroupScan], target: Path
) -> None:
    """Read the groups of the round at ``path`` and write ``<target>.<table>.parquet`` for every table.

    ``connection`` comes from :func:`~dashboard.lake.segment.ingest_connection`. What is wrong with a file
    becomes a row of ``problems``. Raises :class:`OSError` and :class:`duckdb.Error`.
    """
    stretches = [
        Stretch(path / group.name / file.name, "", 0, file.size, target)
        for group in groups
        for file in group.files
    ]
    stage_batches(connection, stretches, DocumentReader(stretches), _STAGED)
    make_winners(connection)
    connection.execute(load_sql("ingest_walk"))
    connection.execute(f"CREATE OR REPLACE TEMP TABLE episodes AS {load_sql('ingest_episodes')}")
    read = _read_files(connection, groups, stretches)
    triages = [read_triage(path / g.name / TRIAGE) if g.triage else None for g in groups]
    matched = [match_group(g, read[g.name], t) for g, t in zip(groups, triages, strict=True)]
    origins = {file.number: file.origin for files in read.values() for file in files}
    members = [_members(g, rows, origins) for g, rows in zip(groups, matched, strict=True)]
    _write(connection, target, groups, triages, matched, members)


def compact_segments(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    groups: Mapping[str, tuple[str, str]],
    target: Path,
) -> None:
    """Write the rows of ``groups`` (name -> signature, segment) of several segments as one segment."""
    names = [pa.array(column, pa.string()) for column in ([s for _, s in groups.values()], list(groups))]
    connection.register("live", pa.table(names, ["segment", "group_name"]))
    for table in SEGMENT_TABLES:
        segments = sorted({segment for _, segment in groups.values()})
        files = [str(table_path(folder / segment, table)) for segment in segments]
        sql = load_sql("training_ingest_compact")
        literals = ", ".join(_quoted(file) for file in files)
        sql = sql.replace("$files", f"[{literals}]").replace("$segment", _quoted(target.name))
        write_parquet(connection, sql, table_path(target, table))
    connection.unregister("live")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _read_files(
    connection: duckdb.DuckDBPyConnection, groups: Sequence[GroupScan], stretches: Sequence[Stretch]
) -> dict[str, list[ReadFile]]:
    """By group name what each of its files holds."""
    rows = connection.execute(load_sql("training_ingest_read")).fetchall()
    found = {int(row[0]): row for row in rows}
    read: dict[str, list[ReadFile]] = {}
    number = 0
    for group in groups:
        read[group.name] = files = []
        for file in group.files:
            row, stretch = found.get(number), stretches[number]
            if row is None:
                reason = stretch.invalid[0].reason if stretch.invalid else "holds no record"
                files.append(ReadFile(file, number, reason))
            else:
                _, episode_id, sample, scored, reward, text = row
                told = json_object(json.loads(text or "null"))
                whose = (*_skills(told), _origin(told))
                files.append(ReadFile(file, number, None, episode_id, sample, scored, reward, *whose))
            number += 1
    return read


def _skills(provenance: Mapping[str, Any]) -> tuple[bool, Assignment | None]:
    """Whether a record calls itself diagnostic, and the assignment it states."""
    skills = json_object(provenance.get("skills"))
    told = skills.get("assignment")
    return skills.get("diagnostic_full_skill") is True, read_assignment(told) if told else None


def _origin(provenance: Mapping[str, Any]) -> str | None:
    """What a round's records must have in common: their provenance, of the skills only whose they are.

    Which skills a group gets, and whether a record is diagnostic, differs from group to group.
    """
    if not provenance:
        return None
    skills = {name: value for name, value in json_object(provenance.get("skills")).items() if name in _WHOSE}
    told = canonical_json({**provenance, "skills": skills})
    return told.encode("utf-8", "replace").decode("utf-8")


def _write(
    connection: duckdb.DuckDBPyConnection,
    target: Path,
    groups: Sequence[GroupScan],
    triages: Sequence[Triage | None],
    matched: Sequence[GroupRows],
    members: Sequence[list[dict[str, Any]]],
) -> None:
    segment = target.name
    placed = [{**row, "place": place} for place, row in enumerate(row for rows in members for row in rows)]
    connection.register("members", pa.Table.from_pylist(placed, schema=MEMBERS_SCHEMA))
    sql = load_sql("training_ingest_rollouts").replace("$segment", _quoted(segment))
    write_parquet(connection, sql, table_path(target, "rollouts"))
    connection.unregister("members")
    problems = [
        {"segment": segment, "group_name": group.name, "kind": p.kind, "file": p.file, "problem": p.text}
        for group, rows in zip(groups, matched, strict=True)
        for p in rows.problems
    ]
    told = zip(groups, triages, matched, strict=True)
    triage = [_triage_row(segment, *parts) for parts in told]
    for table, rows, schema in (("problems", problems, PROBLEMS_SCHEMA), ("triage", triage, TRIAGE_SCHEMA)):
        connection.register("rows", pa.Table.from_pylist(rows, schema=schema))
        write_parquet(connection, "FROM rows", table_path(target, table))
        connection.unregister("rows")


def _members(group: GroupScan, rows: GroupRows, origins: Mapping[int, str | None]) -> list[dict[str, Any]]:
    return [
        {
            "group_name": group.name,
            "kind": member.kind,
            "left_out": member.left_out,
            "number": member.number,
            "file": member.file,
            "sample": member.sample,
            "episode_id": member.episode_id,
            "noted": member.noted is not None,
            "noted_reward": member.noted.reward if member.noted else None,
            "noted_success": member.noted.success if member.noted else None,
            "noted_scored": member.noted.scored if member.noted else None,
            "noted_components": member.noted.components if member.noted else None,
            "origin": None if member.number is None else origins.get(member.number),
        }
        for member in rows.members
    ]


def _triage_row(segment: str, group: GroupScan, triage: Triage | None, rows: GroupRows) -> dict[str, Any]:
    told, assignment = triage or Triage(), rows.assignment
    return {
        "segment": segment,
        "group_name": group.name,
        "has_triage": told.read,
        "state_id": told.state_id or assignment.state_id,
        "triage_round_id": told.round_id,
        "seed": told.seed,
        "q": told.q,
        "chunk_ids": told.chunk_ids,
        "mode": assignment.mode,
        "group_key": assignment.group_key,
        "skill_ids": assignment.skill_ids,
        "noted_all_wrong": told.all_wrong,
        "classification": told.classification,
        "retried": told.retried,
    }
