"""What an audit finds, and the registry of its rules.

A rule is a small function with a docstring that says what it checks. It looks at the facts of one run (or of
all runs together, or of a bundle) and yields an :class:`Observation` for everything that is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final, Generic, Literal, TypeVar

__all__ = [
    "MAX_PLACES",
    "SEVERITIES",
    "Finding",
    "Observation",
    "Place",
    "Registry",
    "Rule",
    "Severity",
]

Severity = Literal["error", "warning", "info"]
SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "info")
"""error: figures are not to be trusted; warning: something is missing or mixed; info: good to know."""

MAX_PLACES: Final = 1000
"""So many places of one finding are kept; ``count`` tells them all."""

Facts = TypeVar("Facts")


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the file: an episode, a byte offset (its line's start), a field, and what stands there.

    ``file`` is given where the finding's own stands for several.
    """

    detail: str = ""
    episode_id: str | None = None
    offset: int | None = None
    field: str | None = None
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """Something wrong: ``what`` in one sentence, the ``file`` it is in, how to mend it, and all places.

    ``count`` is the number of places when not given; ``severity`` replaces that of the rule.
    """

    what: str
    file: str
    mend: str
    places: tuple[Place, ...] = ()
    count: int | None = None
    field: str | None = None
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """An observation with the rule that made it and the run (or bundle, or root) that it is about."""

    rule: str
    title: str
    severity: Severity
    run: str
    what: str
    file: str
    field: str | None
    count: int
    places: tuple[Place, ...]
    mend: str

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; ``places`` are the first :data:`MAX_PLACES`."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Rule(Generic[Facts]):
    """One check. ``description`` is the docstring of its function."""

    name: str
    title: str
    severity: Severity
    check: Callable[[Facts], Iterable[Observation]]

    @property
    def description(self) -> str:
        """What is checked, in one paragraph."""
        return " ".join((self.check.__doc__ or "").split())


class Registry(Generic[Facts]):
    """Rules about one kind of facts, in the order in which they were added."""

    def __init__(self) -> None:
        self.rules: list[Rule[Facts]] = []

    def rule(
        self, title: str, severity: Severity
    ) -> Callable[[Callable[[Facts], Iterable[Observation]]], Callable[[Facts], Iterable[Observation]]]:
        """Decorator: register a function as the rule of its own name."""

        def add(check: Callable[[Facts], Iterable[Observation]]) -> Callable[[Facts], Iterable[Observation]]:
            self.rules.append(Rule(check.__name__, title, severity, check))
            return check

        return add

    def findings(self, facts: Facts, run: str) -> Iterator[Finding]:
        """Everything that the rules find in ``facts``, which are about ``run``."""
        for rule in self.rules:
            for seen in rule.check(facts):
                yield Finding(
                    rule=rule.name,
                    title=rule.title,
                    severity=seen.severity or rule.severity,
                    run=run,
                    what=seen.what,
                    file=seen.file,
                    field=seen.field,
                    count=max(len(seen.places), 1) if seen.count is None else seen.count,
                    places=seen.places[:MAX_PLACES],
                    mend=seen.mend,
                )
