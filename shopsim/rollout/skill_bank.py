"""Skills that a model is given: advice in words, added to its system prompt (spec 04 A)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from shopsim.errors import UsageError
from shopsim.jsonio import canonical_json, read_json, require_portable, sha256_text

__all__ = ["NO_SKILLS", "Skill", "SkillBank", "load_skill_bank"]

_TEXT_SUFFIXES: Final = frozenset({".md", ".txt"})
_SHAPE: Final = (
    'A bank is {"skills": [{"skill_id": "...", "content": "..."}]}, a list of such skills, or a .md file.'
)
_KNOWN: Final = frozenset({"skill_id", "version", "content", "metadata"})


@dataclass(frozen=True, slots=True)
class Skill:
    """One piece of advice, as records keep it."""

    skill_id: str
    content: str
    version: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def to_wire(self) -> dict[str, Any]:
        """The object of ``selected_skills``."""
        return {
            "skill_id": self.skill_id,
            "version": self.version,
            "content": self.content,
            "metadata": dict(self.metadata),
            "content_sha256": sha256_text(self.content),
        }


@dataclass(frozen=True, slots=True)
class SkillBank:
    """The skills of a run, in the order in which the prompt holds them; :data:`NO_SKILLS` has none."""

    name: str
    skills: tuple[Skill, ...]

    def identity(self) -> dict[str, Any]:
        """``plan.skills``: what the bank is, told by its content and not by where it lay."""
        if not self.skills:
            return {"provider": "none"}
        selected = self.selected()
        return {
            "provider": "bank",
            "bank": self.name,
            "bank_sha256": sha256_text(canonical_json(selected)),
            "skill_ids": [skill.skill_id for skill in self.skills],
        }

    def selected(self) -> list[dict[str, Any]]:
        """``selected_skills`` of every record: all of them, for no task is given a choice of its own."""
        return [skill.to_wire() for skill in self.skills]


NO_SKILLS: Final = SkillBank("none", ())


def load_skill_bank(path: Path) -> SkillBank:
    """Read a bank: JSON, or one skill as plain text (``.md``, ``.txt``) named after its file.

    Raises :class:`UsageError`, one line that names file and field, for a file that is none or holds no skill.
    """
    if not path.is_file():
        raise UsageError(f"{path}: no such file", hint=_SHAPE)
    require_portable(path.name, f"name of the skill bank {path.name!r}")
    if path.suffix.lower() in _TEXT_SUFFIXES:
        skills = [_text_skill(path)]
    else:
        value = read_json(path)
        entries = value.get("skills") if isinstance(value, Mapping) else value
        if not isinstance(entries, list) or not entries:
            raise UsageError(f"{path}: holds no list of skills", hint=_SHAPE)
        skills = [_skill(path, place, entry) for place, entry in enumerate(entries, 1)]
    _check_ids(path, skills)
    return SkillBank(path.stem, tuple(skills))


def _text_skill(path: Path) -> Skill:
    try:
        content = path.read_text(encoding="utf-8-sig").strip()
    except UnicodeDecodeError:
        raise UsageError(f"{path}: is no UTF-8 text", hint="Save it as UTF-8.") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from None
    if not content:
        raise UsageError(f"{path}: is empty", hint=_SHAPE)
    return Skill(path.stem, content)


def _skill(path: Path, place: int, entry: object) -> Skill:
    where = f"{path}: skill {place}"
    if not isinstance(entry, Mapping):
        raise UsageError(f"{where}: is no JSON object", hint=_SHAPE)
    skill_id, content, version = entry.get("skill_id"), entry.get("content"), entry.get("version")
    if not isinstance(skill_id, str) or not skill_id.strip():
        raise UsageError(f"{where}: skill_id: must be a text", hint=_SHAPE)
    if not isinstance(content, str) or not content.strip():
        raise UsageError(f"{where}: content: must be a text", hint=_SHAPE)
    metadata = entry.get("metadata")
    if metadata is not None and not isinstance(metadata, Mapping):
        raise UsageError(f"{where}: metadata: must be an object")
    require_portable(dict(entry), where)
    others = {name: value for name, value in entry.items() if name not in _KNOWN}
    return Skill(
        skill_id.strip(),
        content.strip(),
        None if version is None else str(version),
        {**others, **(metadata or {})},
    )


def _check_ids(path: Path, skills: Sequence[Skill]) -> None:
    seen: set[str] = set()
    for skill in skills:
        if skill.skill_id in seen:
            raise UsageError(f"{path}: skill_id {skill.skill_id!r}: occurs twice", hint="Keep one of them.")
        seen.add(skill.skill_id)
