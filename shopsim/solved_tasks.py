"""What satisfies the tasks of a prepared workspace: solved once, ahead of those who open the review pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from shopsim.env.terms import default_identity
from shopsim.tasks.solution_cache import SolutionCache, are_persona_tasks_solved

if TYPE_CHECKING:
    from shopsim.engine import Engine
    from shopsim.pipeline.progress import Progress
    from shopsim.settings import Settings

__all__ = ["open_solutions", "solve_persona_tasks"]

SOLUTIONS_FOLDER: Final = Path(".shopsim") / "solutions"


def open_solutions(engine: Engine) -> SolutionCache:
    """What satisfies the tasks of the opened catalogue, remembered in its workspace."""
    folder = engine.settings.path(str(SOLUTIONS_FOLDER))
    return SolutionCache(engine.corpus, engine.goals, engine.terms, folder)


def solve_persona_tasks(settings: Settings, product_data_sha256: str, progress: Progress) -> int:
    """Solve the persona tasks of the prepared catalogue that are not solved yet; how many they were.

    Where all were solved before, nothing is opened. Raises :class:`~shopsim.errors.ShopSimError` when the
    catalogue cannot be opened.
    """
    folder = settings.path(str(SOLUTIONS_FOLDER))
    if are_persona_tasks_solved(folder, product_data_sha256, default_identity()):
        return 0
    from shopsim.engine import open_engine

    with open_engine(settings) as engine:
        return open_solutions(engine).solve_persona_tasks(
            engine.splits.ids("all"),
            progress=lambda keys: progress(keys, label="solve tasks", total=len(keys)),
        )
