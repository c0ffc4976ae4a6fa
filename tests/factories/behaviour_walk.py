"""Behaviour of one episode (spec 04 E) walked in plain Python: what the lake must agree with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

__all__ = ["action_type", "walk"]

PHASES = ("search_home", "search_results", "product_detail", "other", "protocol_repair")


def action_type(step: Mapping[str, Any], before: str | None, after: str | None) -> str:
    """The kind of one step, told from the pages before and after it."""
    if step.get("protocol_error"):
        return "repair"
    action = step["action"]
    if action is None:
        return "no_action"
    answer = step["environment"] or {}
    if (answer.get("action_feedback") or {}).get("valid") is not True:
        return "invalid_action"
    verb, argument = action[: action.index("[")], action[action.index("[") + 1 : -1]
    if verb == "search":
        return "search"
    fixed = {"back to search": "backtrack", "next >": "paginate", "buy now": "purchase"}
    if argument in fixed:
        return fixed[argument]
    if argument == "< prev":
        return "paginate" if before == "search_results" else "backtrack"
    if before == "search_results":
        return "open_product" if after == "product_detail" else "other"
    return "select_option" if before == "product_detail" and "=" in argument else "other"


def walk(record: Mapping[str, Any]) -> dict[str, Any]:
    """Every measure of an episode, None where it is not recorded."""
    page = record["reset"]["observation_state"]["page_type"]
    results: dict[str, int] = {}
    exposed: set[str] = set()
    opened: list[tuple[str, int]] = []
    queries: list[str] = []
    chosen: dict[str, str] = {}
    path: list[str] = []
    changes = 0
    turns: Counter[str] = Counter()
    spent: Counter[str] = Counter()
    tokens: list[int] = []
    first: int | None = None
    written: list[int] = []
    reasoning: list[int] = []
    for number, step in enumerate(record["steps"]):
        state = (step["environment"] or {}).get("observation_state") or {}
        after = state.get("page_type", page)
        kind = action_type(step, page, after)
        argument = step["action"].partition("[")[2][:-1] if step["action"] else ""
        if kind == "search":
            queries.append(argument)
        elif kind == "open_product":
            opened.append((argument.lower(), results[argument.lower()]))
            chosen = {}
        elif kind == "select_option":
            axis, _, value = argument.partition("=")
            changes += axis in chosen and chosen[axis] != value
            chosen[axis] = value
        path.append(kind)
        phase = "protocol_repair" if kind == "repair" else (page if page in PHASES[:3] else "other")
        turns[phase] += 1
        usage = step["model"]["usage"]
        if usage is not None:
            total = usage["prompt_tokens"] + usage["completion_tokens"]
            tokens.append(total)
            written.append(usage["completion_tokens"])
            spent[phase] += total
            first = total if number == 0 else first
        if step["model"]["reasoning"] is not None:
            reasoning.append(len(step["model"]["reasoning"]))
        if state.get("page_type") == "search_results":
            shown = {product["asin"]: product["rank"] for product in state["products"]}
            results = dict(shown)
            exposed |= set(shown)
        page = after
    size = len(record["steps"])
    kinds = Counter(path)
    total = sum(tokens) if tokens else None
    return {
        "turns": size,
        "searches": kinds["search"],
        "unique_queries": len({" ".join(query.split()).casefold() for query in queries}),
        "query_characters": sum(map(len, queries)),
        "exposed_products": len(exposed),
        "first_opened_rank": opened[0][1] if opened else None,
        "product_opens": kinds["open_product"],
        "unique_products": len({asin for asin, _ in opened}),
        "revisits": len(opened) - len({asin for asin, _ in opened}),
        "option_selections": kinds["select_option"],
        "option_changes": changes,
        "backtracks": kinds["backtrack"],
        "paginations": kinds["paginate"],
        "invalid_actions": kinds["invalid_action"],
        "repairs": kinds["repair"],
        "tokens": total,
        "tokens_per_turn": None if total is None else total / size,
        "first_turn_tokens": first,
        "completion_tokens": sum(written) if written else None,
        "reasoning_characters": sum(reasoning) if reasoning else None,
        **{f"turns_{phase}": turns[phase] for phase in PHASES},
        **{f"tokens_{phase}": spent[phase] if tokens else None for phase in PHASES},
        "path": path,
    }
