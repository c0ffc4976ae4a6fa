"""Where the pages read from: environment variables set by ``shopsim-review dashboard``.

======================  ==============================================================================
``SHOPSIM_HOME``        the workspace (a folder with ``configs/shopsim.toml``); default: found from the
                        working folder upward
``SHOPSIM_ROOTS``       folders to look for runs in, joined with ``os.pathsep``; default: the workspace's
                        ``runs`` folder
``SHOPSIM_LAKE``        the lake's cache folder; default: ``.shopsim/lake`` in the workspace
======================  ==============================================================================

A test points the pages at a temporary folder by setting these.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from shopsim.settings import CONFIG_FILE, WORKSPACE_VARIABLE, Settings, find_workspace, load_settings

__all__ = ["LAKE_VARIABLE", "ROOTS_VARIABLE", "WORKSPACE_VARIABLE", "Workspace", "current_workspace"]

ROOTS_VARIABLE = "SHOPSIM_ROOTS"
LAKE_VARIABLE = "SHOPSIM_LAKE"


@dataclass(frozen=True, slots=True)
class Workspace:
    """The settings, the run folders and the cache folder the pages work with."""

    settings: Settings
    roots: tuple[Path, ...]
    cache_dir: Path


def current_workspace() -> Workspace:
    """Read the environment variables above. Raises :class:`~shopsim.settings.SettingsError`."""
    settings = _current_settings()
    named = [Path(part) for part in os.environ.get(ROOTS_VARIABLE, "").split(os.pathsep) if part.strip()]
    roots = tuple(path.resolve() for path in named) or (settings.runs_root,)
    cache = os.environ.get(LAKE_VARIABLE)
    return Workspace(settings, roots, Path(cache) if cache else settings.workspace / ".shopsim" / "lake")


def _current_settings() -> Settings:
    """The settings, read again only when the file changed: a page run asks for them a dozen times."""
    folder = find_workspace()
    try:
        status = (folder / CONFIG_FILE).stat()
    except OSError:
        return load_settings(folder)  # tells what is wrong with it
    stamp = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    return _read_settings(folder, Path.cwd(), stamp)


@lru_cache(maxsize=8)
def _read_settings(folder: Path, working_folder: Path, stamp: tuple[int, ...]) -> Settings:
    return load_settings(folder)
