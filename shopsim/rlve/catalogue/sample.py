"""The bundled catalogue: generated from word lists, the same bytes for the same number and seed."""

from __future__ import annotations

import gzip
import json
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from shopsim.catalog.sample.dice import Dice
from shopsim.jsonio import atomic_path
from shopsim.rlve.catalogue.catalogue import Catalogue
from shopsim.rlve.catalogue.load import load_catalogue
from shopsim.rlve.catalogue.product import AttributeValue, Product
from shopsim.rlve.catalogue.sentences import shown_attribute
from shopsim.rlve.catalogue.vocabulary import AttributeRule, Choices, Leaf, Share, Vocabulary, load_vocabulary

__all__ = [
    "BUNDLED_FILE",
    "SAMPLE_PRODUCTS",
    "SAMPLE_SEED",
    "bundled_catalogue",
    "generate_products",
    "sample_lines",
    "write_sample",
]

SAMPLE_PRODUCTS: Final = 3_000
SAMPLE_SEED: Final = 20_260_115
BUNDLED_FILE: Final = Path(__file__).parents[3] / "data" / "rlve" / "catalogue.jsonl.gz"
_NEAR_DUPLICATES: Final = 0.3
_REMEMBERED: Final = 8
_SOLD_OUT: Final = 0.02
_ENDINGS: Final = ((0.99, 5), (0.49, 2), (0.95, 2), (0.0, 1))


def generate_products(products: int = SAMPLE_PRODUCTS, seed: int = SAMPLE_SEED) -> Iterator[Product]:
    """``products`` products by ascending id. About a third differ from an earlier one of their leaf in little
    more than one attribute and the price: what a verifier must tell apart."""
    vocabulary = load_vocabulary()
    dice = Dice(seed, "rlve catalogue")
    recent: dict[tuple[str, str], deque[Product]] = {}
    for number in range(1, products + 1):
        leaf = dice.pick(vocabulary.leaves)
        known = recent.setdefault(leaf.path, deque(maxlen=_REMEMBERED))
        product_id = f"P{number:07d}"
        if known and dice.chance(_NEAR_DUPLICATES):
            product = _near_duplicate(dice.pick(known), product_id, leaf, dice)
        else:
            product = _new_product(product_id, leaf, vocabulary, dice)
        known.append(product)
        yield product


def sample_lines(products: int = SAMPLE_PRODUCTS, seed: int = SAMPLE_SEED) -> Iterator[str]:
    """The generated products as lines of a JSONL file."""
    for product in generate_products(products, seed):
        yield json.dumps(product.to_wire(), ensure_ascii=False, separators=(",", ":")) + "\n"


def write_sample(path: Path, products: int = SAMPLE_PRODUCTS, seed: int = SAMPLE_SEED) -> None:
    """Write the generated products as gzipped JSONL, atomically, without a name and a time stamp in it."""
    with (
        atomic_path(path) as temporary,
        temporary.open("wb") as raw,
        gzip.GzipFile("", "wb", compresslevel=9, fileobj=raw, mtime=0) as packed,
    ):
        for line in sample_lines(products, seed):
            packed.write(line.encode())


@cache
def bundled_catalogue() -> Catalogue:
    """The catalogue that comes with the project; generated where its file is not (an installed package)."""
    if BUNDLED_FILE.is_file():
        return load_catalogue(BUNDLED_FILE)
    return Catalogue.from_products(generate_products())


def _new_product(product_id: str, leaf: Leaf, vocabulary: Vocabulary, dice: Dice) -> Product:
    brand, series, noun = dice.pick(leaf.brands), dice.pick(vocabulary.series), dice.pick(leaf.nouns)
    attributes = {name: _draw(rule, dice) for name, rule in leaf.attributes.items()}
    opening = dice.pick(vocabulary.openings).format(brand=brand, series=series, noun=noun.lower())
    low, high = leaf.price
    return Product(
        id=product_id,
        title=_title(f"{brand} {series} {noun}", leaf, attributes),
        description=" ".join((opening, dice.pick(leaf.features), dice.pick(leaf.department_features))),
        category=leaf.path,
        brand=brand,
        attributes=attributes,
        price=_price(low + (high - low) * _skewed(dice), dice),
        rating=_rating(dice),
        rating_count=2 + int(20_000 * _skewed(dice) * _skewed(dice)),
        shipping_days=_shipping(leaf, dice),
        stock=_stock(dice),
    )


def _near_duplicate(known: Product, product_id: str, leaf: Leaf, dice: Dice) -> Product:
    """``known`` with one attribute drawn again, its own price within a tenth, ratings and shipping."""
    attributes = dict(known.attributes)
    changed = dice.pick(list(leaf.attributes))
    attributes[changed] = _draw(leaf.attributes[changed], dice)
    return replace(
        known,
        id=product_id,
        title=_title(known.title.split(", ", 1)[0], leaf, attributes),
        attributes=attributes,
        price=_price(known.price * dice.uniform(0.9, 1.1), dice),
        rating=_rating(dice),
        rating_count=2 + int(20_000 * _skewed(dice) * _skewed(dice)),
        shipping_days=_shipping(leaf, dice),
        stock=_stock(dice),
    )


def _title(name: str, leaf: Leaf, attributes: dict[str, AttributeValue]) -> str:
    return ", ".join((name, *(shown_attribute(shown, attributes[shown]) for shown in leaf.title)))


def _draw(rule: AttributeRule, dice: Dice) -> AttributeValue:
    if isinstance(rule, Choices):
        return dice.pick(rule.values)
    if isinstance(rule, Share):
        return dice.chance(rule.share)
    return round(rule.low + rule.step * dice.between(0, rule.count - 1), 2)


def _price(dollars: float, dice: Dice) -> float:
    return round(max(1, int(dollars)) + dice.weighted(_ENDINGS), 2)


def _skewed(dice: Dice) -> float:
    """From 0 to 1, mostly small; multiplication alone, so that every machine gets the same bits."""
    point = dice.uniform(0, 1)
    return point * point


def _rating(dice: Dice) -> float:
    """One decimal, 4.2 on average, seldom below 3."""
    return round(5.0 - 3.2 * dice.uniform(0, 1) * dice.uniform(0, 1), 1)


def _shipping(leaf: Leaf, dice: Dice) -> int:
    low, high = leaf.shipping
    return min(dice.between(low, high), dice.between(low, high))


def _stock(dice: Dice) -> int:
    return 0 if dice.chance(_SOLD_OUT) else dice.between(1, 300)
