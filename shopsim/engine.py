"""The prepared workspace, opened and checked: everything that environments, agents and pages share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from shopsim.catalog import Corpus, load_corpus
from shopsim.env.shop import Shop
from shopsim.env.shop_env import ShopEnv
from shopsim.env.terms import TermExtractor, default_extractor
from shopsim.errors import ShopSimError
from shopsim.formats import (
    BUDGET_PARSER_VERSION,
    DATASET_SCHEMA,
    ENVIRONMENT_VERSION,
    OBSERVATION_VERSION,
    REWARD_VERSION,
    SEARCH_VERSION,
)
from shopsim.jsonio import read_json
from shopsim.pipeline import layout
from shopsim.search import SearchIndex, load_weights
from shopsim.search.weights import WEIGHTS_FOLDER
from shopsim.settings import Settings, load_settings, workspace_hint
from shopsim.tasks.goals import GoalSet, build_goals
from shopsim.tasks.splits import Splits, load_splits

__all__ = ["Engine", "EngineError", "open_engine"]

_REQUIRED: Final = (layout.MANIFEST, layout.PRODUCTS, layout.SPLITS, layout.INDEX)


class EngineError(ShopSimError):
    """The prepared data are missing, incomplete or do not belong together."""

    code = "engine"


@dataclass(frozen=True)
class Engine:
    """One opened workspace. Immutable, safe to share between threads; environments are made from it."""

    settings: Settings
    corpus: Corpus
    goals: GoalSet
    search: SearchIndex
    splits: Splits
    terms: TermExtractor
    shop: Shop = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shop", Shop(self.corpus, self.search, self.settings.search))

    def new_env(self) -> ShopEnv:
        """A new environment over the shared corpus: microseconds, any number of them."""
        return ShopEnv(self.corpus, self.goals, self.search, self.terms, self.settings, shop=self.shop)

    def provenance(self) -> dict[str, Any]:
        """What results depend on, for manifests: versions, rules in force and the data's hash."""
        return {
            "environment_version": ENVIRONMENT_VERSION,
            "observation_version": OBSERVATION_VERSION,
            "search_version": SEARCH_VERSION,
            "reward_version": REWARD_VERSION,
            "budget_parser_version": BUDGET_PARSER_VERSION,
            "term_extractor": self.terms.name,
            "product_data_sha256": self.corpus.sha256,
            "search_weights": self.settings.search.weights,
        }

    def close(self) -> None:
        """Close the search index. The engine must not be used afterwards."""
        self.search.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_engine(settings: Settings | None = None, *, terms: TermExtractor | None = None) -> Engine:
    """Open the prepared data of ``settings`` (the workspace's own when None).

    Checks that ``products.json`` is the one the dataset manifest describes and that the index was built
    from it with the configured weights. Raises a :class:`~shopsim.errors.ShopSimError` of one line that
    says what to run.
    """
    settings = settings or load_settings()
    folder = settings.prepared_dir
    if missing := [name for name in _REQUIRED if not (folder / name).is_file()]:
        mend = workspace_hint(settings) or "Run `shopsim prepare`."
        raise EngineError(f"{folder}: {', '.join(missing)} not found", hint=mend)
    corpus = load_corpus(folder / layout.PRODUCTS, expected_sha256=_content_sha256(folder / layout.MANIFEST))
    goals = build_goals(corpus)
    splits = load_splits(folder / layout.SPLITS)
    search = SearchIndex.open(folder / layout.INDEX, product_data_sha256=corpus.sha256)
    try:
        _check_weights(search, settings)
    except ShopSimError:
        search.close()
        raise
    return Engine(settings, corpus, goals, search, splits, terms or default_extractor())


def _content_sha256(path: Path) -> str:
    """The hash that the dataset manifest promises for the product file."""
    manifest = read_json(path, mend=_REBUILD)
    content = manifest.get("content") if isinstance(manifest, Mapping) else None
    digest = content.get("sha256") if isinstance(content, Mapping) else None
    if not isinstance(digest, str) or manifest.get("schema_version") != DATASET_SCHEMA:
        raise EngineError(f"{path}: not a {DATASET_SCHEMA} manifest with content.sha256", hint=_REBUILD)
    return digest


def _check_weights(search: SearchIndex, settings: Settings) -> None:
    name = settings.search.weights
    if search.weights != load_weights(name, settings.path(str(WEIGHTS_FOLDER))):
        raise EngineError(
            f"{search.path}: built with other weights than search.weights = {name!r}", hint=_REBUILD
        )


_REBUILD = "Run `shopsim prepare --force`."
