"""What a message of the agent asks for: plain word rules, the same for every task."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from shopsim.rlve.problem import Fact

__all__ = ["asks_for", "asks_openly", "asks_to_confirm", "questions_in"]

_SENTENCE: Final = re.compile(r"[^.!?\n]*(?:[.!](?=\S)[^.!?\n]*)*[.!?\n]?")
_POLITELY: Final = re.compile(r"\b(please|kindly)\b", re.I)
_REQUEST: Final = re.compile(r"\b(tell|share|give|provide|specify|describe|let me know)\b", re.I)
_OPENLY: Final = re.compile(
    r"\b(any(thing|thing else|one|more)?|other|else|more|details?|requirements?|preferences?|specific\w*|"
    r"looking for|needs?|wants?|wish(es)?|important|tell me|know|what kind|which kind|what sort|describe)\b"
)
_CONFIRM: Final = re.compile(
    r"\b(confirm\w*|correct|right|go ahead|proceed|look(s)? (good|right|fine|ok|okay)|"
    r"sound(s)? (good|right|fine)|shall i|should i|may i|can i|ok(ay)?|"
    r"is (this|that|it) (fine|good|what)|would you like me to|"
    r"do you want me to|happy with|does (this|that|it) (work|fit|suit|match))\b"
)


def questions_in(message: str) -> str:
    """The sentences of ``message`` that ask, in lower case, joined; empty when none does.

    A sentence asks when it ends in a question mark, or says please and tell, share, give, ... .
    """
    sentences = (match.group().strip() for match in _SENTENCE.finditer(message))
    asking = (sentence for sentence in sentences if sentence.endswith("?") or _requests(sentence))
    return " ".join(asking).lower()


def asks_for(question: str, facts: Iterable[Fact]) -> list[Fact]:
    """The facts that a lower-case ``question`` names by a keyword (whole words, plural allowed)."""
    return [fact for fact in facts if any(_names(question, keyword) for keyword in fact.keywords)]


def asks_to_confirm(question: str) -> bool:
    """True when a lower-case ``question`` asks for consent rather than for a detail."""
    return bool(_CONFIRM.search(question))


def asks_openly(question: str) -> bool:
    """True when a lower-case ``question`` asks for whatever else there is to know."""
    return bool(_OPENLY.search(question))


def _requests(sentence: str) -> bool:
    """Whether a request follows a polite word. Two searches: one pattern for both takes minutes for a message
    that says please and nothing else."""
    polite = _POLITELY.search(sentence)
    return polite is not None and _REQUEST.search(sentence, polite.end()) is not None


def _names(question: str, keyword: str) -> bool:
    plain = keyword.lower().replace("_", " ")
    return re.search(rf"\b{re.escape(plain)}(e?s)?\b", question.replace("_", " ")) is not None
