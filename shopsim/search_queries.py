"""The query sets that the search lab looks at: where tasks and search meet, unknown to each other.

Oracle queries are whole instructions; agents' queries are what a recorded run really typed; a file holds
anybody's. What each query wants is the gold ASIN of its task, or any satisfying product.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from shopsim.env.actions import Action, parse_response
from shopsim.errors import UsageError
from shopsim.jsonio import FileError
from shopsim.search.evaluation import QuerySet
from shopsim.tasks.goals import Goal

if TYPE_CHECKING:
    from shopsim.engine import Engine

__all__ = [
    "ORACLE_KINDS",
    "OracleKind",
    "Wanted",
    "both_oracle_queries",
    "file_queries",
    "gold",
    "oracle_queries",
    "run_queries",
    "satisfying",
]

OracleKind = Literal["simple", "full"]
ORACLE_KINDS: Final[tuple[OracleKind, ...]] = ("simple", "full")

_Row = tuple[int, str, Collection[str]]

Wanted = Callable[[Goal], Collection[str]]
"""Which ASINs a task's queries want; none leaves the task out."""


def gold(goal: Goal) -> Collection[str]:
    """The one product that the task was written from."""
    return (goal.asin,)


def satisfying(engine: Engine) -> Wanted:
    """Every product with which some choice of options fulfils the task (the task oracle decides)."""
    from shopsim.tasks.solutions import solver_for

    solver = solver_for(engine.corpus, engine.terms)
    return lambda goal: tuple(solution.asin for solution in solver.solve(goal))


def oracle_queries(engine: Engine, split: str, kind: OracleKind, wanted: Wanted = gold) -> QuerySet:
    """The instructions of a split as queries: ``instruction_simple`` ("simple") or ``instruction`` ("full").

    Tasks without a simple instruction have no simple query. Raises :class:`UsageError` for an unknown
    split and for one without any query.
    """
    goals = [engine.goals.get(task_id) for task_id in engine.splits.ids(split)]
    rows: list[_Row] = []
    for goal in goals:
        text = goal.instruction_simple if kind == "simple" else goal.instruction_text
        if text and (asins := wanted(goal)):
            rows.append((goal.task_id, text, asins))
    if not rows:
        raise UsageError(f"split {split!r}: has no {kind} query", hint="Choose another split.")
    return QuerySet.of(rows)


def both_oracle_queries(engine: Engine, split: str, wanted: Wanted = gold) -> QuerySet:
    """The simple and the full queries of a split in one set; the two queries of a task are one unit."""
    simple, full = (oracle_queries(engine, split, kind, wanted) for kind in ORACLE_KINDS)
    return QuerySet(simple.texts + full.texts, simple.wanted + full.wanted, simple.units + full.units)


def run_queries(engine: Engine, traces: Path, wanted: Wanted = gold) -> QuerySet:
    """Every search that the episodes of a trace file executed, in order, repeats included.

    The unit is the task. Episodes of tasks that this corpus does not have are refused: their wanted
    products are unknown.
    """
    from shopsim.rollout.trace import read_records

    rows: list[_Row] = []
    for record in read_records(traces).latest():
        task_id = _task_id(record)
        queries = list(_searches(record))
        if queries and (asins := wanted(engine.goals.get(task_id))):
            rows.extend((task_id, query, asins) for query in queries)
    if not rows:
        raise UsageError(f"{traces}: no episode searched for anything", hint="Choose another run.")
    return QuerySet.of(rows)


def _task_id(record: Mapping[str, Any]) -> int:
    job = record.get("job")
    task_id = job.get("task_id") if isinstance(job, Mapping) else None
    return task_id if isinstance(task_id, int) else -1


def _searches(record: Mapping[str, Any]) -> Iterator[str]:
    """The queries of the search actions that the environment executed."""
    steps = record.get("steps")
    for step in steps if isinstance(steps, list) else ():
        answer = step.get("environment") if isinstance(step, Mapping) else None
        feedback = answer.get("action_feedback") if isinstance(answer, Mapping) else None
        if not (isinstance(feedback, Mapping) and feedback.get("valid") is True):
            continue
        action = parse_response(feedback.get("action"))
        if isinstance(action, Action) and action.verb == "search":
            yield action.argument


def file_queries(path: Path) -> QuerySet:
    """Queries from a file: one JSON object a line, ``{"query", "asin" or "asins", "task_id" (optional)}``,
    or lines of a query, a tab and its wanted ASINs separated by commas.

    Without ``task_id`` each line is a unit of its own. Raises :class:`FileError` with file and line.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        raise FileError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError):
        raise FileError(f"{path}: cannot be read as UTF-8 text") from None
    rows = [_file_row(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise FileError(f"{path}: holds no query")
    return QuerySet.of(rows)


def _file_row(path: Path, number: int, line: str) -> tuple[object, str, list[str]]:
    query, asins, unit = _json_row(line) if line.lstrip().startswith("{") else _tab_row(line)
    if not isinstance(query, str) or not asins:
        raise FileError(
            f"{path}: line {number}: no query with wanted ASINs",
            hint='Write {"query": ..., "asin": ...} or query<TAB>ASIN.',
        )
    return (f"line {number}" if unit is None else unit), query, asins


def _json_row(line: str) -> tuple[object, list[str], int | str | None]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError:
        return None, [], None
    asins = row.get("asins", row.get("asin"))
    listed = asins if isinstance(asins, list) else [asins]
    unit = row.get("task_id")
    wanted = [asin for asin in listed if isinstance(asin, str) and asin]
    return row.get("query"), wanted, unit if isinstance(unit, int | str) else None


def _tab_row(line: str) -> tuple[object, list[str], None]:
    query, _, asins = line.partition("\t")
    return query, [asin.strip() for asin in asins.split(",") if asin.strip()], None
