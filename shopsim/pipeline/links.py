"""Step 5, part 1: what ties two persona tasks together, so that no split may separate them (spec 05)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, Final

from shopsim.jsonio import canonical_json, sha256_text
from shopsim.pipeline.identity import RawTask

__all__ = ["LINK_KINDS", "persona_fingerprint", "task_links", "text_key", "user_id_key"]

LINK_KINDS: Final = ("asin", "instruction_simple", "instruction", "persona", "user_id")

_PRIVATE_KEY: Final = "__reasoning__"
_USER_ID_NAMES: Final = frozenset({"用户id", "user_id", "userid"})
_WHITE_SPACE = re.compile(r"\s+")


def text_key(text: str) -> str:
    """The form in which texts compare: NFKC, casefold, runs of white space as one blank, trimmed."""
    return _WHITE_SPACE.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def user_id_key(persona: Mapping[str, Any]) -> str | None:
    """The user of a persona as a :func:`text_key` without trailing commas, None when it names none.

    Nearly all real ids end in a stray comma (spec 03), a trace of how they were exported: ``u1,`` and ``u1``
    are taken for one user. The other reading could only separate what belongs together. The id is looked for
    in nested objects too, since real personas nest their parts differently.
    """
    for name, value in persona.items():
        if text_key(name) in _USER_ID_NAMES and isinstance(value, str | int) and not isinstance(value, bool):
            key = text_key(str(value)).rstrip(", ")
            if key:
                return key
    nested = (user_id_key(value) for value in persona.values() if isinstance(value, Mapping))
    return next((key for key in nested if key is not None), None)


def persona_fingerprint(persona: Mapping[str, Any]) -> str:
    """The hex SHA-256 of the persona as canonical JSON, without its private reasoning."""
    return sha256_text(canonical_json({key: value for key, value in persona.items() if key != _PRIVATE_KEY}))


def task_links(task: RawTask) -> Iterator[tuple[str, str]]:
    """Yield ``(kind, key)`` for everything that ``task`` may share with others; blank texts tie nothing."""
    keys = {
        "asin": task.asin,
        "instruction_simple": text_key(task.instruction_simple or ""),
        "instruction": text_key(task.instruction),
        "persona": persona_fingerprint(task.user_persona) if task.user_persona is not None else "",
        "user_id": (user_id_key(task.user_persona) or "") if task.user_persona is not None else "",
    }
    for kind in LINK_KINDS:
        if keys[kind]:
            yield kind, keys[kind]
