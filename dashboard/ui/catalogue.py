"""The prepared catalogue, for pages that look wanted things up: only for runs that used this very one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.analysis.catalogues import not_prepared
from dashboard.analysis.outcomes import locate_wanted
from dashboard.ui.data import Runs
from dashboard.ui.workspace import current_workspace
from shopsim.catalog import Corpus, OptionAxis, load_corpus, read_records
from shopsim.catalog.axes import parse_axes
from shopsim.catalog.product import valid_asin
from shopsim.errors import ShopSimError
from shopsim.jsonio import FileError, read_json
from shopsim.pipeline import layout

__all__ = [
    "catalogue_note",
    "catalogue_sha256",
    "load_catalogue",
    "locate",
    "runs_of_catalogue",
    "why_not_catalogue",
]


def catalogue_sha256() -> str | None:
    """The product data SHA-256 that the prepared catalogue's manifest promises, None without a catalogue."""
    path = current_workspace().settings.prepared_dir / layout.MANIFEST
    try:
        status = path.stat()
    except OSError:
        return None
    return _promised_sha256(path, (status.st_ino, status.st_size, status.st_mtime_ns))


@lru_cache(maxsize=4)
def _promised_sha256(path: Path, stamp: tuple[int, ...]) -> str | None:
    """Read again only when the manifest was replaced: some pages ask once for every episode they show."""
    try:
        manifest = read_json(path)
    except FileError:
        return None
    content = manifest.get("content") if isinstance(manifest, Mapping) else None
    digest = content.get("sha256") if isinstance(content, Mapping) else None
    return digest if isinstance(digest, str) else None


def runs_of_catalogue(runs: Runs, run_ids: list[str]) -> list[str]:
    """The runs that were recorded on exactly the prepared catalogue, as manifest or records tell."""
    sha256 = catalogue_sha256()
    if sha256 is None:
        return []
    recorded = runs.table["product_data_sha256"]
    return [run_id for run_id in run_ids if recorded.get(run_id) == sha256]


def why_not_catalogue(runs: Runs, run_ids: Sequence[str]) -> str:
    """Why each of the runs was not looked up in the prepared catalogue: another one, or none named."""
    recorded = dict(runs.table["product_data_sha256"])
    return not_prepared(run_ids, recorded, catalogue_sha256(), runs.name)


def load_catalogue() -> Corpus:
    """The prepared catalogue, shared by all sessions. Raises :class:`~shopsim.catalog.CorpusError`."""
    path = current_workspace().settings.prepared_dir / layout.PRODUCTS
    stamp = path.stat().st_mtime_ns if path.is_file() else 0
    return _load(path, stamp)


@st.cache_resource(show_spinner="Reading the catalogue …", max_entries=2)
def _load(path: Path, stamp: int) -> Corpus:
    return load_corpus(path)


def locate(rows: pd.DataFrame) -> pd.DataFrame | None:
    """:func:`~dashboard.analysis.outcomes.locate_wanted` for rows of ``option_outcomes.sql``.

    None when no row's run used the prepared catalogue, or when that cannot be read.
    """
    known = rows.loc[rows["known_catalogue"], ["goal_asin", "wanted_value"]].dropna()
    if known.empty or _problem() is not None:
        return None
    pairs = sorted(set(zip(known["goal_asin"], known["wanted_value"], strict=True)))
    return _locate(_options(), catalogue_sha256() or "", pairs)


@st.cache_data(show_spinner=False, max_entries=20)
def _locate(_offered: Mapping[str, Any], sha256: str, pairs: list[tuple[str, str]]) -> pd.DataFrame:
    def axes_of(asin: str) -> tuple[OptionAxis, ...] | None:
        return parse_axes(_offered[asin]) if asin in _offered else None

    return locate_wanted(pairs, axes_of)


def _options() -> dict[str, Any]:
    """``customization_options`` by ASIN: all that is looked up here, and much less than the catalogue."""
    path = current_workspace().settings.prepared_dir / layout.PRODUCTS
    stamp = path.stat().st_mtime_ns if path.is_file() else 0
    return _read_options(path, stamp, catalogue_sha256())


@st.cache_resource(show_spinner="Reading the catalogue …", max_entries=2)
def _read_options(path: Path, stamp: int, sha256: str | None) -> dict[str, Any]:
    records, _ = read_records(path, expected_sha256=sha256)
    return {
        asin: record.get("customization_options")
        for record in reversed(records)  # the first product of an ASIN is the catalogue's
        if isinstance(record, dict) and (asin := valid_asin(record.get("asin"))) is not None
    }


def catalogue_note(runs: Runs, run_ids: list[str]) -> str | None:
    """One sentence when some of the runs cannot be looked up in the prepared catalogue, else None."""
    known = runs_of_catalogue(runs, run_ids)
    missing = [run_id for run_id in run_ids if run_id not in known]
    if known and (problem := _problem()):
        return f"The prepared catalogue cannot be read, so axes are told from the traces alone. {problem}"
    if not missing:
        return None
    if catalogue_sha256() is None:
        return "There is no prepared catalogue (run shopsim prepare), so axes are told from the traces alone."
    return (
        f"{why_not_catalogue(runs, missing)}. "
        "Axes are told from the traces alone, and values that the catalogue lacks cannot be told apart."
    )


def _problem() -> str | None:
    try:
        _options()
    except ShopSimError as error:
        return str(error)
    return None
