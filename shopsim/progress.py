"""A progress bar for work that may take over two seconds; silent when the output is no terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

__all__ = ["counting", "track"]

T = TypeVar("T")


def track(items: Iterable[T], *, label: str, total: int | None = None) -> Iterator[T]:
    """Yield ``items`` while a bar on standard error shows how far it got and how long it will take."""
    with _bar() as bar:
        yield from bar.track(items, total=total, description=label)


@contextmanager
def counting(label: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function to call with what is done and how much it is of; it moves a bar on standard error."""
    with _bar() as bar:
        task = bar.add_task(label, total=None, visible=False)

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, visible=True)

        yield show


def _bar() -> Progress:
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
