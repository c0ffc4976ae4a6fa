"""The generator and its parts: reproducible, complete, and true to what they promise."""

from __future__ import annotations

import gzip
import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shopsim.catalog.sample import annotation_bytes, archive_bytes, generate, product_bytes
from shopsim.catalog.sample.budgets import BudgetKind, make_budget, too_low_budget
from shopsim.catalog.sample.dice import Deck, Dice
from shopsim.catalog.sample.flaws import lost_in_encoding
from shopsim.catalog.sample.model import Kind
from shopsim.catalog.sample.names import NameMaker
from shopsim.catalog.sample.numerals import chinese_number, spoken_number
from shopsim.catalog.sample.options import shop_price
from shopsim.catalog.sample.paraphrase import in_other_words
from shopsim.catalog.sample.pools import EMOJI
from shopsim.catalog.sample.vocab import DOMAINS
from shopsim.errors import UsageError
from shopsim.tasks.budget import parse_budget

KINDS = [kind for domain in DOMAINS for kind in domain.named_kinds()]


def test_the_same_seed_gives_the_same_bytes_and_another_seed_does_not() -> None:
    first, second, other = generate(300, 5), generate(300, 5), generate(300, 6)
    assert archive_bytes(first) == archive_bytes(second)
    assert annotation_bytes(first) == annotation_bytes(second)
    assert archive_bytes(first) != archive_bytes(other)


def test_archive_is_the_product_file_without_time_or_name() -> None:
    corpus = generate(120, 1)
    data = archive_bytes(corpus)
    assert data[3:8] == b"\x00" * 5  # gzip flags and modification time
    assert gzip.decompress(data) == product_bytes(corpus)
    assert json.loads(product_bytes(corpus)) == corpus.records


@pytest.mark.parametrize("products", [100, 777])
def test_any_size_is_met_exactly(products: int) -> None:
    assert len(generate(products, 3).records) == products


def test_too_few_products_are_refused() -> None:
    with pytest.raises(UsageError, match="--products 99: too few"):
        generate(99)


def test_dice_keep_their_sequence_over_python_versions() -> None:
    dice = Dice(1, "golden")
    assert [dice.between(1, 100) for _ in range(6)] == [4, 20, 91, 14, 49, 55]
    assert "".join(dice.shuffled("abcdef")) == "baedcf"


def test_streams_of_other_names_are_other_streams() -> None:
    assert len({Dice(1, name).between(1, 10**9) for name in ("a", "b", "a/b")}) == 3


def test_deck_holds_its_proportions_in_small_samples() -> None:
    for seed in range(20):
        deck = Deck(Dice(seed), (("a", 3), ("b", 1)))
        drawn = Counter(deck.draw() for _ in range(40))
        assert abs(drawn["b"] - 10) <= 1


def test_domains_and_kinds_cover_the_catalogue() -> None:
    assert [domain.english for domain in DOMAINS] == [
        "appliances",
        "beauty",
        "clothing",
        "food",
        "home",
        "kids",
        "leisure",
        "sports",
        "supplies",
    ]
    assert len({(kind.domain, kind.path) for kind in KINDS}) == len(KINDS) >= 60
    assert all(2 <= len(kind.path) + 1 <= 4 for kind in KINDS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.path[-1])
def test_vocabulary_is_usable(kind: Kind) -> None:
    assert kind.price[0] < kind.price[1]
    assert len(kind.facets) >= 4
    assert all(len(set(values)) == len(values) >= 2 for values in kind.facets.values())
    assert len(set(kind.features)) == len(kind.features) >= 8
    assert len(set(kind.stuffing)) == len(kind.stuffing) >= 8
    assert len({axis.name for axis in kind.axes}) == len(kind.axes) >= 1
    assert all(len(set(axis.values)) == len(axis.values) >= 2 for axis in kind.axes)
    assert any(axis.growth > 1 for axis in kind.axes)


@pytest.mark.parametrize(
    ("value", "written", "spoken"),
    [
        (7, "七", "七"),
        (10, "十", "十"),
        (20, "二十", "二十"),
        (45, "四十五", "四十五"),
        (105, "一百零五", "一百零五"),
        (250, "二百五十", "两百五"),
        (300, "三百", "三百"),
        (360, "三百六十", "三百六"),
        (1010, "一千零一十", "一千零一十"),
        (1800, "一千八百", "一千八"),
        (2000, "二千", "两千"),
        (12000, "一万二千", "一万二"),
        (20500, "二万零五百", "二万零五百"),
    ],
)
def test_chinese_numerals(value: int, written: str, spoken: str) -> None:
    assert chinese_number(value) == written
    assert spoken_number(value) == spoken


@given(st.integers(10, 9999))
@settings(max_examples=150)
def test_spoken_numerals_read_back_as_the_amount(value: int) -> None:
    assert parse_budget(f"价格不超过{spoken_number(value)}元").price_upper == value


@given(
    st.sampled_from(
        ["hard_upper", "approximate_upper", "no_budget", "lower_only", "non_total_price", "ambiguous"]
    ),
    st.floats(2, 20_000),
    st.integers(0, 10**6),
    st.sampled_from(KINDS),
)
@settings(max_examples=400)
def test_a_budget_admits_its_price_and_reads_as_annotated(
    kind: BudgetKind, price: float, seed: int, words: Kind
) -> None:
    budget = make_budget(Dice(seed), kind, price, words)
    assert budget.kind == kind
    assert (budget.evidence == "") is (kind == "no_budget")
    assert (budget.amount is not None) is (kind in ("hard_upper", "approximate_upper"))
    if budget.limit is not None:
        assert budget.limit >= price
    assert parse_budget("买一个，" + budget.phrase).price_upper == pytest.approx(budget.limit)


@given(st.floats(1.9, 5000), st.integers(0, 10**6))
@settings(max_examples=100)
def test_a_budget_that_is_too_low_excludes_the_cheapest(cheapest: float, seed: int) -> None:
    limit = too_low_budget(Dice(seed), cheapest).limit
    assert limit is not None
    assert 0 < limit < cheapest


@given(st.floats(0.5, 50_000))
@settings(max_examples=200)
def test_shop_prices_are_near_positive_and_have_one_decimal(amount: float) -> None:
    price = shop_price(amount)
    assert price > 0
    assert price == round(price, 1)
    assert price <= amount * 1.5 + 3


def test_own_words_keep_or_replace_a_property() -> None:
    dice = Dice(1)
    assert in_other_words(dice, "可折叠", 0.0) == "可折叠"
    assert in_other_words(dice, "送琴包", 1.0) in ("附琴包", "有琴包一起送")
    assert in_other_words(dice, "云杉单板", 1.0) == "云杉单板"
    values = {value for kind in KINDS for value in (*kind.features, *sum(kind.facets.values(), ()))}
    assert all(in_other_words(dice, value, 1.0).strip() for value in values)


def test_names_are_never_given_out_twice() -> None:
    names = NameMaker(Dice(3))
    made = [names.marker() for _ in range(300)] + [names.user_id() for _ in range(300)]
    made += [names.brand().rpartition("/")[2] for _ in range(2000)]
    assert len(set(made)) == len(made)


def test_encoding_loss_takes_emoji_and_nothing_else() -> None:
    assert lost_in_encoding("【现货】雾蓝/L（升级款）") == "【现货】雾蓝/L（升级款）"
    for emoji in EMOJI:
        assert set(lost_in_encoding(emoji)) == {"?"}
        assert not any(character.isalnum() for character in emoji)
