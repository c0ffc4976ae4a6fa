"""The bundled corpus: it is what the generator makes, it is as awkward as the real one, and its tasks can
be fulfilled except for those that say they cannot."""

from __future__ import annotations

import copy
import gzip
import itertools
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from shopsim.catalog import Corpus, Product, parse_corpus, price_axes, resolve_price
from shopsim.catalog.sample import SampleCorpus, annotation_bytes, product_bytes
from shopsim.catalog.sample.statistics import measure
from shopsim.env.reward import attribute_hits, option_hits, score_purchase
from shopsim.env.terms import TermExtractor
from shopsim.search.index import SearchIndex, build_search_index
from shopsim.tasks.budget import parse_budget
from shopsim.tasks.goals import Goal, GoalSet, build_goals

RAW = Path(__file__).resolve().parents[3] / "data" / "raw"


@pytest.fixture(scope="module")
def statistics(sample: SampleCorpus) -> dict[str, Any]:
    return measure(sample)


@pytest.fixture(scope="module")
def corpus(sample: SampleCorpus) -> Corpus:
    """The corpus with ids, recorded price limits and without dropped tasks, as after the pipeline."""
    limits: dict[int, float | None] = {}
    for record in sample.annotations:
        factor = 1.10 if record["kind"] == "approximate_upper" else 1.0
        limits[record["task_id"]] = record["amount"] * factor if record["amount"] else None
    dropped = {task.task_id for task in sample.dropped}
    numbers = itertools.count()
    records = copy.deepcopy(sample.records)
    for record in records:
        numbered = [(next(numbers), task) for task in record["instructions"]]
        record["instructions"] = [
            {**task, "task_id": number, "price_upper": limits.get(number)}
            for number, task in numbered
            if number not in dropped
        ]
    return parse_corpus(records, "0" * 64)


@pytest.fixture(scope="module")
def goals(corpus: Corpus) -> GoalSet:
    return build_goals(corpus)


def tasks(sample: SampleCorpus) -> Iterator[tuple[int, Mapping[str, Any], Mapping[str, Any]]]:
    """Every (task id, product record, instruction) in file order."""
    numbers = itertools.count()
    for record in sample.records:
        for task in record["instructions"]:
            yield next(numbers), record, task


def test_committed_files_are_what_the_generator_makes(sample: SampleCorpus) -> None:
    archive = RAW / "products.raw.json.gz"
    assert gzip.decompress(archive.read_bytes()) == product_bytes(sample), REGENERATE
    assert (RAW / "price_annotations.jsonl").read_bytes() == annotation_bytes(sample), REGENERATE
    assert archive.stat().st_size < 3_000_000


REGENERATE = "run the command in data/raw/README.md after a change of the generator"


def test_size_and_breadth(statistics: dict[str, Any]) -> None:
    assert statistics["products"] == 2400
    assert statistics["kinds"] >= 60
    assert len(statistics["domains"]) == 9
    assert min(statistics["domains"].values()) >= 200
    assert (
        500 < sum(statistics["budget_kinds"].values()) < statistics["persona_tasks"] < statistics["tasks"] / 2
    )


@pytest.mark.parametrize(
    ("figure", "mean", "tolerance", "longest"),
    [
        ("simple_characters", 27, 3, 62),
        ("full_characters", 70, 7, 189),
        ("persona_characters", 883, 90, 4000),
        ("target_attributes", 4.6, 0.4, 19),  # a blank may join the 18
        ("target_options", 1.2, 0.15, 4),
    ],
)
def test_lengths_and_counts_are_those_of_the_real_corpus(
    statistics: dict[str, Any], figure: str, mean: float, tolerance: float, longest: int
) -> None:
    assert abs(statistics[figure]["mean"] - mean) <= tolerance
    assert longest * 0.6 < statistics[figure]["max"] <= longest or figure == "persona_characters"


