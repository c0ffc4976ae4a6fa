"""Parts that reports share: a section, and the problems of a run's files."""

from __future__ import annotations

from dataclasses import dataclass, field

from dashboard.lake import Lake
from dashboard.report.document import Figure, Table

__all__ = ["Section", "problem_lines"]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, a sentence, figures and tables; what is empty is not drawn."""

    title: str
    sentence: str = ""
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)


def problem_lines(lake: Lake, run_id: str) -> list[str]:
    """What is wrong with a run's files, with the run's name for the path of its folder on this machine."""
    folder = str(lake.run(run_id).path)
    return [line.replace(folder, run_id) for line in lake.file_problems(run_id)]
