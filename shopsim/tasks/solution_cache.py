"""Which products can satisfy a task, remembered on disk.

Solving costs a fraction of a millisecond a task after seconds of indexing, and the answer depends on nothing
but the corpus, the rules of reward and price, the title terms and the price limit. One file holds the answers
for one combination of all but the last; it is replaced as a whole, so that several processes may share it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from shopsim.catalog import Corpus
from shopsim.env.terms import TermExtractor
from shopsim.formats import BUDGET_PARSER_VERSION, REWARD_VERSION, VARIANT_PRICE_VERSION
from shopsim.jsonio import FileError, read_json, write_json
from shopsim.tasks.goals import GoalSet
from shopsim.tasks.solutions import solver_for

__all__ = ["SolutionCache", "SolutionKey", "are_persona_tasks_solved"]

SolutionKey = tuple[int, float | None]
"""Task id and price limit: a trace is judged by the limit that it was scored with (spec 03)."""

Progress = Callable[[list[SolutionKey]], Iterable[SolutionKey]]

_FORMAT: Final = "satisfying-products-2"


@dataclass
class _Answers:
    """What a file holds. ``limits`` is the version of the budget parser with whose limits every persona task
    is answered, if any."""

    by_key: dict[SolutionKey, frozenset[str]] = field(default_factory=dict)
    limits: str | None = None


def are_persona_tasks_solved(folder: Path, product_data_sha256: str, terms: str) -> bool:
    """Whether :meth:`SolutionCache.solve_persona_tasks` was done for a catalogue and the identity of an
    extractor: told by the file alone."""
    path = _path(folder, product_data_sha256, terms)
    return _read(path, product_data_sha256).limits == BUDGET_PARSER_VERSION


class SolutionCache:
    """Satisfying products by task for one corpus. ``folder`` holds one file a corpus and rule set."""

    def __init__(self, corpus: Corpus, goals: GoalSet, terms: TermExtractor, folder: Path) -> None:
        self._corpus, self._goals, self._terms = corpus, goals, terms
        self.path = _path(folder, corpus.sha256, terms.identity)
        self._answers: _Answers | None = None
        self._lock = threading.Lock()

    @property
    def product_data_sha256(self) -> str:
        """The catalogue that the answers are about."""
        return self._corpus.sha256

    def satisfying(
        self, keys: Iterable[SolutionKey], *, progress: Progress | None = None
    ) -> Mapping[SolutionKey, frozenset[str]]:
        """The ASINs that have a satisfying purchase, for every key whose task is in the corpus.

        An empty set means that nothing satisfies the task. ``progress`` may wrap the list of keys that must
        still be solved. Safe for several threads: one solves, the others wait for it.
        """
        with self._lock:
            answers = self._answers = self._answers or _read(self.path, self._corpus.sha256)
            wanted = [key for key in dict.fromkeys(keys) if key[0] in self._goals]
            if self._solve(answers, wanted, progress):
                self._write(answers)
            return {key: answers.by_key[key] for key in wanted}

    def solve_persona_tasks(self, task_ids: Iterable[int], *, progress: Progress | None = None) -> int:
        """Have the answer of each persona task of the corpus with its own limit in the file.

        ``task_ids`` are all of them (the split ``all``); returns how many were missing.
        """
        with self._lock:
            answers = self._answers = self._answers or _read(self.path, self._corpus.sha256)
            goals = (self._goals.get(task_id) for task_id in task_ids if task_id in self._goals)
            keys = [(goal.task_id, goal.price_upper) for goal in goals]
            solved = self._solve(answers, keys, progress)
            answers.limits = BUDGET_PARSER_VERSION
            self._write(answers)
            return solved

    def _solve(self, answers: _Answers, keys: Iterable[SolutionKey], progress: Progress | None) -> int:
        """Solve those of ``keys`` without an answer and tell how many they were."""
        missing = [key for key in keys if key not in answers.by_key]
        if missing:
            solver = solver_for(self._corpus, self._terms)
            for key in progress(missing) if progress else missing:
                goal = replace(self._goals.get(key[0]), price_upper=key[1])
                answers.by_key[key] = solver.satisfying(goal)
        return len(missing)

    def _write(self, answers: _Answers) -> None:
        meanwhile = _read(self.path, self._corpus.sha256)  # another process may have solved other tasks
        both = {**meanwhile.by_key, **answers.by_key}
        value = {
            "format": _FORMAT,
            "product_data_sha256": self._corpus.sha256,
            "persona_limits": answers.limits or meanwhile.limits,
            "satisfying": {json.dumps(key): sorted(asins) for key, asins in sorted(both.items(), key=repr)},
        }
        with suppress(OSError):  # a full disk: what was solved is known here, and solved again elsewhere
            write_json(self.path, value, indent=None)


def _path(folder: Path, product_data_sha256: str, terms: str) -> Path:
    return folder / f"{product_data_sha256[:16]}-{REWARD_VERSION}-{VARIANT_PRICE_VERSION}-{terms}.json"


def _read(path: Path, product_data_sha256: str) -> _Answers:
    """The remembered answers; a file that is missing or not ours counts as empty."""
    try:
        value = read_json(path)
        if value["format"] != _FORMAT or value["product_data_sha256"] != product_data_sha256:
            return _Answers()
        known = {_parse_key(text): frozenset(asins) for text, asins in value["satisfying"].items()}
        return _Answers(known, value["persona_limits"])
    except (FileError, KeyError, TypeError, ValueError, AttributeError):
        return _Answers()


def _parse_key(text: str) -> SolutionKey:
    task_id, limit = json.loads(text)
    return int(task_id), None if limit is None else float(limit)
