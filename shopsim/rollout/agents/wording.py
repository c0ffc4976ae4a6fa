"""How the scripted shopper words its queries."""

from __future__ import annotations

from shopsim.rollout.agents.judgement import Attention
from shopsim.rollout.agents.needs import Needs
from shopsim.rollout.agents.skill import Skill

__all__ = ["queries"]

_MAX_PERSONA_WORD = 8


def queries(needs: Needs, mind: Attention, skill: Skill) -> list[str]:
    """The queries to try, in order, without repeats; never empty."""
    whole = needs.instruction.strip() or "商品"
    keywords = list(mind.keywords)
    if skill.query_wording == "verbatim" or not keywords:
        wordings = [whole, " ".join(keywords[: skill.query_terms])]
    else:
        words = keywords
        if skill.query_wording == "keywords+persona":
            words = keywords + [word for word in mind.persona_words() if len(word) <= _MAX_PERSONA_WORD]
        wordings = [
            " ".join(words[: skill.query_terms]),
            " ".join(keywords[: skill.query_terms]),
            keywords[0],
            whole,
        ]
    return [wording for wording in dict.fromkeys(wordings) if wording]
