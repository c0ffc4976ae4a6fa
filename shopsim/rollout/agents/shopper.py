"""The scripted shopper: a plain program whose skill is a set of parameters, not a trained model.

It sees what any agent sees (instruction, persona, public page state), never the goal. All chance comes from
the episode seed, so that an episode can be played again exactly.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shopsim.rollout.agents.base import EpisodeInfo, Turn
from shopsim.rollout.agents.judgement import Attention
from shopsim.rollout.agents.needs import read_needs
from shopsim.rollout.agents.skill import Skill
from shopsim.rollout.agents.slips import break_protocol, cut_off, invalid_action
from shopsim.rollout.agents.wording import queries
from shopsim.rollout.model import ModelResponse, ToolCall

__all__ = ["ScriptedShopper"]


@dataclass(frozen=True, slots=True)
class _Candidate:
    asin: str
    score: float
    rank: int
    page: int
    unmet: int
    named: bool


class ScriptedShopper:
    """Searches, reads result pages, opens what fits best, chooses options, perhaps checks the price, buys."""

    def __init__(self, skill: Skill) -> None:
        self.skill = skill

    def reset(self, info: EpisodeInfo) -> None:
        """Take the next task and draw what this episode's attention and habits will be."""
        self._rng = random.Random(info.seed)
        skill, rng = self.skill, self._rng
        needs = read_needs(info.instruction, info.persona)
        self._mind = Attention(needs, skill, rng)
        self._queries = queries(needs, self._mind, skill)
        self._compares = rng.random() < skill.comparing
        self._rewords = self._compares and rng.random() < skill.rewording
        self._checks_budget = rng.random() < skill.budget_check
        self._undecided = rng.random() < skill.indecision
        self._searches = 0
        self._seen: dict[str, _Candidate] = {}
        self._pages_read: set[int] = set()
        self._refused: set[str] = set()
        self._compared: dict[str, int] = {}
        self._settled = False
        self._opened: list[str] = []
        self._target: _Candidate | None = None
        self._choices: dict[str, str] = {}
        self._tried_values: set[tuple[str, str]] = set()
        self._last: ModelResponse | None = None

    def act(self, turn: Turn) -> ModelResponse:
        """Answer one turn; what is planned may go wrong on the way out."""
        skill, rng = self.skill, self._rng
        if rng.random() < skill.length_cutoff:
            return cut_off(rng)
        last_action = turn.state.get("last_action") or {}
        if self._last is not None and last_action.get("valid") is False and not turn.feedback:
            if rng.random() < skill.invalid_repeat:
                return self._last
        elif rng.random() < skill.invalid_action:
            self._last = invalid_action(rng, turn.state)
            return self._last
        self._last = None
        planned = self._plan(turn.state)
        chance = skill.slip_repeat if turn.feedback else skill.protocol_slip
        return break_protocol(rng, planned, turn.state) if rng.random() < chance else planned

    def _plan(self, state: Mapping[str, Any]) -> ModelResponse:
        """The sensible thing to do here. It may be asked twice on one page: a slip did not happen."""
        page = state.get("page_type")
        if page == "search_home":
            return self._search()
        if page == "search_results":
            return self._read_results(state)
        return self._inspect(state)

    def _search(self) -> ModelResponse:
        query = self._queries[min(self._searches, len(self._queries) - 1)]
        self._seen, self._pages_read, self._target = {}, set(), None
        self._compared, self._settled = {}, False
        reason = "先按需求搜索" if self._searches == 0 else "换一种说法再搜"
        return ModelResponse(
            reasoning=f"{reason}：{query}。", tool_calls=(ToolCall.of("search", query=query),)
        )

    def _read_results(self, state: Mapping[str, Any]) -> ModelResponse:
        page = int(state.get("page", 1))
        actions: Sequence[str] = state["actions"]
        self._note_products(state, page)
        if self._target is None:
            if page < self._last_page_to_read() and "next >" in actions:
                return _click("next >", f"第{page}页看完了，再看下一页有没有更合适的。")
            if self._would_reword():
                return self._search_again()
            self._target = self._choose()
        target = self._target
        if target is None:
            return self._search_again()
        if target.asin in actions:
            return _click(target.asin, f"第{target.rank}个商品与需求最接近，打开查看规格和价格。")
        direction = "next >" if target.page > page else "< prev"
        if direction in actions:
            return _click(direction, f"看中的商品在第{target.page}页，翻过去。")
        self._target = None
        return self._search_again()

    def _would_reword(self) -> bool:
        """Whether other words may find what none of the products listed is."""
        if not self._rewords or self._compared or self._searches >= self._most_searches():
            return False
        return not any(item.named for item in self._seen.values())

    def _most_searches(self) -> int:
        return min(self.skill.max_searches, len(self._queries))

    def _note_products(self, state: Mapping[str, Any], page: int) -> None:
        if page in self._pages_read:
            return
        if not self._pages_read:
            self._searches += 1
        self._pages_read.add(page)
        products: Sequence[Mapping[str, Any]] = state.get("products") or ()
        if self._compares:
            for product in products:
                self._mind.notice(product, {})
        for product in products:
            asin = str(product["asin"]).lower()
            score, unmet, named = 0.0, 1, False
            if self._compares:
                score, unmet = self._mind.product_score(product), self._mind.unmet(product, {})
                named = self._mind.is_named(product)
            self._seen.setdefault(asin, _Candidate(asin, score, int(product["rank"]), page, unmet, named))

    def _last_page_to_read(self) -> int:
        """No further than to a product that meets every need already, or than to where it has been."""
        if self._compared or any(item.unmet == 0 for item in self._seen.values()):
            return 0
        return self.skill.pages_read if len(self._pages_read) < self.skill.pages_read else 0

    def _choose(self) -> _Candidate | None:
        """The best product that is neither refused nor compared yet; when settling, the best compared."""
        if self._settled:
            options = [self._seen[asin] for asin in self._compared if asin not in self._refused]
            if options:
                return min(options, key=lambda item: (self._compared[item.asin], -item.score))
        looked_at = self._refused | set(self._compared)
        fresh = [item for item in self._seen.values() if item.asin not in looked_at]
        return max(fresh, key=lambda item: (item.score, -item.rank), default=None)

    def _search_again(self) -> ModelResponse:
        if self._searches >= self._most_searches():
            self._refused.clear()  # nothing better is to come: settle for what was seen
            self._checks_budget = False
        return _click("back to search", "这些结果都不合适，返回首页换个搜索词。")

    def _inspect(self, state: Mapping[str, Any]) -> ModelResponse:
        asin = str(state["product"]["asin"]).lower()
        if not self._opened or self._opened[-1] != asin:
            self._opened.append(asin)
            self._choices, self._tried_values = {}, set()
        if self._compares and not self._settled and (further := self._compare(state, asin)) is not None:
            return further
        selected: Mapping[str, str] = state.get("selected_options") or {}
        for axis, values in (state.get("available_options") or {}).items():
            if axis not in self._choices:
                self._choices[axis] = self._choose_value(axis, values, state["product"])
            if selected.get(axis) != self._choices[axis]:
                value = self._choices[axis]
                self._tried_values.add((axis, value))
                return _click(f"{axis}={value}", f"规格“{axis}”选择“{value}”。")
        return self._decide(state, asin)

    def _compare(self, state: Mapping[str, Any], asin: str) -> ModelResponse | None:
        """Look at one more product when this one lacks something; go back to the best in the end."""
        options = state.get("available_options") or {}
        self._mind.notice(state["product"], options)
        self._compared[asin] = self._mind.unmet(state["product"], options)
        tried = len(self._compared)
        unseen = len(self._seen) > tried
        if self._compared[asin] > 0 and tried < self.skill.products_tried and unseen:
            self._target = None
            return _click("< prev", f"还有{self._compared[asin]}项需求没有对上，再看看别的商品。")
        self._settled = True
        best = self._choose()
        if best is None or best.asin == asin:
            return None
        self._target = best
        return _click("< prev", "比较之后，前面看过的商品更合适，回去选它。")

    def _choose_value(self, axis: str, values: Sequence[str], product: Mapping[str, Any]) -> str:
        if self._rng.random() >= self.skill.option_care:
            return self._rng.choice(values)
        wanted, _ = self._mind.best_value(axis, values, product)
        return wanted or values[0]

    def _decide(self, state: Mapping[str, Any], asin: str) -> ModelResponse:
        """Everything is chosen: buy, try a cheaper choice, or go on looking."""
        if self._undecided:
            return self._leave(asin, "还是想再比较一下别的商品，先不买。")
        if self._checks_budget and self._over_budget(state):
            if (cheaper := self._another_value(state)) is not None:
                return cheaper
            if len(set(self._opened)) < self.skill.products_tried:
                return self._leave(asin, "价格超出预算，看看别的商品。")
        return _click("buy now", "商品和规格都已确认，购买。")

    def _leave(self, asin: str, reasoning: str) -> ModelResponse:
        self._refused.add(asin)
        self._target = None
        self._opened.append("")
        return _click("< prev", reasoning)

    def _over_budget(self, state: Mapping[str, Any]) -> bool:
        price, budget = state.get("selected_price"), self._mind.budget
        return budget is not None and (price is None or price > budget)

    def _another_value(self, state: Mapping[str, Any]) -> ModelResponse | None:
        """A choice that nobody asked for may be exchanged for one that could cost less."""
        for axis, values in (state.get("available_options") or {}).items():
            if self._mind.best_value(axis, values, state["product"])[1] >= 1:
                continue
            for value in values:
                if (axis, value) not in self._tried_values:
                    self._choices[axis] = value
                    self._tried_values.add((axis, value))
                    return _click(f"{axis}={value}", f"当前价格超出预算，把“{axis}”换成“{value}”看看。")
        return None


def _click(value: str, reasoning: str) -> ModelResponse:
    return ModelResponse(reasoning=reasoning, tool_calls=(ToolCall.of("click", value=value),))
