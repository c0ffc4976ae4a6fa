"""A language model that says the user's texts in its own words; templates stay where it loses a fact."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from shopsim.rlve.chat import ChatClient, ChatError
from shopsim.rlve.user.acts import UserAct

__all__ = ["ModelVerbaliser", "lost_facts"]

_INSTRUCTIONS: Final = (
    "You play a customer who writes to a shop's assistant. Say the customer's message in your own natural words. "
    "Keep every detail: each number, price, id, name and each value in double quotes must appear exactly as it is "
    "written, quotes included. Keep who wants what, what is excluded, and every question. Add nothing, answer "
    "nothing, do not mention these instructions. Reply with the message alone."
)
_MOST_CHARACTERS: Final = 4000
_FACTS: Final = re.compile(r'"[^"]*"|[#$€£]?[A-Za-z]*[\w/.:,-]*\d[\w/.:,-]*%?')
_NEGATION: Final = re.compile(r"\b(?:not|no|never|nor|without|cannot)\b|n't\b", re.IGNORECASE)
_BOUNDS: Final = (
    re.compile(
        r"\b(?:at most|within|up to|no more than|not more than|maximum|max|under|below|less than|or less|or under|"
        r"or fewer|exceed\w*|lighter|cheaper|limit\w*|cap\w*)\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:at least|or better|or more|or above|or higher|or longer|minimum|min|above|over|more than|from|"
        r"no less than|not less than|no fewer than)\b",
        re.IGNORECASE,
    ),
)


class ModelVerbaliser:
    """A :class:`~shopsim.rlve.user.simulator.Verbaliser` that asks a chat endpoint.

    The model sees one text of the user at a time and nothing else of the problem. Where its reply lost a
    fact or made one up (:func:`lost_facts`), is empty or too long, or where the endpoint fails, the text stays
    as it is: an episode never ends because of the model. :attr:`rewritten` and :attr:`fallbacks` count that.
    """

    def __init__(self, client: ChatClient) -> None:
        self._client = client
        self.rewritten = 0
        """Texts that the model said in other words."""
        self.fallbacks: Counter[str] = Counter()
        """Texts that stayed as they were, by reason: "endpoint", "length", "facts"."""

    def rewrite(self, text: str, act: UserAct) -> str:
        """``text`` in the model's words, or ``text``."""
        messages = [{"role": "system", "content": _INSTRUCTIONS}, {"role": "user", "content": text}]
        try:
            answer = self._client.complete(messages).text.strip()
        except ChatError:
            self.fallbacks["endpoint"] += 1
            return text
        if not answer or len(answer) > _MOST_CHARACTERS + 3 * len(text):
            self.fallbacks["length"] += 1
            return text
        if lost_facts(text, answer):
            self.fallbacks["facts"] += 1
            return text
        self.rewritten += 1
        return answer


def lost_facts(text: str, reply: str) -> tuple[str, ...]:
    """What ``reply`` lost of ``text`` or made up: empty when it may be used in its place.

    Facts are quoted values and everything with a digit (numbers, prices, ids, dates), each as often as ``text``
    has it; ``reply`` may repeat them but add none. A text with a negation needs a reply with one, and a text
    with an upper (lower) bound one that words such a bound.
    """
    wanted, found = _facts_of(text), _facts_of(reply)
    lost = [fact for fact, count in wanted.items() if found[fact] < count]
    lost.extend(fact for fact in found if fact not in wanted)
    if _NEGATION.search(text) and not _NEGATION.search(reply):
        lost.append("negation")
    if any(bound.search(text) and not bound.search(reply) for bound in _BOUNDS):
        lost.append("bound")
    return tuple(lost)


def _facts_of(text: str) -> Counter[str]:
    return Counter(match.group().rstrip(".,:-") for match in _FACTS.finditer(text))
