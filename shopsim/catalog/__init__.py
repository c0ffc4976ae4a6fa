"""Products, option axes, SKU prices, and loading a corpus."""

from shopsim.catalog.axes import OptionAxis, OptionValue, option_key, shown_value
from shopsim.catalog.corpus import (
    Corpus,
    CorpusError,
    TaskSource,
    load_corpus,
    parse_corpus,
    read_records,
)
from shopsim.catalog.pricing import PriceResolution, price_axes, resolve_price
from shopsim.catalog.product import Product, category_nodes, flatten_text, parse_product

__all__ = [
    "Corpus",
    "CorpusError",
    "OptionAxis",
    "OptionValue",
    "PriceResolution",
    "Product",
    "TaskSource",
    "category_nodes",
    "flatten_text",
    "load_corpus",
    "option_key",
    "parse_corpus",
    "parse_product",
    "price_axes",
    "read_records",
    "resolve_price",
    "shown_value",
]
