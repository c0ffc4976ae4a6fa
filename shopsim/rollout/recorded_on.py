"""What a run was recorded on: the one rule of whom to ask, the manifest first and then the records.

Of one episode alone its own record is asked first, and then the manifest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["recorded_on"]


def recorded_on(
    name: str, first: Mapping[str, Any] | None, others: Iterable[Mapping[str, Any]] = ()
) -> str | None:
    """The text ``name`` (such as ``product_data_sha256``) of a run's environment, None where it is not named.

    ``first`` is ``plan.environment`` of the manifest, ``others`` are ``provenance.environment`` of its
    records (spec 04 A). The word of the first counts; without it the one value that the others agree on:
    records that name two catalogues name none.
    """
    word = (first or {}).get(name)
    if isinstance(word, str):
        return word
    told = {value for environment in others if isinstance(value := environment.get(name), str)}
    return told.pop() if len(told) == 1 else None