def test_dirt_comes_at_about_the_real_rates(statistics: dict[str, Any]) -> None:
    people = statistics["persona_tasks"]
    assert 0.92 < statistics["comma_user_ids"] / people < 1  # 4,562 of 4,666
    assert 0.03 < statistics["trade_path_missing"] / people < 0.08  # 249
    assert 0.005 < statistics["blank_target_attributes"] / statistics["tasks"] < 0.025  # 55
    assert 0.005 < statistics["lost_options"] / statistics["tasks"] < 0.025  # 71
    assert 0.03 <= statistics["products_by_price_axes"]["2"] / 2400 < 0.06  # 695 of 23,421
    assert statistics["products_by_price_axes"]["1"] > 0.6 * 2400
    assert statistics["products_with_a_value_on_two_axes"] >= 20
    assert set(statistics["dropped_by_reason"]) == {
        "two_price_axes",
        "no_attributes",
        "repeated_asin",
        "unusable_asin",
    }


def test_budget_kinds_come_at_about_the_real_rates(statistics: dict[str, Any]) -> None:
    kinds = statistics["budget_kinds"]
    total = sum(kinds.values())
    assert list(kinds)[:3] == ["approximate_upper", "hard_upper", "no_budget"]
    assert set(kinds) == {*list(kinds)[:3], "non_total_price", "lower_only", "ambiguous"}
    assert abs(kinds["approximate_upper"] / total - 2752 / 4526) < 0.05
    assert abs(kinds["hard_upper"] / total - 1578 / 4526) < 0.05


def test_records_have_the_dirt_that_readers_must_survive(sample: SampleCorpus) -> None:
    axes = [axis for record in sample.records for axis in record["customization_options"].values()]
    values = [choice for axis in axes if axis for choice in axis]
    assert any(axis is None for axis in axes)
    assert any(isinstance(choice["price"], str) for choice in values)
    assert any(
        not character.isascii() and ord(character) > 0xFFFF for c in values for character in c["value"]
    )
    assert any(">" in record["category"] for record in sample.records)
    assert any(record["asin"] != record["asin"].strip() for record in sample.records)
    people = [record["user_persona"] for record in sample.records if "user_persona" in record]
    assert any("交易特征" in person["行为特征"] for person in people)
    assert any("__reasoning__" in person for person in people)
    assert any("?" in option for _, _, task in tasks(sample) for option in task["instruction_options"])


def test_usable_ids_are_unique_and_have_twelve_digits(sample: SampleCorpus) -> None:
    asins = Counter(record["asin"].strip() for record in sample.records)
    assert sum(not (len(asin) == 12 and asin.isdigit()) for asin in asins) <= 4
    assert sum(count - 1 for count in asins.values()) <= 5


def test_persona_and_short_wish_go_together(sample: SampleCorpus) -> None:
    for _, record, task in tasks(sample):
        assert ("user_persona" in record) == ("instruction_simple" in task)
        assert "price_upper" not in task
        assert "task_id" not in task


def test_what_the_short_wish_leaves_out_is_in_the_persona(sample: SampleCorpus) -> None:
    revealed = omitted = 0
    for _, record, task in tasks(sample):
        if "user_persona" not in record:
            continue
        persona = json.dumps(record["user_persona"], ensure_ascii=False)
        missing = [
            text for text in task["attributes"] if text.strip() and text not in task["instruction_simple"]
        ]
        omitted += len(missing)
        revealed += sum(text in persona for text in missing)
    assert omitted > 1000
    assert revealed / omitted > 0.75  # the rest is there in other words


def test_annotations_are_what_the_pipeline_expects(sample: SampleCorpus) -> None:
    texts = {task_id: task for task_id, record, task in tasks(sample) if "user_persona" in record}
    two_axes = {task.task_id for task in sample.dropped}
    by_task: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for record in sample.annotations:
        assert list(record) == ["task_id", "source_field", "kind", "amount", "evidence"]
        text = texts[record["task_id"]][record["source_field"]]
        assert record["evidence"] in text
        assert (record["evidence"] == "") == (record["kind"] == "no_budget")
        limit = record["kind"] in ("hard_upper", "approximate_upper")
        assert (record["amount"] is not None and record["amount"] > 0) == limit
        by_task[record["task_id"]].append(record)
    assert list(by_task) == sorted(set(texts) - two_axes)
    for records in by_task.values():
        fields = [record["source_field"] for record in records]
        first_has_limit = records[0]["amount"] is not None
        assert fields == ["instruction_simple"] if first_has_limit else ["instruction_simple", "instruction"]


