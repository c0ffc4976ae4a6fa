"""The vocabularies, one module a domain."""

from typing import Final

from shopsim.catalog.sample.model import Domain
from shopsim.catalog.sample.vocab import (
    appliances,
    beauty,
    clothing,
    food,
    home,
    kids,
    leisure,
    sports,
    supplies,
)

__all__ = ["DOMAINS"]

DOMAINS: Final[tuple[Domain, ...]] = (
    appliances.DOMAIN,
    beauty.DOMAIN,
    clothing.DOMAIN,
    food.DOMAIN,
    home.DOMAIN,
    kids.DOMAIN,
    leisure.DOMAIN,
    sports.DOMAIN,
    supplies.DOMAIN,
)
