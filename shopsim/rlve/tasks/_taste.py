"""The persona as far as the user has told it: what stays untold is neutral, for every product alike."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from shopsim.rlve.persona import Persona
from shopsim.rlve.problem import Fact

__all__ = ["FAVOURITE_BRAND", "PREFERENCE", "REFERENCE", "persona_as_told", "taste_facts"]

PREFERENCE: Final = "taste:preference"
FAVOURITE_BRAND: Final = "taste:brand"
REFERENCE: Final = "taste:reference"

_MEAN_WEIGHTS: Final = (2 / 7, 2 / 7, 1 / 7, 1 / 7, 1 / 7)
"""Mean of the Dirichlet(2, 2, 1, 1, 1) that weights are drawn from: what to expect of an unknown user."""
_POINTS: Final = 10
_POINT_WORDS: Final = (
    "a low price",
    "good ratings",
    "quick delivery",
    "the brand",
    "likeness to what I have in mind",
)


def taste_facts(persona: Persona, *, brand_is_wish: bool) -> tuple[Fact, ...]:
    """What the user can tell of its taste: ten points for five weights, a brand, a product it has in mind.

    With ``brand_is_wish`` a constraint tells the brand already.
    """
    facts = [
        Fact(
            PREFERENCE, _points_text(persona), ("priority", "priorities", "preference", "matter", "important")
        )
    ]
    if persona.brand is not None and not brand_is_wish:
        facts.append(
            Fact(FAVOURITE_BRAND, f'I have a liking for the brand "{persona.brand}".', ("brand", "favourite"))
        )
    if persona.reference is not None:
        text = f'I once had the "{persona.reference.title}" and liked it, so rather something like that.'
        facts.append(Fact(REFERENCE, text, ("similar", "example", "before", "comparable", "reference")))
    return tuple(facts)


def persona_as_told(persona: Persona, told: Collection[str], *, brand_told: bool) -> Persona:
    """``persona`` with everything that was not told made neutral: mean weights, no brand, no reference."""
    return replace(
        persona,
        weights=persona.weights if PREFERENCE in told else _MEAN_WEIGHTS,
        brand=persona.brand if brand_told or FAVOURITE_BRAND in told else None,
        reference=persona.reference if REFERENCE in told else None,
    )


def _points_text(persona: Persona) -> str:
    given = [
        f"{points} to {words}" for points, words in zip(_points(persona), _POINT_WORDS, strict=True) if points
    ]
    listed = " and ".join((", ".join(given[:-1]), given[-1])) if len(given) > 1 else given[0]
    return f"If I had {_POINTS} points to give for what counts, I would give {listed}."


def _points(persona: Persona) -> list[int]:
    """Whole points by the largest remainders, so that they add up."""
    exact = [weight * _POINTS for weight in persona.weights]
    points = [int(value) for value in exact]
    order = sorted(range(len(exact)), key=lambda place: (points[place] - exact[place], place))
    for place in order[: _POINTS - sum(points)]:
        points[place] += 1
    return points
