"""What a person types in ``shopsim rlve play``, and the action that it stands for."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from typing import Any, Final

from shopsim.errors import UsageError

__all__ = ["HELP", "action_of"]

HELP: Final = """One action a line: a JSON object, or a short form.
  say TEXT                      speak to the customer
  search TEXT                   catalog.search
  get ID / variants ID          catalog.get_product / catalog.get_variants
  add ID [VARIANT] [QUANTITY]   cart.add; a number is the quantity
  cart / remove LINE / set LINE QUANTITY
  orders / status ORDER         order.list / order.get_status
  checkout ADDRESS PAYMENT      order.checkout
  eligible ORDER LINE           return.check_eligibility
  return ORDER LINE REASON METHOD
  exchange ORDER LINE PRODUCT [VARIANT]
  policy TEXT                   policy.search
  call NAME {JSON}              any tool; several calls: a JSON action
  recommend ID ID ...           answer with products, and be done
  answer {JSON}                 answer with these fields, and be done
  done                          be done
  help, quit"""

Call = tuple[str, dict[str, Any]]


def action_of(line: str) -> str:
    """The JSON text of the action that ``line`` stands for.

    Raises :class:`UsageError` for an unknown word or missing arguments. JSON goes through as it is: whether
    it is an action is for the environment to say.
    """
    line = line.strip()
    if line.startswith("{"):
        return line
    word, _, rest = line.partition(" ")
    rest = rest.strip()
    if word == "say" and rest:
        return json.dumps({"assistant_message": rest}, ensure_ascii=False)
    if word == "done" and not rest:
        return json.dumps({"answer": {"done": True}})
    if word == "answer":
        return json.dumps({"answer": {"done": True, **_object(rest)}}, ensure_ascii=False)
    if word == "recommend" and rest:
        return json.dumps({"answer": {"recommended_product_ids": rest.split(), "done": True}})
    name, args = _call(word, rest)
    return json.dumps({"tool_calls": [{"name": name, "args": args}]}, ensure_ascii=False)


def _call(word: str, rest: str) -> Call:
    if word == "call":
        name, _, arguments = rest.partition(" ")
        return name, _object(arguments or "{}")
    if word in ("search", "policy") and rest:
        return ("catalog.search" if word == "search" else "policy.search"), {"query": rest}
    if word not in _FORMS:
        raise UsageError(f"{word or 'an empty line'!r}: unknown", hint="Type help.")
    name, fewest, most, arguments_of = _FORMS[word]
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise UsageError(f"{word}: {error}") from None
    if not fewest <= len(words) <= most:
        wanted = str(fewest) if fewest == most else f"{fewest} to {most}"
        raise UsageError(f"{word}: takes {wanted} arguments, not {len(words)}", hint="Type help.")
    return name, arguments_of(words)


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise UsageError(f"{text!r}: no JSON ({error})") from None
    if not isinstance(value, dict):
        raise UsageError(f"{text!r}: must be a JSON object")
    return value


def _named(*names: str) -> Callable[[list[str]], dict[str, Any]]:
    return lambda words: dict(zip(names, words, strict=False))


def _add(words: list[str]) -> dict[str, Any]:
    args: dict[str, Any] = {"product_id": words[0]}
    for word in words[1:]:
        args |= {"quantity": int(word)} if word.isdecimal() else {"variant_id": word}
    return {"quantity": 1, **args}


def _quantity(words: list[str]) -> dict[str, Any]:
    if not words[1].isdecimal():
        raise UsageError(f"set: {words[1]!r} is no quantity")
    return {"line_id": words[0], "quantity": int(words[1])}


_LINE: Final = ("order_id", "line_id")
_FORMS: Final[Mapping[str, tuple[str, int, int, Callable[[list[str]], dict[str, Any]]]]] = {
    "get": ("catalog.get_product", 1, 1, _named("product_id")),
    "variants": ("catalog.get_variants", 1, 1, _named("product_id")),
    "add": ("cart.add", 1, 3, _add),
    "cart": ("cart.view", 0, 0, _named()),
    "remove": ("cart.remove", 1, 1, _named("line_id")),
    "set": ("cart.set_quantity", 2, 2, _quantity),
    "orders": ("order.list", 0, 0, _named()),
    "status": ("order.get_status", 1, 1, _named("order_id")),
    "checkout": ("order.checkout", 2, 2, _named("shipping_address_id", "payment_method_id")),
    "eligible": ("return.check_eligibility", 2, 2, _named(*_LINE)),
    "return": ("return.initiate", 4, 4, _named(*_LINE, "reason_code", "method")),
    "exchange": ("return.exchange", 3, 4, _named(*_LINE, "new_product_id", "new_variant_id")),
}
