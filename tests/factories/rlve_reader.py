"""An agent that reads: it knows what the user and the tools say, and nothing else.

It stands for any honest agent: where it is right, the task can be solved from the conversation alone. Of
language it understands only quoted names, numbers and a few words, which typing errors leave alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from difflib import get_close_matches
from itertools import islice
from typing import Any

from shopsim.rlve.env import RlveEnv, StepResult

__all__ = ["read_and_solve"]

ASK = "What quantity, variant, size, reason, replacement, price, rating, method, budget and list do you have?"
Found = Mapping[str, Any]


class Talk:
    """One conversation: what was said, and calls within the budget of a turn."""

    def __init__(self, env: RlveEnv, first: Mapping[str, Any]) -> None:
        self.env = env
        self.budget = first["tool_calls_per_turn"]
        self.observation = first
        self.asked = False

    @property
    def text(self) -> str:
        said = (entry["content"] for entry in self.observation["conversation"] if entry["role"] == "user")
        return " ".join(said)

    def call(self, *calls: tuple[str, Mapping[str, Any]]) -> list[Found]:
        """Call tools in as many turns as it takes; everything is asked with the first of them."""
        found: list[Found] = []
        rest = iter(calls)
        while part := list(islice(rest, self.budget)):
            wire = {
                "assistant_message": "" if self.asked else ASK,
                "tool_calls": [{"name": name, "args": dict(args)} for name, args in part],
            }
            self.asked = True
            result = self.env.step(json.dumps(wire))
            assert not result.done, result.info
            self.observation = result.observation
            found += [tool["content"] for tool in result.observation["tool_results"]]
        return found

    def answer(self, *calls: tuple[str, Mapping[str, Any]], **fields: Any) -> StepResult:
        """The last calls and the answer."""
        first = max(0, len(calls) - self.budget)
        self.call(*calls[:first])
        wire = {
            "tool_calls": [{"name": name, "args": dict(args)} for name, args in calls[first:]],
            "answer": {**fields, "done": True},
        }
        return self.env.step(json.dumps(wire))

    def products(self, wanted: Mapping[str, Mapping[str, Any]], fits: Any) -> dict[str, Found]:
        """For each name in ``wanted`` (its search arguments) the first result that ``fits`` it."""
        found: dict[str, Found] = {}
        for extra in (
            "",
            " please",
            " new",
            " good",
            " shop",
            " item",
        ):  # a result may have been replaced: ask otherwise
            missing = [name for name in wanted if name not in found]
            calls = [
                ("catalog.search", {**wanted[name], "query": wanted[name]["query"] + extra})
                for name in missing
            ]
            for name, content in zip(missing, self.call(*calls), strict=True):
                for product in content["results"]:
                    if name not in found and fits(name, product):
                        found[name] = product
        return found


def read_and_solve(env: RlveEnv, name: str, difficulty: int, seed: int) -> StepResult:
    """Play the episode to its end."""
    talk = Talk(env, env.reset(seed, name, difficulty))
    return _WAYS[name](talk)


def _status(talk: Talk) -> StepResult:
    if named := re.search(r"ORD-\d+", talk.text):
        order_id = named.group()
    else:
        (listed,) = talk.call(("order.list", {}))
        order_id = _order_meant(talk, listed["orders"])
    (status,) = talk.call(("order.get_status", {"order_id": order_id}))
    return talk.answer(env="STATUS", selected_order_id=order_id, order_status=status["status"])


def _order_meant(talk: Talk, orders: list[Found]) -> str:
    if day := re.search(r"\d{4}-\d\d-\d\d", talk.text):
        return next(order["order_id"] for order in orders if order["placed_on"] == day.group())
    if quoted := re.search(r'"([^"]+)"', talk.text):
        lines = [(order, line) for order in orders for line in order["lines"]]
        for order, line in lines:
            if line["title"] == quoted.group(1):
                return str(order["order_id"])
        for order, line in lines:
            if line["category"][-1] == quoted.group(1):
                return str(order["order_id"])
    latest = bool(get_close_matches("latest", re.findall(r"\w+", talk.text.lower()), cutoff=0.8))
    return str(orders[0 if latest else -1]["order_id"])


def _cart(talk: Talk) -> StepResult:
    titles = list(dict.fromkeys(re.findall(r'the "([^"]+)"', talk.text)))
    wanted = {title: {"query": title, "top_k": 5} for title in titles}
    products = talk.products(wanted, lambda title, product: product["title"] == title)
    pairs = re.findall(r'the "([^"]+)" w\w+ [^"]*"([^"]+)"', talk.text)
    values = {title: value for title, value in pairs if title in titles}
    looks = [("catalog.get_variants", {"product_id": products[title]["product_id"]}) for title in values]
    adds = {title: {"product_id": products[title]["product_id"], "quantity": 1} for title in titles}
    for title, content in zip(values, talk.call(*looks), strict=True):
        for variant in content["variants"]:
            if variant["value"] == values[title]:
                adds[title]["variant_id"] = variant["variant_id"]
    for number, title in re.findall(r'(\d+) of the "([^"]+)"', talk.text):
        adds[title]["quantity"] = int(number)
    return talk.answer(*(("cart.add", args) for args in adds.values()), env="CART")


def _return(talk: Talk) -> StepResult:
    title = re.findall(r'"([^"]+)"', talk.text)[0]
    (listed,) = talk.call(("order.list", {}))
    line = next(
        {"order_id": order["order_id"], "line_id": line["line_id"]}
        for order in listed["orders"]
        for line in order["lines"]
        if line["title"] == title
    )
    (state,) = talk.call(("return.check_eligibility", line))
    fields = {"selected_order_id": line["order_id"], "selected_line_id": line["line_id"], "env": "RETURN"}
    if not state["eligible"]:
        return talk.answer(**fields)
    others = [quoted for quoted in re.findall(r'"([^"]+)"', talk.text) if quoted != title]
    plain = re.sub(r'"[^"]*"', "", talk.text)
    if not others:
        return talk.answer(("return.initiate", {**line, **_reason_and_method(plain)}), **fields)
    leaf = others[0]
    filters: dict[str, Any] = {"category": leaf, "in_stock": True}
    if price := re.search(r"\$([\d,]+(?:\.\d+)?)", talk.text):
        filters["price_max"] = float(price.group(1).replace(",", ""))
    if rating := re.search(r"(\d(?:\.\d)?) s\w+", plain):
        filters["rating_min"] = float(rating.group(1))
    fits = lambda _, product: _suits(product, leaf, filters) and product["title"] != title  # noqa: E731
    found = talk.products({leaf: {"query": leaf, "filters": filters, "top_k": 20}}, fits)
    return talk.answer(("return.exchange", {**line, "new_product_id": found[leaf]["product_id"]}), **fields)


def _reason_and_method(text: str) -> dict[str, str]:
    """Codes by the words that give them away, typing errors allowed."""
    said = re.findall(r"\w+", text.lower())
    chosen = {"reason_code": "changed_mind", "method": "mail"}
    for field, words in _CODE_WORDS.items():
        for word, code in words.items():
            if get_close_matches(word, said, cutoff=0.75):
                chosen[field] = code
    return chosen


def _suits(product: Found, leaf: str, filters: Mapping[str, Any]) -> bool:
    return bool(
        product["category"][-1] == leaf
        and product["in_stock"]
        and product["price"] <= filters.get("price_max", product["price"])
        and product["rating"] >= filters.get("rating_min", 0)
    )


def _bundle(talk: Talk) -> StepResult:
    cheapest: dict[str, Found] = {}
    while True:
        leaves = list(dict.fromkeys(re.findall(r'"([^"]+)"', talk.text)))
        missing = [leaf for leaf in leaves if leaf not in cheapest]
        turns_left = talk.observation["max_turns"] - talk.observation["turn"]
        if turns_left <= 1 or (talk.asked and not missing):
            break
        for content in talk.call(*_searches(missing, talk.budget)):
            for product in content["results"]:
                leaf = product["category"][-1]
                if product["in_stock"]:
                    known = cheapest.get(leaf, product)
                    cheapest[leaf] = min(known, product, key=lambda one: float(one["price"]))
    ids = [cheapest[leaf]["product_id"] for leaf in leaves if leaf in cheapest]
    return talk.answer(env="BUNDLE", recommended_product_ids=ids)


def _searches(leaves: list[str], budget: int) -> list[tuple[str, Mapping[str, Any]]]:
    """At most ``budget`` searches that go through all ``leaves``; one category each where that is enough."""
    if len(leaves) <= budget:
        return [
            ("catalog.search", {"query": leaf, "filters": {"category": leaf, "in_stock": True}, "top_k": 200})
            for leaf in leaves
        ]
    query = {"query": " ".join(leaves), "filters": {"in_stock": True}, "top_k": 200}
    return [("catalog.search", query)]


_CODE_WORDS: Mapping[str, Mapping[str, str]] = {
    "reason_code": {
        "defective": "defective",
        "wrong": "wrong_item",
        "described": "not_as_described",
        "changed": "changed_mind",
        "large": "too_large",
        "small": "too_small",
        "arrived": "arrived_late",
        "elsewhere": "better_price_found",
    },
    "method": {"mail": "mail", "store": "in_store", "pick": "pickup"},
}
_WAYS = {"STATUS": _status, "CART": _cart, "RETURN": _return, "BUNDLE": _bundle}
