"""An agent that knows the goal and every purchase that meets it: the upper bound, and a test of the engine.

It gets no short cut to a product page: it has to find one of those purchases through search and paging.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from shopsim.catalog import Corpus, Product
from shopsim.rollout.agents.base import EpisodeInfo, Turn
from shopsim.rollout.model import ModelResponse, ToolCall
from shopsim.tasks import Goal, GoalSet

__all__ = ["OracleAgent", "Purchase"]

_PAGES_PER_QUERY = 8
_MAX_QUERIES = 6


class Purchase(Protocol):
    """One purchase that meets the goal (:class:`shopsim.tasks.solutions.Solution`)."""

    @property
    def asin(self) -> str:
        """The product to buy."""

    @property
    def selected(self) -> Mapping[str, str]:
        """Axis name -> shown value, for every axis."""


class OracleAgent:
    """Searches by what it knows of the wanted products, opens the first that it meets, selects, buys.

    ``solve`` gives every purchase that meets a goal. When there is none, the oracle buys the goal's own
    product as near as it can be had: the task is not satisfiable and that is what its reward shows.
    """

    def __init__(self, corpus: Corpus, goals: GoalSet, solve: Callable[[Goal], Sequence[Purchase]]) -> None:
        self._corpus = corpus
        self._goals = goals
        self._solve = solve
        self._purchases: dict[str, Mapping[str, str]] = {}
        self._queries: Iterator[str] = iter(())

    def reset(self, info: EpisodeInfo) -> None:
        """Take the next task and work out what would satisfy it."""
        goal = self._goals.get(info.task_id)
        solutions = self._solve(goal)
        self._purchases = {}
        for solution in solutions:
            self._purchases.setdefault(solution.asin.lower(), solution.selected)
        if not solutions:
            self._purchases[goal.asin.lower()] = {}
        self._queries = iter(list(self._wordings(goal))[:_MAX_QUERIES])

    def act(self, turn: Turn) -> ModelResponse:
        """Answer one turn from the page's public state."""
        state = turn.state
        page = state.get("page_type")
        if page == "search_home":
            return self._search()
        if page == "search_results":
            return self._choose_product(state)
        return self._buy(state)

    def _search(self) -> ModelResponse:
        query = next(self._queries, None)
        if query is None:
            return ModelResponse(content="所有搜索词都已用完，找不到目标商品。", finish_reason="stop")
        reasoning = f"已知目标商品，用它的信息搜索：{query}。"
        return ModelResponse(reasoning=reasoning, tool_calls=(ToolCall.of("search", query=query),))

    def _choose_product(self, state: Mapping[str, Any]) -> ModelResponse:
        actions: Sequence[str] = state["actions"]
        wanted = next((value for value in actions if value in self._purchases), None)
        if wanted is not None:
            return _click(wanted, "结果中出现了满足目标的商品，打开它。")
        if "next >" in actions and int(state.get("page", 1)) < _PAGES_PER_QUERY:
            return _click("next >", "本页没有目标商品，继续翻页。")
        return _click("back to search", "翻完仍未找到，换一个搜索词。")

    def _buy(self, state: Mapping[str, Any]) -> ModelResponse:
        product: Mapping[str, Any] = state["product"]
        wanted = self._purchases.get(str(product["asin"]).lower(), {})
        chosen: Mapping[str, str] = state.get("selected_options") or {}
        for axis, values in (state.get("available_options") or {}).items():
            value = wanted.get(axis) or chosen.get(axis) or values[0]
            if chosen.get(axis) != value:
                return _click(f"{axis}={value}", f"选择规格“{axis}”：{value}。")
        return _click("buy now", "规格均已按目标选齐，购买。")

    def _wordings(self, goal: Goal) -> Iterator[str]:
        """Queries from sharp to broad: the goal's title, titles of other solutions, then the words."""
        products = [self._corpus.get(goal.asin)]
        products += [product for product in self._corpus.products if product.asin.lower() in self._purchases]
        known = [product for product in products if product is not None]
        yield from dict.fromkeys(_title_query(product) for product in known[:3])
        yield goal.instruction_text
        yield f"{goal.category.rsplit('›', 1)[-1]} {' '.join(goal.attributes)}"
        if goal.instruction_simple:
            yield goal.instruction_simple


def _title_query(product: Product) -> str:
    return f"{product.title} {product.shop_name}".strip()


def _click(value: str, reasoning: str) -> ModelResponse:
    return ModelResponse(reasoning=reasoning, tool_calls=(ToolCall.of("click", value=value),))
