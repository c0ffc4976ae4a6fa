"""Words for what conversation episodes record: environments, endings, acts of the user (spec 06)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from shopsim.rlve.collections import ENVIRONMENTS

__all__ = ["ACTS", "ENDINGS", "ending_label", "ending_order", "env_label", "env_order", "env_places"]

_ENV_NAMES: Final[Mapping[str, str]] = {
    "PD": "product discovery",
    "SUB": "substitution",
    "CART": "filling a cart",
    "RETURN": "sending back",
    "STATUS": "order status",
    "POLICY": "policy question",
    "BUNDLE": "a project's list",
    "JOURNEY": "several requests",
}

ENDINGS: Final[Mapping[str, tuple[str, str]]] = {
    "answer": ("Answer", "the agent gave its final answer"),
    "turn_limit": ("Turn limit", "all turns were used without a final answer"),
    "user_quit": ("User quit", "the user lost patience"),
    "unparsable": ("Unparsable", "a reply was no valid action, which ends the episode at −1"),
    "invalid_call": ("Invalid call", "an unknown tool or wrong arguments, which makes the reward −1"),
    "denied_category": (
        "Denied category",
        "a product that must not be recommended, which makes the reward −1",
    ),
}
"""How an episode ended, in drawing order: label and meaning. An invalid call or a denied category counts
here however the episode went on (queries/conversation_table_episodes.sql)."""

ACTS: Final[Mapping[str, str]] = {
    "confirm": "confirms",
    "clarify": "answers a question",
    "correct": "corrects",
    "elaborate": "tells unasked",
    "continue": "lets the agent go on",
    "ragequit": "leaves",
    "done": "takes the answer",
    "dissatisfied": "is dissatisfied",
}


def env_order(names: Iterable[object]) -> list[str]:
    """The environments of spec 06 in its order, then others by name."""
    return _known_first(names, ENVIRONMENTS)


def env_places(names: Iterable[object]) -> dict[str, int]:
    """The place of each environment in :func:`env_order`, to sort rows by."""
    return {env: place for place, env in enumerate(env_order(names))}


def env_label(env: str) -> str:
    """``PD, product discovery``; an unknown one keeps its name."""
    return f"{env}, {_ENV_NAMES[env]}" if env in _ENV_NAMES else env


def ending_order(names: Iterable[object]) -> list[str]:
    """Known endings in their order, then others by name."""
    return _known_first(names, ENDINGS)


def ending_label(name: str) -> str:
    """The label of an ending; an unknown one keeps its name."""
    return ENDINGS[name][0] if name in ENDINGS else name


def _known_first(names: Iterable[object], known: Collection[str]) -> list[str]:
    present = {str(name) for name in names}
    return [name for name in known if name in present] + sorted(present.difference(known))
