"""What every search command needs: the engine without title terms, and named weight sets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shopsim.engine import Engine
    from shopsim.search.weights import FieldWeights
    from shopsim.settings import Settings

__all__ = ["open_search_engine", "weights_folder", "weights_or_configured"]


def open_search_engine(*, with_terms: bool = False) -> Engine:
    """The workspace's engine. Search alone needs no title terms; the language model is only loaded when
    ``with_terms`` says that rewards matter too."""
    from shopsim.engine import open_engine
    from shopsim.env.terms import TermExtractor

    return open_engine(terms=None if with_terms else TermExtractor())


def weights_folder(settings: Settings) -> Path:
    """Where the workspace keeps its named weight sets."""
    from shopsim.search.weights import WEIGHTS_FOLDER

    return settings.workspace / WEIGHTS_FOLDER


def weights_or_configured(engine: Engine, name: str | None) -> FieldWeights:
    """The set called ``name``, or the one that the workspace's index was built with."""
    from shopsim.search.weights import load_weights

    return engine.search.weights if name is None else load_weights(name, weights_folder(engine.settings))
