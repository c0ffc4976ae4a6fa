"""Settings of one workspace: frozen, validated, unknown keys refused, written into every manifest.

A workspace is a folder with ``configs/shopsim.toml``. Paths in that file are relative to the workspace. An
installed package also works without one, on runs that are named: then the working folder stands in for the
workspace, with every setting at its default.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from shopsim.errors import ShopSimError

__all__ = ["Settings", "SettingsError", "find_workspace", "load_settings", "workspace_hint"]

CONFIG_FILE = Path("configs/shopsim.toml")
WORKSPACE_VARIABLE = "SHOPSIM_HOME"


class SettingsError(ShopSimError):
    """The settings file is missing or holds a wrong key or value."""

    code = "settings"
    exit_code = 2


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class CorpusSettings(_Section):
    """Where the raw corpus lies and where its prepared form goes."""

    raw_archive: str = "data/raw/products.raw.json.gz"
    annotations: str = "data/raw/price_annotations.jsonl"
    prepared_dir: str = "data/prepared"


class SplitSettings(_Section):
    """Sizes of the project splits (tasks); groups above ``max_group_size`` stay in train."""

    seed: int = 20260901
    val: int = Field(default=100, ge=0)
    test: int = Field(default=100, ge=0)
    max_group_size: int = Field(default=20, ge=1)


class SearchSettings(_Section):
    """Search limits and the weight set of the index (a name in ``configs/search_weights`` or ``v3``)."""

    weights: str = "v3"
    max_results: int = Field(default=150, ge=1, le=1000)
    page_size: int = Field(default=20, ge=1, le=20)


class EpisodeSettings(_Section):
    """Action budgets (spec 01 §1)."""

    single_turn_actions: int = Field(default=30, ge=1)
    multi_turn_actions: int = Field(default=40, ge=1)


class RunSettings(_Section):
    """Where runs are written and read."""

    root: str = "runs"


class RlveSettings(_Section):
    """The conversation environments (spec 06): what is sold, what is asked, what the agent is told."""

    catalogue: str = ""
    """A JSONL or Parquet file with products; empty: the bundled catalogue."""
    mapping: str = ""
    """A TOML file that says which column holds which field; empty: they are named alike."""
    skip_bad_rows: bool = False
    """Whether rows of the file that are no products are left out (and counted) instead of refused."""
    collection: str = "C8"
    """C1, C2, C4, C8, or a list such as ``PD,CART``."""
    disclose: bool = True
    """Whether observations tell environment and difficulty."""
    denied_categories: tuple[str, ...] = Field(default=(), strict=False)
    """Category names, or paths such as ``Beauty > Perfume``, of which nothing may be recommended."""


class ReviewSettings(_Section):
    """Where reviewers' verdicts are kept and which labels they choose from."""

    database: str = ".shopsim/reviews.sqlite"
    taxonomy: str = "configs/review_taxonomy.toml"


class Settings(_Section):
    """The whole of ``configs/shopsim.toml`` plus the workspace folder it was read from."""

    workspace: Path = Field(exclude=True)
    corpus: CorpusSettings = CorpusSettings()
    splits: SplitSettings = SplitSettings()
    search: SearchSettings = SearchSettings()
    episode: EpisodeSettings = EpisodeSettings()
    runs: RunSettings = RunSettings()
    rlve: RlveSettings = RlveSettings()
    review: ReviewSettings = ReviewSettings()

    def path(self, relative: str) -> Path:
        """Resolve a path of the settings file against the workspace."""
        return self.workspace / relative

    @property
    def prepared_dir(self) -> Path:
        """Folder of the active catalogue, manifests, splits and search index."""
        return self.path(self.corpus.prepared_dir)

    @property
    def runs_root(self) -> Path:
        """Folder with one run a sub-folder."""
        return self.path(self.runs.root)

    @property
    def review_database(self) -> Path:
        """The SQLite file with the reviewers' verdicts (made by the first one)."""
        return self.path(self.review.database)

    @property
    def review_taxonomy(self) -> Path:
        """The file that defines the reviewers' labels."""
        return self.path(self.review.taxonomy)


def find_workspace(start: Path | None = None) -> Path:
    """Return the workspace: ``SHOPSIM_HOME``, else the nearest folder above ``start``, else the project.

    When none of them holds ``configs/shopsim.toml``, ``start`` itself (default: the working folder).
    """
    if home := os.environ.get(WORKSPACE_VARIABLE):
        return Path(home)
    here = (start or Path.cwd()).resolve()
    project = Path(__file__).resolve().parent.parent
    for folder in (here, *here.parents, project):
        if (folder / CONFIG_FILE).is_file():
            return folder
    return here


def workspace_hint(settings: Settings) -> str:
    """What to do about data that a workspace would have; empty unless the working folder stands in."""
    if (settings.workspace / CONFIG_FILE).is_file() or not _stands_in(settings.workspace):
        return ""
    return f"There is no {CONFIG_FILE} here or above: run inside the project or set {WORKSPACE_VARIABLE}."


def _stands_in(folder: Path) -> bool:
    """Whether ``folder`` is the working folder and no workspace is named."""
    return not os.environ.get(WORKSPACE_VARIABLE) and folder.resolve() == Path.cwd().resolve()


def load_settings(workspace: Path | None = None) -> Settings:
    """Read and check the settings of ``workspace`` (found by :func:`find_workspace` when None).

    A folder that is named (also by ``SHOPSIM_HOME``) must have settings; the working folder may lack them.
    """
    folder = (workspace or find_workspace()).resolve()
    path = folder / CONFIG_FILE
    try:
        values: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        return Settings(workspace=folder, **values)
    except FileNotFoundError:
        if _stands_in(folder):
            return Settings(workspace=folder)
        raise SettingsError(f"{path}: no such file") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path}: not valid TOML ({error})") from None
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            hint = _known_beside(first["loc"])
            raise SettingsError(f"{path}: {field}: no such setting", hint=hint) from None
        raise SettingsError(f"{path}: {field}: {first['msg']}") from None


def _known_beside(place: tuple[int | str, ...]) -> str:
    """Which settings there are where one was given that is none."""
    model: type[BaseModel] = Settings
    for part in place[:-1]:
        inner = model.model_fields[str(part)].annotation
        assert isinstance(inner, type) and issubclass(inner, BaseModel)
        model = inner
    return f"Known there: {', '.join(name for name in model.model_fields if name != 'workspace')}."
