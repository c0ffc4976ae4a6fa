"""What the arguments RUN and ``--root`` of the commands mean: a lake and a run in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from dashboard.lake import Lake
    from dashboard.lake.conversations import Conversations
    from dashboard.lake.training import Training
    from shopsim.errors import ShopSimError

__all__ = [
    "RootOption",
    "checked_roots",
    "conversation_count",
    "conversation_ids",
    "open_conversations",
    "open_lake",
    "open_training",
    "output_error",
    "resolve_run",
    "resolve_runs",
]

RootOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--root",
        metavar="DIR",
        help="Folder to look for runs in, instead of the workspace's; may be given several times.",
    ),
]


def checked_roots(roots: Sequence[Path] | None) -> list[Path]:
    """The folders that were named to look for runs in. Raises UsageError for one that is not there."""
    from shopsim.errors import UsageError

    for root in roots or ():
        if not root.is_dir():
            hint = "Name a folder of runs, a run, a round or a bundle."
            raise UsageError(f"{root}: no such folder", hint=hint)
    return list(roots or ())


def _folders(roots: Sequence[Path] | None) -> list[Path]:
    """The folders to look for runs in: those that were named, else those of the workspace that are there."""
    from dashboard.ui.workspace import current_workspace

    return checked_roots(roots) or [root for root in current_workspace().roots if root.is_dir()]


def open_lake(roots: Sequence[Path] | None) -> Lake:
    """The lake over ``roots`` (default: those of the workspace), refreshed, with a progress bar."""
    from functools import partial

    from dashboard.lake import Lake
    from dashboard.ui.workspace import current_workspace
    from shopsim.progress import track

    workspace = current_workspace()
    lake = Lake(checked_roots(roots) or workspace.roots, workspace.cache_dir)
    lake.refresh(progress=partial(track, label="reading runs"))
    return lake


def open_training(roots: Sequence[Path] | None) -> Training:
    """The training rounds below ``roots`` (default: those of the workspace), read, with a progress bar."""
    from dashboard.lake.training import Training
    from dashboard.ui.workspace import current_workspace
    from shopsim.progress import counting

    workspace = current_workspace()
    training = Training(checked_roots(roots) or workspace.roots, workspace.cache_dir)
    with counting("reading rollouts") as progress:
        training.refresh(progress)
    return training


def open_conversations(roots: Sequence[Path] | None) -> Conversations:
    """The runs of conversations below ``roots`` (default: those of the workspace), read, with a bar."""
    from functools import partial

    from dashboard.lake.conversations import Conversations
    from dashboard.ui.workspace import current_workspace
    from shopsim.progress import track

    workspace = current_workspace()
    lake = Conversations(checked_roots(roots) or workspace.roots, workspace.cache_dir)
    lake.refresh(partial(track, label="reading conversations"))
    return lake


def conversation_ids(
    runs: Sequence[str], roots: Sequence[Path] | None
) -> tuple[list[Path], list[str | None]]:
    """Which of the named runs are runs of conversations, told by their files' names: folders to look in, ids.

    A path adds its folder; the id is None for what is no such run.
    """
    from dashboard.lake.conversations_discovery import find_conversations
    from shopsim.rlve.runfiles import EPISODES_FILE, MANIFEST_FILE

    names = (MANIFEST_FILE, EPISODES_FILE)
    folders = [Path(run) for run in runs if any((Path(run) / name).is_file() for name in names)]
    base = _folders(roots)
    found = find_conversations([*folders, *base]).runs
    by_path = {run.path.resolve(): run.run_id for run in found}
    known = {run.run_id for run in found}
    ids = [by_path.get(Path(run).resolve()) or (run if run in known else None) for run in runs]
    return [*folders, *base], ids


def conversation_count(roots: Sequence[Path] | None) -> int:
    """How many runs of conversations lie below ``roots``, told by the names of their files."""
    from dashboard.lake.conversations_discovery import find_conversations

    return len(find_conversations(_folders(roots)).runs)


def output_error(out: Path, error: OSError) -> ShopSimError:
    """What to raise when ``--out`` cannot be written: a wrong path is a wrong call, a full disk is not."""
    from shopsim.errors import UsageError
    from shopsim.storage import FREE_SPACE, StorageError, is_out_of_space

    text = f"--out {out}: cannot be written ({error.strerror or error})"
    return StorageError(text, hint=FREE_SPACE) if is_out_of_space(error) else UsageError(text)


def resolve_run(run: str, roots: Sequence[Path] | None) -> tuple[Lake, str]:
    """The lake and run id that ``run`` names: the path of a run folder, or the id of a run below the roots.

    Raises :class:`~dashboard.lake.errors.UnknownRunError`, and UsageError for a run of conversations.
    """
    from dashboard.lake.discovery import RUN_FILES

    folder = Path(run)
    if any((folder / name).is_file() for name in RUN_FILES):
        lake = open_lake([folder])
        return lake, next(known.run_id for known in lake.runs if known.path == folder)
    lake = open_lake(roots)
    if not lake.has_run(run):
        raise _unknown(run, roots)
    return lake, run


def _unknown(run: str, roots: Sequence[Path] | None) -> ShopSimError:
    """Why there is no run of that name to read: it is of the other family, or none at all."""
    from dashboard.lake.errors import UnknownRunError
    from dashboard.lake.training_discovery import find_training
    from shopsim.errors import UsageError

    if conversation_ids([run], roots)[1][0] is not None:
        return UsageError(
            f"{run} is a run of conversations, which this command does not read",
            hint="`shopsim rlve summary`, `shopsim rlve verify` and `shopsim-review compare` read it.",
        )
    folder = Path(run)
    inside = [folder] if folder.is_dir() else []
    rounds = [one for found in find_training([*inside, *_folders(roots)]).sources for one in found.rounds]
    if any(one.run_id == run or (inside and one.path.resolve() == folder.resolve()) for one in rounds):
        return UsageError(
            f"{run} is a training round, which this command does not read",
            hint="`shopsim-review audit` and the page Training read it.",
        )
    return UnknownRunError(run, _instead(folder)) if inside else UnknownRunError(run)


def _instead(folder: Path) -> str:
    """What to do with a folder that was named as a run and is none."""
    from dashboard.lake.conversations_discovery import find_conversations
    from dashboard.lake.discovery import find_runs
    from dashboard.lake.training_discovery import find_training

    runs, talks = find_runs([folder]).runs, find_conversations([folder]).runs
    below = [*(run.path for run in runs), *(run.path for run in talks)]
    if below:
        return f"That folder is no run itself; name one that is in it, such as {below[0]}."
    if any(found.rounds for found in find_training([folder]).sources):
        return "That folder holds training rounds: `shopsim-review audit` and the page Training read them."
    return "That folder holds no manifest.json, traces.jsonl or summary.json."


def resolve_runs(runs: Sequence[str], roots: Sequence[Path] | None) -> tuple[Lake, list[str]]:
    """One lake that holds every named run, and their ids; a path adds its folder to the roots.

    Raises :class:`~dashboard.lake.errors.UnknownRunError`, and UsageError for a run of conversations.
    """
    from dashboard.lake.discovery import RUN_FILES

    folders = [Path(run) for run in runs if any((Path(run) / name).is_file() for name in RUN_FILES)]
    if not folders:
        lake = open_lake(roots)
        ids = list(runs)
    else:
        lake = open_lake([*folders, *_folders(roots)])
        by_path = {found.path.resolve(): found.run_id for found in lake.runs}
        ids = [by_path.get(Path(run).resolve(), run) for run in runs]
    for run_id in ids:
        if not lake.has_run(run_id):
            raise _unknown(run_id, roots)
    return lake, ids