def test_the_parser_reads_every_full_wish_as_meant(sample: SampleCorpus) -> None:
    wrong = [
        task["instruction"]
        for task_id, _, task in tasks(sample)
        if parse_budget(task["instruction"]).price_upper != pytest.approx(sample.limits[task_id])
    ]
    assert wrong == []


def test_users_connect_tasks_into_groups(sample: SampleCorpus, statistics: dict[str, Any]) -> None:
    people = [record["user_persona"] for record in sample.records if "user_persona" in record]
    by_user = defaultdict(list)
    for person in people:
        by_user[person["用户ID"].rstrip(",")].append(person)
    sizes = Counter(len(group) for group in by_user.values())
    assert statistics["largest_user"] > 20
    assert sizes[1] > 300
    assert all(sizes[size] for size in (2, 3, 4, 5))
    shared = [group for group in by_user.values() if 1 < len(group) <= 5]
    assert any(all(person == group[0] for person in group) for group in shared)
    assert any(any(person != group[0] for person in group) for group in shared)


def winning_selection(goal: Goal, product: Product) -> dict[str, str] | None:
    """A choice of options with which buying ``product`` meets options and budget, if there is one."""
    for values in itertools.product(*(axis.values for axis in product.axes)):
        selected = {axis.name: value.shown for axis, value in zip(product.axes, values, strict=True)}
        if not all(option_hits(goal.goal_options, list(selected.values()))):
            continue
        price = resolve_price(product, selected)
        if goal.price_upper is None or (price.price is not None and price.price <= goal.price_upper):
            return selected
    return None


def test_every_task_can_be_fulfilled_unless_it_is_listed(
    sample: SampleCorpus, corpus: Corpus, goals: GoalSet
) -> None:
    impossible = {task.task_id: task.reason for task in sample.unsatisfiable}
    terms = TermExtractor()
    for goal in goals:
        product = corpus.by_asin[goal.asin]
        selected = winning_selection(goal, product)
        success = selected is not None and score_purchase(goal, product, selected, terms).r_success == 1.0
        assert success is (goal.task_id not in impossible), (goal.task_id, impossible.get(goal.task_id))
    assert set(impossible) <= set(goals.ids)
    assert set(impossible.values()) == {
        "budget_below_price",
        "option_lost_in_encoding",
        "option_not_in_catalogue",
        "price_unverifiable",
    }
    assert len(impossible) < 0.03 * len(goals)


def test_no_other_product_rescues_a_listed_task(sample: SampleCorpus, corpus: Corpus, goals: GoalSet) -> None:
    for task in sample.unsatisfiable:
        goal = goals.get(task.task_id)
        able = list(corpus.products)
        for attribute in filter(str.strip, goal.attributes):
            able = [product for product in able if all(attribute_hits([attribute], product))]
        assert [product.asin for product in able] == [task.asin]


def test_search_is_as_hard_as_on_the_real_corpus(tmp_path: Path, corpus: Corpus, goals: GoalSet) -> None:
    active = [product for product in corpus.products if len(price_axes(product)) < 2]
    build_search_index(active, tmp_path / "search.sqlite", product_data_sha256=corpus.sha256)
    index = SearchIndex.open(tmp_path / "search.sqlite")
    found = {"simple": 0, "full": 0}
    wanted = [goal for goal in goals if goal.is_persona][:300]
    for goal in wanted:
        found["simple"] += goal.asin in index.search(goal.instruction_simple or "")[:20]
        found["full"] += goal.asin in index.search(goal.instruction_text)[:20]
    index.close()
    assert 0.60 <= found["simple"] / len(wanted) <= 0.85
    assert 0.80 <= found["full"] / len(wanted) <= 0.97
