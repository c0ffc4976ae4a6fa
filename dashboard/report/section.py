"""One section of a report."""

from __future__ import annotations

from dataclasses import dataclass, field

from dashboard.report.document import Figure, Table

__all__ = ["Section"]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, a sentence, figures and tables; what is empty is not drawn."""

    title: str
    sentence: str = ""
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
