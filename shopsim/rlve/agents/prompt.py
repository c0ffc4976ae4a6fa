"""What a language model reads: the rules of a turn, the tools, and the conversation so far."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from shopsim.jsonio import canonical_json, sha256_text
from shopsim.rlve.action import ACTION_SCHEMA

__all__ = ["PROMPT_VERSION", "messages_of", "prompt_sha256", "system_message"]

PROMPT_VERSION: Final = "ecomrlve-agent-prompt-v1"

_RULES: Final = """You are the assistant of an online shop. A customer talks to you; help them with the \
tools of the shop.

Each turn, answer with exactly one JSON object and nothing else: no other text, no comments.
- "assistant_message": what you say to the customer. Ask when something that you need to know was not said.
- "tool_calls": a list of {"name": ..., "args": {...}}. Only the first TOOL_CALLS calls of a turn are \
carried out.
- "answer": null until you can answer; then an object with the fields that the request needs and \
"done": true, which ends the conversation. Before that, do in the shop what was asked for (cart, returns): \
only what was done counts.

Fields of the answer:
- "env": the kind of request, when you were told it.
- "recommended_product_ids": products found for the customer, best first. Recommend only ids that a tool \
showed you.
- "selected_order_id", "selected_line_id": the order, and the line of it, that the request is about.
- "order_status": the status of that order, as the tool spells it.
- "policy_answer": the answer to a question about the shop's rules: a number, or the words of the rule.
- "subgoal_answers": when the customer has several requests, one object for each, with "env" (PD: find \
products, SUB: replace a product, CART: fill the cart, RETURN: return an item, STATUS: status of an order, \
POLICY: question about rules, BUNDLE: products for a project) and the fields above that it needs. The \
customer brings up the next request when the current one is in this list, be it with \
"env" alone and without "done".

You have MAX_TURNS turns; finish in as few as you can. An answer that is not such an object ends the \
conversation, and a call of an unknown tool or with wrong arguments spoils it."""

_DENIED: Final = "Never recommend products of these categories: "


def system_message(observation: Mapping[str, Any]) -> str:
    """The rules and tools for the episode whose first ``observation`` is given."""
    rules = _RULES.replace("TOOL_CALLS", str(observation["tool_calls_per_turn"]))
    parts = [rules.replace("MAX_TURNS", str(observation["max_turns"]))]
    if observation["denied_categories"]:
        parts.append(_DENIED + ", ".join(observation["denied_categories"]) + ".")
    if "env" in observation:
        parts.append(f"The kind of request is {observation['env']}.")
    tools = [json.dumps(tool["function"], ensure_ascii=False) for tool in observation["tools"]]
    parts += ["Tools:\n" + "\n".join(tools), "JSON Schema of your answer:\n" + json.dumps(ACTION_SCHEMA)]
    return "\n\n".join(parts)


def messages_of(system: str, observation: Mapping[str, Any]) -> list[dict[str, str]]:
    """The conversation as chat messages: the model's own are its actions, all others are joined by turn."""
    messages = [{"role": "system", "content": system}]
    for entry in observation["conversation"]:
        if entry["role"] == "assistant":
            action = {
                "assistant_message": entry["content"],
                "tool_calls": entry["tool_calls"],
                "answer": entry["answer"],
            }
            messages.append({"role": "assistant", "content": json.dumps(action, ensure_ascii=False)})
            continue
        text = f"Customer: {entry['content']}" if entry["role"] == "user" else _result(entry)
        if messages[-1]["role"] == "user":
            messages[-1]["content"] += f"\n{text}"
        else:
            messages.append({"role": "user", "content": text})
    note = f"(turn {observation['turn'] + 1} of {observation['max_turns']})"
    if messages[-1]["role"] != "user":
        messages.append({"role": "user", "content": "(the customer waits)"})
    messages[-1]["content"] += f"\n{note}"
    return messages


def prompt_sha256() -> str:
    """Identity of everything fixed in the prompt."""
    return sha256_text(canonical_json([_RULES, _DENIED, ACTION_SCHEMA]))


def _result(entry: Mapping[str, Any]) -> str:
    if entry["ok"]:
        return f"Result of {entry['name']}: {json.dumps(entry['content'], ensure_ascii=False)}"
    return f"Result of {entry['name']}: error: {entry['error']}"
