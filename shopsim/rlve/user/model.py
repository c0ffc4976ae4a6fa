"""A language model that says the user's texts in its own words; templates stay where it loses a fact."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from shopsim.chat import ChatClient, ChatError
from shopsim.rlve.user.acts import UserAct

__all__ = ["ModelVerbaliser", "lost_facts"]

_INSTRUCTIONS: Final = (
    "You play a customer who writes to a shop's assistant. Say the customer's message in your own natural "
    "words. Keep every detail: each number, price, id, name and each value in double quotes must appear "
    "exactly as it is written, quotes included. Keep who wants what, what is excluded, and every question. "
    "Add nothing, answer nothing, do not mention these instructions. Reply with the message alone."
)
_MOST_CHARACTERS: Final = 4000
_TOKENS: Final = re.compile(r'"[^"]*"|[^\s"]+')
_EDGES: Final = ".,;:!?()[]'-*"
_YES_NO: Final = re.compile(r"\bshould (?:not )?be ([a-z][a-z ]*)\.")
_SAID_AND_KEPT: Final = (
    (
        "negation",
        re.compile(r"\b(?:not|no|never)\b"),
        re.compile(r"\b(?:not|no|never|without|cannot)\b|n['’]t\b"),
    ),
    (
        "upper bound",
        re.compile(r"\b(?:at most|within)\b"),
        re.compile(
            r"\b(?:at most|within|up to|(?:no|not) (?:more|longer|later|over)|max(?:imum)?|under|below|"
            r"less|fewer|exceed\w*|limit\w*|cap(?:ped)?|lighter|cheaper)\b"
        ),
    ),
    (
        "lower bound",
        re.compile(r"\b(?:at least|or better)\b"),
        re.compile(
            r"\b(?:at least|or (?:better|more|above|higher|longer|up)|min(?:imum)?|above|over|"
            r"more than|no less)\b"
        ),
    ),
)


class ModelVerbaliser:
    """A :class:`~shopsim.rlve.user.simulator.Verbaliser` that asks a chat endpoint.

    The model sees one text of the user at a time and nothing else of the problem. The text stays as it is
    where the reply lost a fact or made one up (:func:`lost_facts`), where it is empty or too long, and where
    the endpoint fails: no episode ends because of the model. :attr:`rewritten`, :attr:`fallbacks` count that.
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

    Facts are quoted values and everything with a digit (numbers, prices, ids, dates), each at least as often
    as ``text`` has it, and no others. Yes/no wishes must be named, negations and bounds be worded somehow;
    that each stands with its own fact is not checked.
    """
    wanted, found = _facts_of(text), _facts_of(reply)
    lost = [fact for fact, count in wanted.items() if found[fact] < count]
    lost.extend(fact for fact in found if fact not in wanted)
    plain, said = text.lower(), reply.lower()
    lost.extend(wish for wish in _YES_NO.findall(plain) if wish not in said)
    lost.extend(
        name for name, before, after in _SAID_AND_KEPT if before.search(plain) and not after.search(said)
    )
    return tuple(lost)


def _facts_of(text: str) -> Counter[str]:
    tokens = (token.strip(_EDGES) for token in _TOKENS.findall(text))
    return Counter(
        token for token in tokens if token.startswith('"') or any(letter.isdigit() for letter in token)
    )
