"""Loading a corpus: what is kept, what is counted, and one clear line for every damaged file."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from shopsim.catalog import CorpusError, load_corpus, parse_corpus
from shopsim.catalog.tiny import tiny_corpus, tiny_records
from shopsim.jsonio import sha256_text

RECORDS = [{"asin": "600000000001", "title": "甲"}, {"asin": "600000000002", "title": "乙"}]
TEXT = json.dumps(RECORDS, ensure_ascii=False)


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("compressed", [False, True])
def test_plain_and_gzipped_files_have_the_hash_of_their_content(tmp_path: Path, compressed: bool) -> None:
    data = TEXT.encode()
    path = write(tmp_path / "products", gzip.compress(data) if compressed else data)
    corpus = load_corpus(path, expected_sha256=sha256_text(TEXT))
    assert [product.title for product in corpus.products] == ["甲", "乙"]
    assert corpus.sha256 == sha256_text(TEXT)


def test_another_hash_is_refused_with_the_way_out(tmp_path: Path) -> None:
    path = write(tmp_path / "products.json", TEXT.encode())
    with pytest.raises(
        CorpusError, match=r"products\.json: content has SHA-256 .* expected 00.*prepare --force"
    ):
        load_corpus(path, expected_sha256="00" * 32)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(TEXT.encode(), mtime=0)[:-12], "truncated or damaged gzip"),
        (gzip.compress(TEXT.encode(), mtime=0)[:30] + b"\x00" * 40, "truncated or damaged gzip"),
        (b"\x1f\x8bnot really gzip", "truncated or damaged gzip"),
        (b"", "line 1: not a JSON product file"),
        (b'[\n{"asin": 1},\n{]', "line 3: not a JSON product file"),
        (b"\xff\xfe\xfa[]", "not a JSON product file"),
        (b'{"asin": "600000000001"}', "must hold one JSON array"),
        (b"[" * 200_000, "not a JSON product file"),
        (b"[" + b"9" * 5000 + b"]", "not a JSON product file"),
    ],
)
def test_damage_is_named_on_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = write(tmp_path / "products.json.gz", content)
    with pytest.raises(CorpusError, match=message) as caught:
        load_corpus(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no such file"):
        load_corpus(tmp_path / "absent.json")
    with pytest.raises(CorpusError, match="cannot be read"):
        load_corpus(tmp_path)


def test_unusable_records_are_skipped_and_counted() -> None:
    records: list[Any] = [None, "text", {"title": "no id"}, {"asin": "nan"}, *RECORDS, RECORDS[0]]
    corpus = parse_corpus(records, "0" * 64)
    assert corpus.skipped == {"not_an_object": 2, "invalid_asin": 2, "duplicate_asin": 1}
    assert [product.source_index for product in corpus.products] == [4, 5]


def test_first_of_two_equal_ids_wins_and_keeps_its_tasks() -> None:
    first = {**RECORDS[0], "instructions": [{"instruction": "买甲"}]}
    second = {**RECORDS[0], "title": "丙", "instructions": [{"instruction": "买丙"}]}
    corpus = parse_corpus([first, second], "0" * 64)
    assert [source.instructions[0]["instruction"] for source in corpus.task_sources] == ["买甲"]
    found = corpus.get("600000000001")
    assert found is not None
    assert found.title == "甲"


def test_only_usable_instructions_and_personas_become_task_sources() -> None:
    records = [
        {"asin": "1", "instructions": "买"},
        {"asin": "2", "instructions": []},
        {"asin": "3", "instructions": [None, "买", {"instruction": "买"}], "user_persona": "无"},
        {"asin": "4", "instructions": [{"instruction": "买"}], "user_persona": {"用户ID": "u"}},
    ]
    corpus = parse_corpus(records, "0" * 64)
    assert [(source.product.asin, len(source.instructions)) for source in corpus.task_sources] == [
        ("3", 1),
        ("4", 1),
    ]
    assert [source.user_persona for source in corpus.task_sources] == [None, {"用户ID": "u"}]


def test_unknown_id_is_none_and_the_index_is_read_only() -> None:
    corpus = tiny_corpus()
    assert corpus.get("600000009999") is None
    with pytest.raises(TypeError):
        corpus.by_asin["x"] = corpus.products[0]  # type: ignore[index]


def test_tiny_catalogue_is_what_it_says() -> None:
    corpus = tiny_corpus()
    assert len(corpus.products) == 8
    assert corpus.skipped["invalid_asin"] == 1
    assert sum(len(source.instructions) for source in corpus.task_sources) == 8
    assert tiny_records() == tiny_records()
    assert tiny_records() is not tiny_records()
