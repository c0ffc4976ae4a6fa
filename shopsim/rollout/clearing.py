"""Removes demo runs that are to be made again, and never a run of somebody else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shopsim.errors import ShopSimError
from shopsim.locking import folder_lock
from shopsim.rollout.manifest import read_manifest

__all__ = ["clear_scripted_runs"]


def clear_scripted_runs(
    folders: Sequence[Path], files: Sequence[str], *, manifest: str, schema: str, error: type[ShopSimError]
) -> None:
    """Remove ``files`` from the ``folders`` that are there.

    Nothing is removed, and ``error`` raised, where the file ``manifest`` (of ``schema``) of one of them says
    that its agent is no script. Raises :class:`~shopsim.locking.RunLockedError` when someone writes
    one of them.
    """
    for path in (folder / manifest for folder in folders):
        if path.exists():
            model = read_manifest(path, schema=schema)["plan"].get("model")
            if not isinstance(model, dict) or model.get("provider") != "scripted":
                raise error(
                    f"{path}: not a scripted run", hint="Move the folder away; the demo needs its name."
                )
    for folder in folders:
        if folder.is_dir():
            with folder_lock(folder):
                for name in files:
                    (folder / name).unlink(missing_ok=True)
