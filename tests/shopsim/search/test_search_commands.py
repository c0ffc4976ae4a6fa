"""The commands: what they print, and one clear line for wrong input."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from shopsim.engine import open_engine
from shopsim.env.terms import TermExtractor
from shopsim.search.index import SearchIndex
from shopsim.search.weights import PRESETS
from shopsim.settings import load_settings

Command = Callable[..., tuple[int, str, str]]


def test_evaluate_prints_exactly_the_agreed_object_the_same_from_both_engines(command: Command) -> None:
    code, exact, _ = command("evaluate", "--split", "test", "--json")
    assert code == 0
    assert command("evaluate", "--split", "test", "--engine", "fts5", "--json")[1] == exact
    report = json.loads(exact)
    assert list(report) == [
        "search_version", "product_data_sha256", "split", "top_k", "metrics", "metric_scope",
    ]  # fmt: skip
    assert (report["split"], report["top_k"]) == ("test", 150)
    assert list(report["metrics"]) == ["simple", "full"]
    for metrics in report["metrics"].values():
        keys = ["queries", "recall_at_1", "recall_at_20", "recall_at_150", "mrr_at_150"]
        assert list(metrics) == keys
        assert metrics["queries"] == 15
        assert 0 < metrics["recall_at_1"] <= metrics["recall_at_20"] <= metrics["recall_at_150"] <= 1
    assert "proxy" in report["metric_scope"]


def test_evaluate_agrees_with_a_plain_reading(command: Command, search_workspace: Path) -> None:
    report = json.loads(command("evaluate", "--split", "all", "--json")[1])
    with open_engine(load_settings(search_workspace), terms=TermExtractor()) as engine:
        ranks = []
        for task_id in engine.splits.ids("all"):
            goal = engine.goals.get(task_id)
            results = engine.search.search(goal.instruction_text)
            ranks.append(results.index(goal.asin) + 1 if goal.asin in results else 0)
    metrics = report["metrics"]["full"]
    assert metrics["queries"] == len(ranks)
    assert metrics["recall_at_20"] == sum(0 < rank <= 20 for rank in ranks) / len(ranks)
    assert metrics["mrr_at_150"] == pytest.approx(sum(1 / rank for rank in ranks if rank) / len(ranks))


def test_evaluate_with_other_weights_and_breakdowns(command: Command) -> None:
    for engine in ("exact", "fts5"):
        report = json.loads(command("evaluate", "--weights", "title-only", "--engine", engine, "--json")[1])
        assert report != json.loads(command("evaluate", "--json")[1])
    groups = json.loads(command("evaluate", "--by", "domain", "--json")[1])["groups"]["simple"]
    assert sum(metrics["queries"] for metrics in groups.values()) == 15
    _, text, _ = command("evaluate", "--by", "length")
    assert "tokens" in text
    assert "proxy" in text


def test_evaluate_a_file(command: Command, tmp_path: Path, search_workspace: Path) -> None:
    with open_engine(load_settings(search_workspace), terms=TermExtractor()) as engine:
        product = engine.corpus.products[0]
    file = tmp_path / "queries.txt"
    row = json.dumps({"query": product.title, "asins": [product.asin, "other"], "task_id": 4})
    file.write_text(f"{product.title}\t{product.asin}\n\n{row}\n", encoding="utf-8")
    report = json.loads(command("evaluate", "--file", file, "--json")[1])
    assert report["split"] is None
    assert report["metrics"]["file"]["queries"] == 2
    assert report["metrics"]["file"]["recall_at_20"] == 1.0
    file.write_text("冰箱\t1\n{broken\n", encoding="utf-8")
    code, _, error = command("evaluate", "--file", file)
    assert code == 1
    assert "line 2: no query with wanted ASINs" in error


def test_query_shows_ranks_and_scores(command: Command, search_workspace: Path) -> None:
    with open_engine(load_settings(search_workspace), terms=TermExtractor()) as engine:
        title = engine.corpus.products[3].title
        expected = engine.search.ranked(title, 5)
    answer = json.loads(command("query", title, "--limit", "5", "--json")[1])
    assert [(row["asin"], -row["score"]) for row in answer["results"]] == expected
    assert [row["rank"] for row in answer["results"]] == list(range(1, len(expected) + 1))
    code, text, _ = command("query", "，")
    assert code == 0
    assert "no product matches" in text


def test_index_is_described_and_exported(command: Command, tmp_path: Path) -> None:
    manifest = json.loads(command("index", "--json")[1])
    out = tmp_path / "uniform.sqlite"
    code, _, _ = command("index", "--weights", "uniform", "--out", out)
    assert code == 0
    with SearchIndex.open(out, product_data_sha256=manifest["product_data_sha256"]) as index:
        assert index.weights == PRESETS["uniform"]
    assert command("index", "--out", out)[0] == 2
    assert command("index", "--weights", "uniform")[0] == 2
    assert command("index", "--weights", "v3", "--out", out, "--force")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "--split", "nope"], "split 'nope': unknown"),
        (["evaluate", "--weights", "nope"], "no weight set is called 'nope'"),
        (["evaluate", "--run", "a", "--file", "b"], "exclude each other"),
        (["evaluate", "--run", "nowhere"], "--run nowhere: no such file or folder"),
        (["evaluate", "--file", "nowhere"], "--file nowhere: no such file or folder"),
        (["query", "x", "--limit", "0"], "--limit"),
    ],
)
def test_wrong_calls_get_one_line_and_exit_code_2(
    command: Command, arguments: list[str], message: str
) -> None:
    code, out, error = command(*arguments)
    assert (code, out) == (2, "")
    assert message in error
    assert error.count("\n") == 1


def test_a_weight_of_zero_in_a_saved_set_gets_one_line(command: Command, search_workspace: Path) -> None:
    folder = search_workspace / "configs/search_weights"
    folder.mkdir(exist_ok=True)
    bad = folder / "bad.json"
    bad.write_text(json.dumps({"weights": {**PRESETS["v3"].as_mapping(), "brand": 0}}), encoding="utf-8")
    code, _, error = command("evaluate", "--weights", "bad")
    bad.unlink()
    assert code == 2
    assert "bad.json: weights: weight of brand is 0" in error
    assert error.count("\n") == 1


def test_an_index_of_another_corpus_is_refused(command: Command, search_workspace: Path) -> None:
    path = search_workspace / "data/prepared/search.sqlite"
    before = path.read_bytes()
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(
                "UPDATE manifest SET document = replace(document, '_sha256\": \"', '_sha256\": \"f')"
            )
            connection.commit()
        code, _, error = command("evaluate")
    finally:
        path.write_bytes(before)
    assert code == 1
    assert "was built from products" in error
    assert error.count("\n") == 1


def test_an_empty_split_gets_one_line(command: Command, search_workspace: Path) -> None:
    path = search_workspace / "data/prepared/persona_splits.v1.json"
    before = path.read_text("utf-8")
    document = json.loads(before)
    document["splits"]["test"]["task_ids"] = []
    try:
        path.write_text(json.dumps(document), encoding="utf-8")
        code, _, error = command("evaluate", "--split", "test")
    finally:
        path.write_text(before, encoding="utf-8")
    assert code == 2
    assert "split 'test': has no simple query" in error


def test_evaluate_what_agents_searched_for(command: Command, tmp_path: Path, search_workspace: Path) -> None:
    with open_engine(load_settings(search_workspace), terms=TermExtractor()) as engine:
        goal = engine.goals.get(engine.splits.ids("test")[0])
    steps = [
        {"environment": {"action_feedback": {"action": f"search[{goal.name}]", "valid": True}}},
        {"environment": {"action_feedback": {"action": "click[next >]", "valid": True}}},
        {"environment": {"action_feedback": {"action": "search[refused]", "valid": False}}},
        {"environment": None},
        {"environment": {"action_feedback": {"action": "search[没有这种东西吧]", "valid": True}}},
    ]
    record = {"episode_id": "e1", "job": {"task_id": goal.task_id}, "steps": steps}
    run = tmp_path / "run"
    run.mkdir()
    (run / "traces.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    metrics = json.loads(command("evaluate", "--run", run, "--json")[1])["metrics"]["agent"]
    assert (metrics["queries"], metrics["recall_at_20"]) == (2, 0.5)
    record["steps"] = []
    (run / "traces.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    code, _, error = command("evaluate", "--run", run)
    assert code == 2
    assert "no episode searched" in error


def test_any_satisfying_product_is_found_no_later_than_the_gold_one(command: Command) -> None:
    gold = json.loads(command("evaluate", "--split", "all", "--json")[1])
    code, text, _ = command("evaluate", "--split", "all", "--relevance", "satisfying", "--json")
    assert code == 0
    satisfying = json.loads(text)
    assert satisfying["metric_scope"].startswith("any satisfying product")
    assert satisfying["metrics"]["full"]["queries"] <= gold["metrics"]["full"]["queries"]
    assert satisfying["metrics"]["simple"]["recall_at_20"] >= gold["metrics"]["simple"]["recall_at_20"]


def test_explain_command(command: Command, search_workspace: Path) -> None:
    with open_engine(load_settings(search_workspace), terms=TermExtractor()) as engine:
        product = engine.corpus.products[0]
        ((asin, score),) = engine.search.ranked(product.title, 1)
    explanation = json.loads(command("explain", product.title, asin, "--json")[1])
    assert explanation["score"] == -score
    assert sum(explanation["by_field"].values()) == pytest.approx(-score)
    _, text, _ = command("explain", product.title, asin)
    assert "rank 1 of" in text
    code, _, error = command("explain", "x", "nope")
    assert code == 2
    assert "not in the index" in error


def test_misses_command(command: Command) -> None:
    report = json.loads(command("misses", "--depth", "1", "--split", "all", "--json")[1])
    part = report["queries"]["simple"]
    assert 0 < part["missed"] == len(part["misses"]) < part["queries"]
    assert all(miss["rank"] != 1 for miss in part["misses"])
    _, text, _ = command("misses", "--depth", "1")
    assert "of the misses" in text
