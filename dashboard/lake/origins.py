"""What the records of a run say that they were recorded on and by, for runs whose manifest does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import duckdb

from dashboard.lake.discovery import FoundBundle, FoundRun
from dashboard.lake.fields import json_object, json_text
from dashboard.lake.folders import readable_name
from dashboard.lake.sql import load_sql
from shopsim.rollout.lines import parse_line
from shopsim.rollout.recorded_on import recorded_on

__all__ = ["MODEL", "ORIGINS", "catalogue_family", "is_silent", "recorded_origins", "told_by_records"]

ORIGINS: Final = ("product_data_sha256", "term_extractor")
"""Columns of ``runs`` that the records tell where the manifest does not (:func:`recorded_on`)."""

MODEL: Final = ("provider", "model", "checkpoint_id")
"""Columns of ``runs`` that the records tell where the manifest names no model at all."""

_MOST_PROVENANCES: Final = 25
_MOST_BYTES: Final = 16 << 20
"""A longer record is not read for its provenance: pages would wait for it."""


def is_silent(manifest: Mapping[str, Any]) -> bool:
    """Whether the columns that a manifest tells leave something for the records to tell."""
    return any(manifest.get(name) is None for name in ORIGINS) or _nameless(manifest)


def told_by_records(
    manifest: Mapping[str, Any], origins: Sequence[Mapping[str, str | None]]
) -> dict[str, Any]:
    """The columns :data:`ORIGINS` and, where the manifest names no model, :data:`MODEL` and ``simulated``.

    ``origins`` as :func:`recorded_origins` gives them. Records that name two models name none.
    """
    columns: dict[str, Any] = {name: recorded_on(name, manifest, origins) for name in ORIGINS}
    if _nameless(manifest):
        columns |= {name: recorded_on(name, None, origins) for name in MODEL}
        columns["simulated"] = columns["provider"] == "scripted"
    return columns


def _nameless(manifest: Mapping[str, Any]) -> bool:
    return all(manifest.get(name) is None for name in MODEL)


def recorded_origins(
    connection: duckdb.DuckDBPyConnection, traces: Mapping[str, Path]
) -> dict[str, list[dict[str, str | None]]]:
    """:data:`ORIGINS` and :data:`MODEL` of one record of each different provenance, by run of ``traces``
    (files).

    A record that is gone or too long says nothing.
    """
    found: dict[str, list[dict[str, str | None]]] = {run_id: [] for run_id in traces}
    if not traces:
        return found
    parameters = {"run_ids": list(traces), "most": _MOST_PROVENANCES}
    for run_id, offset, length in connection.execute(load_sql("recorded_origins"), parameters).fetchall():
        if length > _MOST_BYTES:
            continue
        with suppress(OSError), traces[run_id].open("rb") as file:
            file.seek(offset)
            record, _ = parse_line(file.read(length))
            provenance = json_object((record or {}).get("provenance"))
            environment, model = (json_object(provenance.get(part)) for part in ("environment", "model"))
            told = {name: json_text(environment.get(name)) for name in ORIGINS}
            found[run_id].append(told | {name: json_text(model.get(name)) for name in MODEL})
    return found


def catalogue_family(run: FoundRun, product_data_sha256: str | None, bundles: list[FoundBundle]) -> str:
    """A text that two runs share when a task number means the same task to both, as far as is known.

    The catalogue that is named (``sha256:``), else the published bundle (``bundle:``), else the folder that
    the unnamed runs of a team share (``folder:``).
    """
    if product_data_sha256 is not None:
        return f"sha256:{product_data_sha256}"
    for bundle in bundles:
        if run.path.is_relative_to(bundle.path):
            return f"bundle:{readable_name(bundle.path.resolve())}"
    folder = run.root.parent if run.root == run.path else run.root
    return f"folder:{readable_name(folder.resolve())}"
