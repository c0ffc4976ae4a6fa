"""The bundled engine as pages use it: opened once per prepared catalogue, shared by all sessions."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

from dashboard.ui.workspace import current_workspace
from shopsim.engine import Engine, open_engine
from shopsim.errors import ShopSimError
from shopsim.pipeline import layout
from shopsim.settings import Settings, load_settings

__all__ = ["get_engine", "run_catalogue"]


def get_engine() -> Engine:
    """The opened engine of the workspace.

    Raises :class:`~shopsim.errors.ShopSimError` when the catalogue is not prepared or damaged. A newly
    prepared catalogue is picked up without a restart.
    """
    settings = current_workspace().settings
    return _opened(str(settings.workspace), _stamp(settings.prepared_dir))


def run_catalogue(product_data_sha256: object) -> Engine | None:
    """The engine when its catalogue is the one a run was recorded on, else None."""
    try:
        engine = get_engine()
    except ShopSimError:
        return None
    return engine if engine.corpus.sha256 == product_data_sha256 else None


# An engine that others may still use is not closed when it falls out of the cache: its file handles go with
# the last session that holds it.
@st.cache_resource(show_spinner="Opening the catalogue …", max_entries=2)
def _opened(workspace: str, stamp: tuple[int, ...]) -> Engine:
    settings: Settings = load_settings(Path(workspace))
    with _kept_from_collection():
        return open_engine(settings)


@contextmanager
def _kept_from_collection() -> Iterator[None]:
    """What is made inside stays as long as the process: hundreds of thousands of objects without a cycle.

    A full collection that goes through them holds every session up for a tenth of a second.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _stamp(folder: Path) -> tuple[int, ...]:
    """Changes whenever one of the prepared files was replaced; a missing file counts as 0."""
    stamps = []
    for name in (layout.MANIFEST, layout.PRODUCTS, layout.SPLITS, layout.INDEX):
        path = folder / name
        stamps.append(path.stat().st_mtime_ns if path.is_file() else 0)
    return tuple(stamps)
