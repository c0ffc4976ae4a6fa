"""A run in numbers, plain Python: what pages and scripts compare themselves with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from shopsim.formats import RLVE_SUMMARY_SCHEMA
from shopsim.jsonio import read_json
from shopsim.rlve.rollout.plan import CURRICULUM_FILE, EPISODES_FILE, read_plan
from shopsim.rlve.rollout.records import read_episodes
from shopsim.rlve.wire import problems_of
from shopsim.rollout.trace import TraceIndex

__all__ = ["summarize", "summarize_run"]

_MEANS: Final = ("total", "task", "efficiency", "hallucination", "turns", "effective_turns")


@dataclass(slots=True)
class _Group:
    """Counts over some episodes."""

    episodes: int = 0
    correct: int = 0
    sums: Counter[str] = field(default_factory=Counter)
    terminations: Counter[str] = field(default_factory=Counter)
    violations: Counter[str] = field(default_factory=Counter)
    tool_calls: int = 0
    tool_errors: int = 0
    user_acts: Counter[str] = field(default_factory=Counter)
    facts: int = 0
    facts_told: int = 0

    def add(self, record: Mapping[str, Any]) -> None:
        end = record["end"]
        self.episodes += 1
        self.correct += bool(end["correct"])
        for name in _MEANS:
            self.sums[name] += end["reward"][name]
        self.terminations[end["termination"]] += 1
        if end["reward"]["violation"]:
            self.violations[end["reward"]["violation"]] += 1
        for turn in record["turns"]:
            self.tool_calls += len(turn["tool_results"])
            self.tool_errors += sum(not result["ok"] for result in turn["tool_results"])
            if turn["user"]:
                self.user_acts[turn["user"]["act"]] += 1
        known, told = _facts(record)
        self.facts += known
        self.facts_told += told

    def to_wire(self) -> dict[str, Any]:
        count = self.episodes
        means = {name: self.sums[name] / count if count else None for name in _MEANS}
        return {
            "episodes": count,
            "correct": self.correct,
            "correct_rate": self.correct / count if count else None,
            "reward_mean": means.pop("total"),
            **{f"{name}_mean": value for name, value in means.items()},
            "terminations": dict(sorted(self.terminations.items())),
            "violations": dict(sorted(self.violations.items())),
            "tool_calls": self.tool_calls,
            "tool_errors": self.tool_errors,
            "user_acts": dict(sorted(self.user_acts.items())),
            "facts": self.facts,
            "facts_told": self.facts_told,
        }


def summarize(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The numbers of complete records: over all, by environment, and by environment and difficulty.

    Rates and means of no episodes are None. ``facts`` are those that the users knew, the parts of journeys
    included; ``facts_told`` are those of them that were told in time. What is never told is never held
    against an agent, so one that does not ask is held to less: these two make that visible.
    """
    whole, by_env, by_level = _Group(), dict[str, _Group](), dict[tuple[str, int], _Group]()
    for record in records:
        env, difficulty = record["env"], record["difficulty"]
        for group in (
            whole,
            by_env.setdefault(env, _Group()),
            by_level.setdefault((env, difficulty), _Group()),
        ):
            group.add(record)
    levels = [
        {"env": env, "difficulty": difficulty, **group.to_wire()}
        for (env, difficulty), group in sorted(by_level.items())
    ]
    return {
        "schema_version": RLVE_SUMMARY_SCHEMA,
        "overall": whole.to_wire(),
        "by_env": {env: group.to_wire() for env, group in sorted(by_env.items())},
        "by_difficulty": levels,
    }


def _facts(record: Mapping[str, Any]) -> tuple[int, int]:
    """Facts that the user of an episode knew, and those of them told while the agent could act on them.

    ``told`` also holds the names of a journey's parts that were brought up: these are no facts.
    """
    names = [
        prefix + fact["name"]
        for prefix, problem in problems_of(record.get("private") or {})
        for fact in problem.get("facts", ())
    ]
    told = set(record["end"].get("told", ()))
    return len(names), sum(name in told for name in names)


def summarize_run(folder: Path) -> dict[str, Any]:
    """The summary of a run folder: its plan, counts of the file, numbers, and the saved curriculum.

    Raises :class:`~shopsim.rollout.manifest.ManifestError` when the folder holds no run.
    """
    plan = read_plan(folder)
    path, saved = folder / EPISODES_FILE, folder / CURRICULUM_FILE
    index = read_episodes(path) if path.exists() else TraceIndex(path)
    complete = index.complete_ids
    records = index.latest() if path.exists() else iter(())
    summary = summarize(record for record in records if record["episode_id"] in complete)
    return {
        **summary,
        "experiment": plan["experiment"],
        "model": plan["model"],
        "difficulty": plan["difficulty"],
        "trace_index": {**index.counts(), "requested": plan["episodes"], "complete": len(complete)},
        "curriculum": read_json(saved)["windows"] if saved.exists() else None,
    }
