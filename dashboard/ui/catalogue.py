"""The prepared catalogue, for pages that look wanted things up: only for runs that used this very one."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import streamlit as st

from dashboard.analysis.outcomes import locate_wanted
from dashboard.ui.data import Runs
from dashboard.ui.workspace import current_workspace
from shopsim.catalog import Corpus, load_corpus
from shopsim.errors import ShopSimError
from shopsim.pipeline import layout
from shopsim.pipeline.state import read_state

__all__ = ["catalogue_note", "catalogue_sha256", "load_catalogue", "locate", "runs_of_catalogue"]


def catalogue_sha256() -> str | None:
    """The product data SHA-256 of the prepared catalogue as its preparation recorded it, None without one."""
    try:
        state = read_state(current_workspace().settings.prepared_dir)
    except ShopSimError:
        return None
    return None if state is None else state.outputs.get(layout.PRODUCTS)


def runs_of_catalogue(runs: Runs, run_ids: list[str]) -> list[str]:
    """The runs whose manifest names exactly the prepared catalogue."""
    sha256 = catalogue_sha256()
    if sha256 is None:
        return []
    recorded = runs.table["product_data_sha256"]
    return [run_id for run_id in run_ids if recorded.get(run_id) == sha256]


def load_catalogue() -> Corpus:
    """The prepared catalogue, shared by all sessions. Raises :class:`~shopsim.catalog.CorpusError`."""
    path = current_workspace().settings.prepared_dir / layout.PRODUCTS
    stamp = path.stat().st_mtime_ns if path.is_file() else 0
    return _load(path, stamp)


@st.cache_resource(show_spinner="Reading the catalogue …", max_entries=2)
def _load(path: Path, stamp: int) -> Corpus:
    return load_corpus(path)


def locate(rows: pd.DataFrame) -> pd.DataFrame:
    """:func:`~dashboard.analysis.outcomes.locate_wanted` for rows of ``option_outcomes.sql``."""
    known = rows.loc[rows["known_catalogue"], ["goal_asin", "wanted_value"]].dropna()
    pairs = sorted(set(zip(known["goal_asin"], known["wanted_value"], strict=True)))
    return _locate(load_catalogue(), catalogue_sha256() or "", pairs)


@st.cache_data(show_spinner=False, max_entries=20)
def _locate(_corpus: Corpus, sha256: str, pairs: list[tuple[str, str]]) -> pd.DataFrame:
    def axes_of(asin: str) -> object:
        product = _corpus.get(asin)
        return None if product is None else product.axes

    return locate_wanted(pairs, axes_of)  # type: ignore[arg-type]


def catalogue_note(runs: Runs, run_ids: list[str]) -> str | None:
    """One sentence when some of the runs cannot be looked up in the prepared catalogue, else None."""
    missing = [run_id for run_id in run_ids if run_id not in runs_of_catalogue(runs, run_ids)]
    if not missing:
        return None
    if catalogue_sha256() is None:
        return "There is no prepared catalogue (run shopsim prepare), so axes are told from the traces alone."
    names = ", ".join(runs.name(run_id) for run_id in missing[:4]) + (" …" if len(missing) > 4 else "")
    return (
        f"{names}: recorded with another catalogue than the prepared one, or none is named. "
        "Axes are told from the traces alone, and values that the catalogue lacks cannot be told apart."
    )
