"""The user's phrasings: a data file with several a situation; which one is said is drawn by seed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from random import Random
from string import Formatter
from types import MappingProxyType
from typing import Any, Final

from shopsim.jsonio import read_json
from shopsim.rlve.errors import RlveError

__all__ = ["TEMPLATES_SCHEMA", "Templates", "bundled_templates", "load_templates"]

TEMPLATES_SCHEMA: Final = "ecomrlve-user-templates-v1"

_FIELDS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "greeting": frozenset(),
        "open": frozenset({"request", "details"}),
        "open_journey": frozenset({"count", "request", "details"}),
        "next_part": frozenset({"request", "details"}),
        "switch": frozenset({"request", "details"}),
        "clarify": frozenset({"details"}),
        "again": frozenset({"details"}),
        "confirm": frozenset(),
        "confirm_again": frozenset(),
        "nothing_more": frozenset(),
        "no_preference": frozenset(),
        "correct": frozenset({"details"}),
        "elaborate": frozenset({"details"}),
        "continue": frozenset(),
        "dissatisfied": frozenset(),
        "impatient": frozenset(),
        "ragequit": frozenset(),
        "done": frozenset(),
    }
)


@dataclass(frozen=True, slots=True)
class Templates:
    """Phrasings by situation; each holds exactly the fields that its situation fills."""

    phrasings: Mapping[str, tuple[str, ...]]

    def say(self, situation: str, dice: Random, **values: str) -> str:
        """One phrasing of ``situation``, drawn by ``dice``, with ``values`` put in.

        Values are put in as they are: braces in a product's title mean nothing.
        """
        said = ""
        for literal, field, _, _ in Formatter().parse(dice.choice(self.phrasings[situation])):
            value = values[field] if field is not None else ""
            before = literal.removeprefix(" ") if said.endswith(" ") or not said else literal
            said += before + value
        return said.strip()


@cache
def bundled_templates() -> Templates:
    """The phrasings that come with the package."""
    text = files("shopsim.rlve.user").joinpath("templates.json").read_text("utf-8")
    return _checked(json.loads(text), "templates.json")


def load_templates(path: Path) -> Templates:
    """Phrasings of a file of one's own. Raises :class:`RlveError` naming the file and the situation."""
    return _checked(read_json(path), path.name)


def _checked(document: Any, name: str) -> Templates:
    if not isinstance(document, dict) or document.get("schema_version") != TEMPLATES_SCHEMA:
        raise RlveError(
            f"{name}: no templates of version {TEMPLATES_SCHEMA}", hint="Start from the bundled file."
        )
    if unknown := sorted(set(document) - set(_FIELDS) - {"schema_version"}):
        raise RlveError(f"{name}: unknown situation {unknown[0]}", hint=f"Known are {', '.join(_FIELDS)}.")
    phrasings: dict[str, tuple[str, ...]] = {}
    for situation, fields in _FIELDS.items():
        texts = document.get(situation)
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
            raise RlveError(f"{name}: {situation} must be a list of at least one text")
        for text in texts:
            _check_fields(text, fields, f"{name}: {situation}")
        phrasings[situation] = tuple(texts)
    return Templates(MappingProxyType(phrasings))


def _check_fields(text: str, fields: frozenset[str], place: str) -> None:
    try:
        found = {field for _, field, _, _ in Formatter().parse(text) if field is not None}
    except ValueError as error:
        raise RlveError(f"{place}: {text!r}: {error}") from None
    if found != fields:
        wanted = ", ".join(f"{{{field}}}" for field in sorted(fields)) or "no field"
        raise RlveError(f"{place}: {text!r} must hold {wanted}")
