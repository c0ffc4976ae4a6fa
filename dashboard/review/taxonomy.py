"""The labels that reviewers choose from: a file that a team may have (``configs/review_taxonomy.toml``)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from dashboard.review.errors import TaxonomyError
from shopsim.settings import ReviewSettings, Settings

__all__ = ["SHIPPED", "Label", "Taxonomy", "load_taxonomy", "workspace_taxonomy"]

Kind = Literal["episode", "task"]
SHIPPED: Final = Path(__file__).with_name("taxonomy.toml")
"""The package's own file, for workspaces without one."""

_KEY: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
_COLOUR: Final = re.compile(r"#[0-9a-fA-F]{6}")
_UNKNOWN_COLOUR: Final = "#7f8c99"
_LONGEST_NAME: Final = 40


class Label(BaseModel):
    """One label. ``key`` is what verdicts hold, ``name`` what people read (plain text)."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    key: str
    name: str
    description: str = ""
    colour: str = _UNKNOWN_COLOUR
    on: list[Kind] = ["episode", "task"]

    @field_validator("key")
    @classmethod
    def _checked_key(cls, value: str) -> str:
        if not _KEY.fullmatch(value):
            raise ValueError("must be lower-case letters, digits and underscores, at most 40")
        return value

    @field_validator("name")
    @classmethod
    def _checked_name(cls, value: str) -> str:
        text = " ".join(value.split())
        if not text or len(text) > _LONGEST_NAME:
            raise ValueError(f"must be 1 to {_LONGEST_NAME} characters")
        return text

    @field_validator("colour")
    @classmethod
    def _checked_colour(cls, value: str) -> str:
        if not _COLOUR.fullmatch(value):
            raise ValueError("must be a colour such as #3182ce")
        return value

    @field_validator("on")
    @classmethod
    def _checked_on(cls, value: list[Kind]) -> list[Kind]:
        if not value:
            raise ValueError('must name "episode", "task" or both')
        return value


class Taxonomy:
    """The labels in the order of the file."""

    def __init__(self, labels: Iterable[Label]) -> None:
        self.labels = tuple(labels)
        self._by_key = {label.key: label for label in self.labels}

    def keys(self, kind: str) -> list[str]:
        """Keys of the labels that can be given to an ``episode`` or a ``task``."""
        return [label.key for label in self.labels if kind in label.on]

    def get(self, key: str) -> Label:
        """The label of ``key``; one that left the file is shown by its key."""
        return self._by_key.get(key) or Label.model_construct(
            key=key, name=key, description="No longer in the taxonomy.", colour=_UNKNOWN_COLOUR, on=[]
        )

    def name(self, key: str) -> str:
        """What people read (plain text: escape it for Markdown)."""
        return self.get(key).name

    def order(self, keys: Iterable[str]) -> list[str]:
        """Keys in the order of the file, those that left it last."""
        places = {label.key: place for place, label in enumerate(self.labels)}
        return sorted(set(keys), key=lambda key: (places.get(key, len(places)), key))

    def __contains__(self, key: object) -> bool:
        return key in self._by_key


def load_taxonomy(path: Path) -> Taxonomy:
    """Read and check a taxonomy file.

    Raises :class:`TaxonomyError` with one line that names the file, the label and the field.
    """
    try:
        value: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise TaxonomyError(f"{path}: no such file", hint="It holds one [[label]] table a label.") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise TaxonomyError(f"{path}: cannot be read ({reason})") from None
    except tomllib.TOMLDecodeError as error:
        raise TaxonomyError(f"{path}: not valid TOML ({error})") from None
    if set(value) - {"label"}:
        unknown = sorted(set(value) - {"label"})[0]
        raise TaxonomyError(f"{path}: {unknown}: unknown key; the file holds [[label]] tables")
    entries = value.get("label")
    if not isinstance(entries, list) or not entries:
        raise TaxonomyError(f"{path}: label: at least one [[label]] table is needed")
    labels = [_label(path, number, entry) for number, entry in enumerate(entries, 1)]
    for field in ("key", "name"):
        seen: set[str] = set()
        for number, label in enumerate(labels, 1):
            text = str(getattr(label, field))
            if text.casefold() in seen:
                raise TaxonomyError(f"{path}: label {number}: {field}: {text!r} is given twice")
            seen.add(text.casefold())
    return Taxonomy(labels)


def workspace_taxonomy(settings: Settings) -> Taxonomy:
    """The labels of a workspace; one without a file of its own gets those shipped with the project.

    Read again when the file changes. Raises :class:`TaxonomyError`.
    """
    path = settings.review_taxonomy
    if settings.review.taxonomy == ReviewSettings().taxonomy and not path.exists() and SHIPPED.exists():
        path = SHIPPED
    modified = path.stat().st_mtime_ns if path.exists() else 0
    return _cached(path, modified)


@lru_cache(maxsize=8)
def _cached(path: Path, modified: int) -> Taxonomy:
    return load_taxonomy(path)


def _label(path: Path, number: int, entry: object) -> Label:
    try:
        return Label.model_validate(entry)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "table"
        reason = str(first["msg"]).removeprefix("Value error, ")
        raise TaxonomyError(f"{path}: label {number}: {field}: {reason}") from None
