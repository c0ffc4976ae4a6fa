"""Title terms: literal ones, and those of a spaCy pipeline built here (no model is downloaded)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language

from shopsim.env.terms import (
    FALLBACK_NAME,
    MODEL_NAME,
    TermExtractor,
    default_extractor,
    default_identity,
    literal_terms,
)


def noun_pipeline(nouns: str, proper: str = "") -> Language:
    """A Chinese pipeline (one token a character) that tags the given characters as nouns."""
    pipeline = spacy.blank("zh")
    ruler = pipeline.add_pipe("attribute_ruler")
    ruler.add(patterns=[[{"TEXT": char}] for char in nouns], attrs={"POS": "NOUN"})  # type: ignore[attr-defined]
    ruler.add(patterns=[[{"TEXT": char}] for char in proper], attrs={"POS": "PROPN"})  # type: ignore[attr-defined]
    return pipeline


@pytest.mark.parametrize(
    ("title", "terms"),
    [
        ("小冰箱", {"小冰", "冰箱"}),
        ("茶", {"茶"}),
        ("快线 USB-C 数据线 100W 1.5m", {"快线", "usb-c", "数据", "据线", "100w", "1.5m"}),
        ("XF-48静音", {"xf-48", "静音"}),
        ("棉 T恤", {"棉", "t", "恤"}),
        ("！？—", set()),
        ("", set()),
    ],
)
def test_literal_terms(title: str, terms: set[str]) -> None:
    assert literal_terms(title) == terms


@given(st.text(alphabet="冰箱静音䶮ab1.-_ 🙂", max_size=20))
def test_literal_terms_are_pieces_of_the_title(title: str) -> None:
    folded = title.casefold()
    terms = literal_terms(title)
    assert all(term in folded for term in terms)
    assert bool(terms) == any(char in folded for char in "冰箱静音䶮ab1")


def test_without_a_pipeline_the_fallback_is_used_and_named() -> None:
    extractor = TermExtractor()
    assert extractor.name == extractor.identity == FALLBACK_NAME
    assert extractor.terms("小冰箱") == {"小冰", "冰箱"}


def test_a_pipeline_gives_its_casefolded_nouns() -> None:
    extractor = TermExtractor(noun_pipeline("冰箱X", proper="雪"))
    assert extractor.name == MODEL_NAME
    assert extractor.terms("雪峰小冰箱 X") == {"雪", "冰", "箱", "x"}


def test_a_title_without_nouns_falls_back_alone() -> None:
    extractor = TermExtractor(noun_pipeline("冰箱"))
    assert extractor.terms_of(["小冰箱", "短袖", "小冰箱"]) == [{"冰", "箱"}, {"短袖"}, {"冰", "箱"}]


@pytest.mark.filterwarnings("ignore:.*W036")  # the emptied ruler
def test_terms_are_cached() -> None:
    pipeline = noun_pipeline("冰箱")
    extractor = TermExtractor(pipeline)
    first = extractor.terms("小冰箱")
    pipeline.get_pipe("attribute_ruler").clear()  # type: ignore[attr-defined]
    assert extractor.terms("小冰箱") is first
    assert extractor.terms("冰箱贴") == {"冰箱", "箱贴"}


@pytest.fixture
def fresh_default() -> Iterator[None]:
    default_extractor.cache_clear()
    yield
    default_extractor.cache_clear()


def install_model(folder: Path, load: str) -> None:
    """Lay out a package that spaCy takes for the installed model."""
    package = folder / MODEL_NAME
    package.mkdir()
    (package / "__init__.py").write_text(load, encoding="utf-8")
    metadata = folder / f"{MODEL_NAME}-3.8.0.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text(f"Metadata-Version: 2.1\nName: {MODEL_NAME}\nVersion: 3.8.0\n", encoding="utf-8")


LOADS = """
from spacy.util import load_model_from_init_py

def load(**overrides):
    return load_model_from_init_py(__file__, **overrides)
"""


@pytest.mark.usefixtures("fresh_default")
def test_an_installed_model_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_model(tmp_path, LOADS)
    pipeline = noun_pipeline("冰箱")
    pipeline.add_pipe("sentencizer", name="ner")
    pipeline.meta.update({"lang": "zh", "name": "core_web_sm", "version": "3.8.0"})
    pipeline.to_disk(tmp_path / MODEL_NAME / f"{MODEL_NAME}-3.8.0")
    meta = tmp_path / MODEL_NAME / f"{MODEL_NAME}-3.8.0" / "meta.json"
    (tmp_path / MODEL_NAME / "meta.json").write_bytes(meta.read_bytes())
    monkeypatch.syspath_prepend(str(tmp_path))
    assert default_identity() == f"{MODEL_NAME}-3.8.0"
    extractor = default_extractor()
    assert (extractor.name, extractor.identity) == (MODEL_NAME, default_identity())
    assert extractor.terms("小冰箱") == {"冰", "箱"}
    assert default_extractor() is extractor
    assert extractor._pipeline.pipe_names == ["attribute_ruler"]


@pytest.mark.usefixtures("fresh_default")
def test_a_model_that_does_not_load_is_reported_and_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    install_model(tmp_path, "def load(**overrides):\n    raise ImportError('spacy_pkuseg is missing')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, MODEL_NAME, raising=False)
    with caplog.at_level(logging.WARNING):
        extractor = default_extractor()
    assert extractor.name == FALLBACK_NAME
    assert "spacy_pkuseg is missing" in caplog.text
