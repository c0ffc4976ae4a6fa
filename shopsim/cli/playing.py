"""What the commands that play runs share: options, a stop that loses nothing, skills, what they print."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import typer

from shopsim.errors import UsageError

__all__ = ["CONCURRENCY", "SCRIPTED", "interruptible", "processes", "progress", "skill_values"]

CONCURRENCY: Final = typer.Option(
    min=1, help="Processes; results do not depend on it. Default: all processors."
)
SCRIPTED: Final = "\nScripted agents, not trained models; the manifests say so."
"""Last line below a table of demo runs."""

T = TypeVar("T")


@contextmanager
def interruptible(mend: str) -> Iterator[None]:
    """Turn Ctrl-C into :class:`~shopsim.rollout.report.RunInterruptedError` with the hint ``mend``."""
    from shopsim.rollout.report import RunInterruptedError

    try:
        yield
    except KeyboardInterrupt:
        raise RunInterruptedError("interrupted; finished episodes are kept", hint=mend) from None


def processes(asked: int | None) -> int:
    """How many to use: as many as were asked for, else one a processor."""
    return asked or os.cpu_count() or 1


def progress(episodes: Iterable[T], label: str, total: int) -> Iterator[T]:
    """``episodes`` with a progress bar, in the shape that the demos call it."""
    from shopsim.progress import track

    return track(episodes, label=label, total=total)


def skill_values(path: Path) -> dict[str, Any]:
    """The skill parameters of the JSON file ``path``, labelled by its name unless they say otherwise.

    Raises :class:`UsageError` when there is no such file or when it holds no object.
    """
    from shopsim.jsonio import read_json

    if not path.exists():
        raise UsageError(f"--skill {path}: no such file")
    values = read_json(path)
    if not isinstance(values, dict):
        raise UsageError(f"{path}: skill parameters are a JSON object")
    return {"label": path.stem, **values}
