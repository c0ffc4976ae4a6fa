"""Persona tasks of a workspace are solved once, as by the solver, and again when what was kept is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from shopsim import engine as engine_module
from shopsim.engine import open_engine
from shopsim.pipeline.progress import silent
from shopsim.solved_tasks import open_solutions, solve_persona_tasks
from shopsim.tasks import solution_cache
from shopsim.tasks.solutions import solver_for
from tests.factories.tiny_workspace import tiny_workspace


def refuse(*_: object) -> object:
    raise AssertionError("opened or solved again")


def test_solved_once_and_then_known_without_opening_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tiny_workspace(tmp_path)
    with open_engine(settings) as engine:
        sha256, ids = engine.corpus.sha256, engine.splits.ids("all")
        goals = [engine.goals.get(task_id) for task_id in ids]
        solver = solver_for(engine.corpus, engine.terms)
        expected = {(goal.task_id, goal.price_upper): solver.satisfying(goal) for goal in goals}
    assert solve_persona_tasks(settings, sha256, silent) == len(ids) > 0
    with open_engine(settings) as engine, monkeypatch.context() as changed:
        changed.setattr(solution_cache, "solver_for", refuse)
        assert open_solutions(engine).satisfying(expected) == expected and any(expected.values())
    with monkeypatch.context() as changed:
        changed.setattr(engine_module, "open_engine", refuse)
        assert solve_persona_tasks(settings, sha256, silent) == 0
        with pytest.raises(AssertionError, match="opened"):
            solve_persona_tasks(settings, "0" * 64, silent)


def test_what_is_damaged_is_solved_again(tmp_path: Path) -> None:
    settings = tiny_workspace(tmp_path)
    with open_engine(settings) as engine:
        path, sha256 = open_solutions(engine).path, engine.corpus.sha256
    solved = solve_persona_tasks(settings, sha256, silent)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert solve_persona_tasks(settings, sha256, silent) == solved
    assert path.read_bytes() == whole
