"""The products of the conversation environments: columns, search, constraints, variants (spec 06)."""

from shopsim.rlve.catalogue.catalogue import Catalogue
from shopsim.rlve.catalogue.constraints import Constraint, evaluation_pool, met_counts, share_met
from shopsim.rlve.catalogue.filters import Filters
from shopsim.rlve.catalogue.product import AttributeValue, Product
from shopsim.rlve.catalogue.search import CatalogueSearch, Hit
from shopsim.rlve.catalogue.similarity import similarity
from shopsim.rlve.catalogue.variants import Variant, variants_of

__all__ = [
    "AttributeValue",
    "Catalogue",
    "CatalogueSearch",
    "Constraint",
    "Filters",
    "Hit",
    "Product",
    "Variant",
    "evaluation_pool",
    "met_counts",
    "share_met",
    "similarity",
    "variants_of",
]
