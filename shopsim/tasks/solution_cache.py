"""Which products can satisfy a task, remembered on disk.

Solving costs milliseconds a task after seconds of indexing, and the answer depends on nothing but the
corpus, the reward rules, the title terms and the price limit. One file holds the answers for one
combination of the first three; it is replaced as a whole, so that several processes may share it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from shopsim.catalog import Corpus
from shopsim.env.terms import TermExtractor
from shopsim.formats import REWARD_VERSION
from shopsim.jsonio import FileError, read_json, write_json
from shopsim.tasks.goals import GoalSet
from shopsim.tasks.solutions import solver_for

__all__ = ["SolutionCache", "SolutionKey"]

SolutionKey = tuple[int, float | None]
"""Task id and price limit: a trace is judged by the limit that it was scored with (spec 03)."""

_FORMAT: Final = "satisfying-products-1"


class SolutionCache:
    """Satisfying products by task for one corpus. ``folder`` holds one file a corpus and rule set."""

    def __init__(self, corpus: Corpus, goals: GoalSet, terms: TermExtractor, folder: Path) -> None:
        self._corpus, self._goals, self._terms = corpus, goals, terms
        self.path = folder / f"{corpus.sha256[:16]}-{REWARD_VERSION}-{terms.name}.json"
        self._known: dict[SolutionKey, frozenset[str]] | None = None
        self._lock = threading.Lock()

    @property
    def product_data_sha256(self) -> str:
        """The catalogue that the answers are about."""
        return self._corpus.sha256

    def satisfying(
        self,
        keys: Iterable[SolutionKey],
        *,
        progress: Callable[[list[SolutionKey]], Iterable[SolutionKey]] | None = None,
    ) -> Mapping[SolutionKey, frozenset[str]]:
        """The ASINs that have a satisfying purchase, for every key whose task is in the corpus.

        An empty set means that nothing satisfies the task. ``progress`` may wrap the list of keys that must
        still be solved. Safe for several threads: one solves, the others wait for it.
        """
        with self._lock:
            return self._satisfying(keys, progress)

    def _satisfying(
        self,
        keys: Iterable[SolutionKey],
        progress: Callable[[list[SolutionKey]], Iterable[SolutionKey]] | None,
    ) -> Mapping[SolutionKey, frozenset[str]]:
        known = self._read() if self._known is None else self._known
        wanted = [key for key in dict.fromkeys(keys) if key[0] in self._goals]
        missing = [key for key in wanted if key not in known]
        if missing:
            solver = solver_for(self._corpus, self._terms)
            for key in progress(missing) if progress else missing:
                goal = replace(self._goals.get(key[0]), price_upper=key[1])
                known[key] = solver.satisfying(goal)
            self._write(known)
        self._known = known
        return {key: known[key] for key in wanted}

    def _read(self) -> dict[SolutionKey, frozenset[str]]:
        """The remembered answers; a file that is missing or not ours counts as empty."""
        try:
            value = read_json(self.path)
            if value["format"] != _FORMAT or value["product_data_sha256"] != self._corpus.sha256:
                return {}
            return {_parse_key(text): frozenset(asins) for text, asins in value["satisfying"].items()}
        except (FileError, KeyError, TypeError, ValueError, AttributeError):
            return {}

    def _write(self, known: Mapping[SolutionKey, frozenset[str]]) -> None:
        both = {**self._read(), **known}  # another process may have solved other tasks meanwhile
        value = {
            "format": _FORMAT,
            "product_data_sha256": self._corpus.sha256,
            "satisfying": {json.dumps(key): sorted(asins) for key, asins in sorted(both.items(), key=repr)},
        }
        with suppress(OSError):  # a full disk: what was solved is known here, and solved again elsewhere
            write_json(self.path, value, indent=None)


def _parse_key(text: str) -> SolutionKey:
    task_id, limit = json.loads(text)
    return int(task_id), None if limit is None else float(limit)
