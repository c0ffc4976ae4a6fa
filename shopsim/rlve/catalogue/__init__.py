"""The products of the conversation environments: columns, search, constraints, variants (spec 06)."""

from shopsim.rlve.catalogue.catalogue import Catalogue
from shopsim.rlve.catalogue.constraints import Constraint, met_counts, share_met
from shopsim.rlve.catalogue.filters import Filters
from shopsim.rlve.catalogue.load import LoadReport, load_catalogue, read_catalogue
from shopsim.rlve.catalogue.product import AttributeValue, Product
from shopsim.rlve.catalogue.rows import ColumnMapping
from shopsim.rlve.catalogue.sample import bundled_catalogue
from shopsim.rlve.catalogue.search import CatalogueSearch, Hit
from shopsim.rlve.catalogue.similarity import similarity
from shopsim.rlve.catalogue.stored import open_stored, store_catalogue
from shopsim.rlve.catalogue.variants import Variant, variants_of

__all__ = [
    "AttributeValue",
    "Catalogue",
    "CatalogueSearch",
    "ColumnMapping",
    "Constraint",
    "Filters",
    "Hit",
    "LoadReport",
    "Product",
    "Variant",
    "bundled_catalogue",
    "load_catalogue",
    "met_counts",
    "open_stored",
    "read_catalogue",
    "share_met",
    "similarity",
    "store_catalogue",
    "variants_of",
]
