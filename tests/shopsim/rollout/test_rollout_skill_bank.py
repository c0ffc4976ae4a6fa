"""Skill banks: files that are read, refused with the field that is wrong, told apart by their content."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shopsim.errors import ShopSimError
from shopsim.jsonio import sha256_text
from shopsim.rollout.prompt import SYSTEM_PROMPT, prompt_identity, system_message
from shopsim.rollout.skill_bank import NO_SKILLS, load_skill_bank

SKILLS = [
    {"skill_id": "s-1", "content": "先看预算。\n", "version": 3, "source": "round 1"},
    {"skill_id": "s-2", "content": "再选规格。", "metadata": {"uses": 4}},
]


def written(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


@pytest.mark.parametrize("value", [SKILLS, {"skills": SKILLS, "other": 1}])
def test_a_bank_is_read_and_rendered_in_its_order(tmp_path: Path, value: Any) -> None:
    bank = load_skill_bank(written(tmp_path / "bank.json", value))
    assert bank.selected() == [
        {
            "skill_id": "s-1",
            "version": "3",
            "content": "先看预算。",
            "metadata": {"source": "round 1"},
            "content_sha256": sha256_text("先看预算。"),
        },
        {
            "skill_id": "s-2",
            "version": None,
            "content": "再选规格。",
            "metadata": {"uses": 4},
            "content_sha256": sha256_text("再选规格。"),
        },
    ]
    text = system_message(bank)
    assert text.startswith(SYSTEM_PROMPT)
    assert text.endswith("### s-1\n先看预算。\n\n### s-2\n再选规格。")
    identity = bank.identity()
    assert (identity["provider"], identity["bank"], identity["skill_ids"]) == ("bank", "bank", ["s-1", "s-2"])
    assert prompt_identity(bank)["skill_renderer_version"] != "none"
    assert prompt_identity(bank)["system_prompt_sha256"] == prompt_identity()["system_prompt_sha256"]


def test_a_text_file_is_one_skill_named_after_it(tmp_path: Path) -> None:
    bank = load_skill_bank(written(tmp_path / "budget.md", "\ufeff# 预算\n先看。\n"))
    assert [(skill.skill_id, skill.content) for skill in bank.skills] == [("budget", "# 预算\n先看。")]


def test_the_content_decides_what_a_bank_is(tmp_path: Path) -> None:
    first = load_skill_bank(written(tmp_path / "bank.json", SKILLS)).identity()
    (tmp_path / "elsewhere").mkdir()
    again = load_skill_bank(written(tmp_path / "elsewhere" / "bank.json", {"skills": SKILLS})).identity()
    other = load_skill_bank(written(tmp_path / "elsewhere" / "bank.json", SKILLS[::-1])).identity()
    assert first == again
    assert first["bank_sha256"] != other["bank_sha256"]


def test_no_skills_change_nothing() -> None:
    assert system_message() == SYSTEM_PROMPT
    assert (NO_SKILLS.identity(), NO_SKILLS.selected()) == ({"provider": "none"}, [])
    assert prompt_identity()["skill_renderer_version"] == "none"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("bank.json", {"skills": []}, "holds no list of skills"),
        ("bank.json", {"other": 1}, "holds no list of skills"),
        ("bank.json", "{", "bank.json"),
        ("bank.json", ["advice"], "skill 1: is no JSON object"),
        ("bank.json", [{"content": "x"}], "skill 1: skill_id"),
        ("bank.json", [{"skill_id": " ", "content": "x"}], "skill 1: skill_id"),
        ("bank.json", [SKILLS[0], {"skill_id": "s-3"}], "skill 2: content"),
        ("bank.json", [{"skill_id": "a", "content": "x", "metadata": []}], "skill 1: metadata"),
        ("bank.json", [SKILLS[0], SKILLS[0]], "'s-1': occurs twice"),
        ("bank.json", '[{"skill_id": "a", "content": "\\ud83d"}]', "skill 1: holds half a character"),
        ("bank.json", '[{"skill_id": "a", "content": "x", "uses": NaN}]', "skill 1: holds NaN"),
        ("bank.json", "[" * 9000, "nested too deeply"),
        ("bank.md", "  \n", "is empty"),
        ("bank.txt", b"\xff\xfe", "no UTF-8"),
        ("absent.json", None, "no such file"),
    ],
)
def test_what_is_no_bank_is_refused_in_one_line(tmp_path: Path, name: str, value: Any, message: str) -> None:
    path = tmp_path / name
    if isinstance(value, bytes):
        path.write_bytes(value)
    elif value is not None:
        written(path, value)
    with pytest.raises(ShopSimError, match=message) as refused:
        load_skill_bank(path)
    assert name in str(refused.value) and "\n" not in str(refused.value)
