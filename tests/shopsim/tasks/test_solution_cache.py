"""The solution cache equals the solver, survives damage, and is shared between instances."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from shopsim.catalog.tiny import tiny_corpus
from shopsim.env.terms import TermExtractor
from shopsim.tasks import solution_cache
from shopsim.tasks.goals import build_goals
from shopsim.tasks.solution_cache import SolutionCache, SolutionKey
from shopsim.tasks.solutions import solve

CORPUS = tiny_corpus()
GOALS = build_goals(CORPUS)
TERMS = TermExtractor()


def cache(folder: Path) -> SolutionCache:
    return SolutionCache(CORPUS, GOALS, TERMS, folder)


def test_equals_the_solver_and_honours_the_given_limit(tmp_path: Path) -> None:
    keys: list[SolutionKey] = [(0, 300.0), (0, 10.0), (0, None), (7, 20.0)]
    told = cache(tmp_path).satisfying(keys)
    assert told == {
        (task, limit): {s.asin for s in solve(replace(GOALS.get(task), price_upper=limit), CORPUS, TERMS)}
        for task, limit in keys
    }
    assert told[0, 10.0] == frozenset() and told[0, 300.0]


def test_tasks_of_another_corpus_are_left_out(tmp_path: Path) -> None:
    assert cache(tmp_path).satisfying([(4711, None)]) == {}


def test_nothing_is_solved_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = cache(tmp_path).satisfying([(0, 300.0)])

    def refuse(*_: object) -> object:
        raise AssertionError("solved again")

    monkeypatch.setattr(solution_cache, "solver_for", refuse)
    assert cache(tmp_path).satisfying([(0, 300.0)]) == first


def test_answers_of_two_instances_are_kept(tmp_path: Path) -> None:
    one, other = cache(tmp_path), cache(tmp_path)
    one.satisfying([(0, 300.0)])
    other.satisfying([(7, 20.0)])
    one.satisfying([(2, 60.0)])
    assert len(cache(tmp_path)._read()) == 3


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"format": "other"}', '{"format": "satisfying-products-1"}']
)
def test_a_damaged_file_is_made_again(tmp_path: Path, content: str) -> None:
    path = cache(tmp_path).path
    path.write_text(content, encoding="utf-8")
    assert cache(tmp_path).satisfying([(7, 20.0)])[7, 20.0]
    assert cache(tmp_path)._read()
