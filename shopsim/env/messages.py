"""The short Chinese sentences that agents read. They never repeat what was typed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from shopsim.env.actions import Reason

__all__ = ["EPISODE_STARTED", "REFUSALS", "TERMINATIONS"]

REFUSALS: Final[Mapping[Reason, str]] = {
    Reason.MULTIPLE_ACTIONS: "每次只能执行一个操作，本次未执行任何操作。",
    Reason.INVALID_FORMAT: "无法识别该操作，请只给出一个完整的操作。",
    Reason.EMPTY_ARGUMENT: "操作缺少内容，请填写搜索词或要点击的元素。",
    Reason.SEARCH_UNAVAILABLE: "当前页面不支持搜索，请先返回搜索首页。",
    Reason.ALREADY_SELECTED: "该规格已经选中，无需重复选择。",
    Reason.INCOMPLETE_OPTIONS: "还有规格没有选择，暂时不能购买。",
    Reason.UNAVAILABLE_ACTION: "当前页面没有这个可点击元素。",
}
"""One sentence for every reason but ``executed``, whose message belongs to the transition."""

EPISODE_STARTED: Final = "任务开始，当前位于搜索首页。"

TERMINATIONS: Final[Mapping[str, str]] = {
    "purchase": "购买完成，任务结束。",
    "action_limit": "操作次数已用完，任务结束。",
    "generation_length": "模型输出达到长度上限，任务结束。",
}
"""The sentence of an ending, by termination reason."""
