"""Whether a task number means the same task to two runs: the catalogues that they were recorded on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

__all__ = ["Kinship", "family_warning", "kinship", "mixed_warning"]

Kinship = Literal["same", "different", "unknown"]

_NAMED: Final = "sha256:"


def kinship(family_a: str, family_b: str) -> Kinship:
    """How two values of ``catalogue_family`` (of the view ``runs``) stand to each other.

    ``same``: one catalogue, one published bundle, or two unnamed runs of one folder. ``different``: both name
    their catalogue, and not the same. ``unknown``: one of them does not name it.
    """
    if family_a == family_b:
        return "same"
    return "different" if family_a.startswith(_NAMED) and family_b.startswith(_NAMED) else "unknown"


def mixed_warning(families: Iterable[str]) -> str | None:
    """One sentence where tasks of several families stand in one table, None where all are of one."""
    if len(set(families)) < 2:
        return None
    return (
        "The chosen runs were not all recorded on one catalogue, as far as is known: one task number may "
        "mean different tasks. Choose runs of one catalogue to compare them."
    )


def family_warning(kin: Kinship, name_a: str, name_b: str) -> str | None:
    """One sentence for pairs that may only share their task numbers, None where the tasks are the same."""
    if kin == "same":
        return None
    if kin == "different":
        return (
            f"{name_a} and {name_b} were recorded on different catalogues: their tasks share numbers only, "
            "so the differences below say nothing about which run is better."
        )
    return (
        f"It is not recorded that {name_a} and {name_b} used the same catalogue: their tasks may share "
        "numbers only, and then the differences below mean nothing."
    )
