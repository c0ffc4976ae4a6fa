"""The solution cache equals the solver, survives damage, and is shared between instances."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from shopsim.catalog.tiny import tiny_corpus
from shopsim.env.terms import TermExtractor
from shopsim.jsonio import read_json, write_json
from shopsim.tasks import solution_cache
from shopsim.tasks.goals import build_goals
from shopsim.tasks.solution_cache import SolutionCache, SolutionKey, are_persona_tasks_solved
from shopsim.tasks.solutions import solve

CORPUS = tiny_corpus()
GOALS = build_goals(CORPUS)
TERMS = TermExtractor()


def cache(folder: Path) -> SolutionCache:
    return SolutionCache(CORPUS, GOALS, TERMS, folder)


def refuse(*_: object) -> object:
    raise AssertionError("solved again")


def remembered(folder: Path) -> list[str]:
    return list(read_json(cache(folder).path)["satisfying"])


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
    monkeypatch.setattr(solution_cache, "solver_for", refuse)
    assert cache(tmp_path).satisfying([(0, 300.0)]) == first


def test_answers_of_two_instances_are_kept(tmp_path: Path) -> None:
    one, other = cache(tmp_path), cache(tmp_path)
    one.satisfying([(0, 300.0)])
    other.satisfying([(7, 20.0)])
    one.satisfying([(2, 60.0)])
    assert remembered(tmp_path) == ["[0, 300.0]", "[2, 60.0]", "[7, 20.0]"]


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"format": "other"}', '{"format": "satisfying-products-2"}']
)
def test_a_damaged_file_is_made_again(tmp_path: Path, content: str) -> None:
    path = cache(tmp_path).path
    path.write_text(content, encoding="utf-8")
    assert cache(tmp_path).satisfying([(7, 20.0)])[7, 20.0]
    assert remembered(tmp_path) == ["[7, 20.0]"]


PERSONA = [goal.task_id for goal in GOALS if goal.is_persona]


def is_solved(folder: Path, terms: str = TERMS.identity, sha256: str = CORPUS.sha256) -> bool:
    return are_persona_tasks_solved(folder, sha256, terms)


def test_persona_tasks_are_solved_with_their_own_limits_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    some, *others = PERSONA
    before = cache(tmp_path)
    before.satisfying([(some, GOALS.get(some).price_upper)])
    assert not is_solved(tmp_path)
    assert before.solve_persona_tasks([*PERSONA, 4711]) == len(others)
    assert is_solved(tmp_path)
    monkeypatch.setattr(solution_cache, "solver_for", refuse)
    assert cache(tmp_path).solve_persona_tasks(PERSONA) == 0
    told = cache(tmp_path).satisfying((task, GOALS.get(task).price_upper) for task in PERSONA)
    assert told == {
        (task, GOALS.get(task).price_upper): {s.asin for s in solve(GOALS.get(task), CORPUS, TERMS)}
        for task in PERSONA
    }


def test_other_limits_leave_the_persona_tasks_solved(tmp_path: Path) -> None:
    other = cache(tmp_path)
    other.satisfying([(0, 1.0)])
    cache(tmp_path).solve_persona_tasks(PERSONA)
    other.satisfying([(0, 2.0)])
    assert is_solved(tmp_path)


def test_whatever_decides_is_part_of_what_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache(tmp_path).solve_persona_tasks(PERSONA)
    assert not is_solved(tmp_path, terms="zh_core_web_sm-3.8.0")
    assert not is_solved(tmp_path, sha256=f"{CORPUS.sha256[:16]}{'0' * 48}")
    for rule in ("REWARD_VERSION", "VARIANT_PRICE_VERSION", "BUDGET_PARSER_VERSION"):
        with monkeypatch.context() as changed:
            changed.setattr(solution_cache, rule, "next")
            assert not is_solved(tmp_path)
    assert is_solved(tmp_path)
    write_json(cache(tmp_path).path, {**read_json(cache(tmp_path).path), "format": "satisfying-products-1"})
    assert not is_solved(tmp_path)
