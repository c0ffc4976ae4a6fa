"""Reading an agent's response: one canonical action, or the reason why it is none (spec 01 §2).

Canonical strings are ``search[keywords]`` and ``click[value]``; the argument is everything between the
first ``[`` and the last ``]``. A response may also be free text with exactly one line ``Action: ...``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

__all__ = ["Action", "Reason", "Verb", "click", "click_key", "parse_response", "search"]

Verb = Literal["search", "click"]

_CANONICAL = re.compile(r"(search|click)\[(.*)\]", re.DOTALL)
_VERB_OPENS = re.compile(r"(?<![a-z])(?:search|click)\s*\[", re.IGNORECASE)
_ACTION_LINE = re.compile(r"^[ \t]*action[ \t]*:(.*)$", re.IGNORECASE | re.MULTILINE)


class Reason(StrEnum):
    """Why a step did what it did, in the order in which the reasons are tested."""

    MULTIPLE_ACTIONS = "multiple_actions_not_allowed"
    INVALID_FORMAT = "invalid_format"
    EMPTY_ARGUMENT = "empty_argument"
    SEARCH_UNAVAILABLE = "search_unavailable"
    ALREADY_SELECTED = "already_selected"
    INCOMPLETE_OPTIONS = "incomplete_options"
    UNAVAILABLE_ACTION = "unavailable_action"
    EXECUTED = "executed"


@dataclass(frozen=True, slots=True)
class Action:
    """One well-formed action; ``argument`` is kept as typed."""

    verb: Verb
    argument: str

    @property
    def canonical(self) -> str:
        """The action as one string, such as ``click[buy now]``."""
        return f"{self.verb}[{self.argument}]"


def search(keywords: str) -> str:
    """The canonical search for ``keywords``."""
    return f"search[{keywords}]"


def click(value: str) -> str:
    """The canonical click on ``value``."""
    return f"click[{value}]"


def click_key(value: str) -> str:
    """The form in which click values compare: casefolded, white space stripped and collapsed."""
    return " ".join(value.casefold().split())


def parse_response(response: object) -> Action | Reason:
    """Read one response; refusals are ``MULTIPLE_ACTIONS``, ``INVALID_FORMAT`` or ``EMPTY_ARGUMENT``.

    A text that is one canonical action as a whole is taken as that, even when its argument spans lines.
    Otherwise the one ``Action:`` line counts, and without such a line the whole text.
    """
    if not isinstance(response, str):
        return Reason.INVALID_FORMAT
    text = response.strip()
    action = _single_action(text)
    if action is None:
        lines: list[str] = _ACTION_LINE.findall(text)
        if len(lines) > 1:
            return Reason.MULTIPLE_ACTIONS
        candidate = lines[0].strip() if lines else text
        if _is_chain(candidate):
            return Reason.MULTIPLE_ACTIONS
        action = _single_action(candidate)
    if action is None:
        return Reason.INVALID_FORMAT
    return action if action.argument.strip() else Reason.EMPTY_ARGUMENT


def _single_action(text: str) -> Action | None:
    match = _CANONICAL.fullmatch(text)
    if match is None or _is_chain(text):
        return None
    return Action("search" if match[1] == "search" else "click", match[2])


def _is_chain(text: str) -> bool:
    """Whether a second verb opens after the first action was closed, as in ``click[a], click[b]``."""
    first = _VERB_OPENS.search(text)
    if first is None:
        return False
    closed = text.find("]", first.end())
    return closed >= 0 and _VERB_OPENS.search(text, closed + 1) is not None
