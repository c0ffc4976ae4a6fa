"""Constraints in the user's words: ``battery_hours >= 9`` is "The battery should be at least 9 hours."."""

from __future__ import annotations

from typing import Final

from shopsim.rlve.catalogue.product import AttributeValue

__all__ = [
    "LONGEST_TITLE",
    "can_be_quoted",
    "constraint_sentence",
    "shown_attribute",
    "shown_value",
    "spoken_name",
]

LONGEST_TITLE: Final = 500
"""Characters of a title that a user may say: half of what a search takes."""
_LONGEST_VALUE: Final = 200  # a filter of the search takes no more

_UNITS: Final = {
    "celsius": "°C",
    "cm": "cm",
    "gb": "GB",
    "hours": "hours",
    "inches": "inches",
    "kg": "kg",
    "liters": "liters",
    "lumens": "lumens",
    "mah": "mAh",
    "mb": "MB",
    "meters": "meters",
    "minutes": "minutes",
    "ml": "ml",
    "mm": "mm",
    "oz": "oz",
    "watts": "watts",
    "years": "years",
    "grams": "grams",
}
_BOUND_WORDS: Final = {"le": "at most", "ge": "at least"}
_FIELDS: Final = {
    ("price", "le"): "It should cost at most {value}.",
    ("price", "ge"): "It should cost at least {value}.",
    ("price", "eq"): "It should cost exactly {value}.",
    ("rating", "le"): "It should be rated {value} stars at most.",
    ("rating", "ge"): "It should be rated {value} stars or better.",
    ("rating", "eq"): "It should be rated exactly {value} stars.",
    ("rating_count", "le"): "It should have at most {value} ratings.",
    ("rating_count", "ge"): "It should have at least {value} ratings.",
    ("rating_count", "eq"): "It should have exactly {value} ratings.",
    ("shipping_days", "le"): "It should arrive within {value} days.",
    ("shipping_days", "ge"): "It should not arrive before {value} days from now.",
    ("shipping_days", "eq"): "It should arrive in exactly {value} days.",
    ("stock", "le"): "There should be at most {value} in stock.",
    ("stock", "ge"): "There should be at least {value} in stock.",
    ("stock", "eq"): "There should be exactly {value} in stock.",
    ("brand", "eq"): 'The brand should be "{value}".',
    ("category", "eq"): 'It should be in the category "{value}".',
}


def can_be_quoted(text: str, longest: int = _LONGEST_VALUE) -> bool:
    """Whether a user may say ``text`` in quotation marks: it is there, not too long, and has no such mark."""
    return 0 < len(text) <= longest and '"' not in text


def spoken_name(name: str) -> tuple[str, str]:
    """An attribute's name in words and its unit: ``("battery", "hours")``; the unit may be empty."""
    words = name.split("_")
    unit = _UNITS.get(words[-1].casefold(), "") if len(words) > 1 else ""
    return " ".join(words[:-1] if unit else words), unit


def shown_value(field: str, value: AttributeValue) -> str:
    """A value as text: prices in dollars, whole numbers without a point, yes and no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if field == "price":
        return f"${value:,.0f}" if value == int(value) else f"${value:,.2f}"
    return str(int(value)) if value == int(value) else str(value)


def constraint_sentence(field: str, op: str, value: AttributeValue) -> str:
    """One whole sentence that states the wish; the value always stands in it as :func:`shown_value` has it,
    but for yes and no."""
    shown = shown_value(field, value)
    pattern = _FIELDS.get((field, op))
    if pattern is not None:
        text = pattern.format(value=shown)
        return text.replace("1 days", "1 day") if shown == "1" else text
    name, unit = spoken_name(field)
    if isinstance(value, bool):
        return f"It should {'' if value else 'not '}be {name}."
    amount = f"{shown} {unit}".rstrip()
    if isinstance(value, str):
        return f'The {name} should be "{shown}".'
    bound = _BOUND_WORDS.get(op, "exactly")
    if unit:
        return f"The {name} should be {bound} {amount}."
    return f"It should have {bound} {shown} {_one(name) if shown == '1' else name}."


def shown_attribute(name: str, value: AttributeValue) -> str:
    """An attribute as it stands in a title: "65 watts", "4 ports", "Oak", "waterproof"."""
    spoken, unit = spoken_name(name)
    if isinstance(value, bool):
        return spoken if value else f"not {spoken}"
    shown = shown_value(name, value)
    if isinstance(value, str):
        return shown
    word = unit or spoken
    return f"{shown} {_one(word) if shown == '1' else word}"


def _one(words: str) -> str:
    return words[:-1] if words.endswith("s") and len(words) > 3 else words
