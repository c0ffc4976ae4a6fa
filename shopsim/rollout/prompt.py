"""The conversation as an agent reads it: system prompt, task, observations (Chinese)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from shopsim.jsonio import sha256_text
from shopsim.rollout.skill_bank import NO_SKILLS, SkillBank

__all__ = ["PROMPT_VERSION", "SYSTEM_PROMPT", "prompt_identity", "system_message", "task_message"]

PROMPT_VERSION = "shopsim-review-zh-tools-v1"
SKILL_RENDERER_VERSION = "shopsim-review-skill-list-v1"

SYSTEM_PROMPT = """\
你是一名网购助手，要替用户在模拟商店里买到一件符合需求的商品。
规则：
1. 每一轮只调用一个工具，不要在调用工具的同时输出正文。
2. 首页可以用 search 搜索；其余页面用 click 点击页面列出的元素，取值必须与列表完全一致。
3. 结果页每页最多二十件商品，可以翻页；点击商品编号进入详情页。
4. 选齐商品的全部规格后才能点击 buy now，购买后任务立即结束，无法更改。
5. 商品类型、属性、规格和预算都要满足；用户没有明说的偏好可以从用户画像中推断。
6. 可用的操作次数有限，无效操作同样计数。"""


def prompt_identity(bank: SkillBank = NO_SKILLS) -> dict[str, str]:
    """The ``prompt`` object of plans and provenance; the prompt's hash does not count the skills."""
    return {
        "prompt_version": PROMPT_VERSION,
        "system_prompt_sha256": sha256_text(SYSTEM_PROMPT),
        "skill_renderer_version": SKILL_RENDERER_VERSION if bank.skills else "none",
    }


def system_message(bank: SkillBank = NO_SKILLS) -> str:
    """The system message: the rules, then the skills of ``bank``, each under its id."""
    if not bank.skills:
        return SYSTEM_PROMPT
    skills = (f"### {skill.skill_id}\n{skill.content}" for skill in bank.skills)
    return "\n\n".join((SYSTEM_PROMPT, "以下是以往购物总结的经验，供参考：", *skills))


def task_message(reset: Mapping[str, Any]) -> str:
    """The first user message: the need, the persona when there is one, and the first page."""
    parts = [f"购物需求：\n{reset.get('task_instruction') or ''}"]
    if persona := reset.get("user_persona"):
        parts.append(f"用户画像：\n{json.dumps(persona, ensure_ascii=False)}")
    parts.append(f"当前页面：\n{reset.get('observation') or ''}")
    return "\n\n".join(parts)
