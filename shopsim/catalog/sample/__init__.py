"""A seeded generator of a Chinese catalogue with tasks and personas, as awkward as a real crawl."""

from shopsim.catalog.sample.archive import annotation_bytes, archive_bytes, product_bytes, write_sample
from shopsim.catalog.sample.generate import (
    DEFAULT_PRODUCTS,
    DEFAULT_SEED,
    DroppedTask,
    SampleCorpus,
    UnsatisfiableTask,
    generate,
)

__all__ = [
    "DEFAULT_PRODUCTS",
    "DEFAULT_SEED",
    "DroppedTask",
    "SampleCorpus",
    "UnsatisfiableTask",
    "annotation_bytes",
    "archive_bytes",
    "generate",
    "product_bytes",
    "write_sample",
]
