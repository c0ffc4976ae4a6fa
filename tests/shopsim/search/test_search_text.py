"""Search text: the normal form and the tokens of spec 02, and what SQLite makes of them."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shopsim.search.text import normalize_search_text, search_tokens, terms_of_token


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("迷你，冰箱 100 CNY", "迷你 冰箱 100元"),
        ("３００人民币以内", "300元以内"),
        ("50块钱", "50元"),
        ("80rmb左右", "80元左右"),
        ("80 yuan", "80元"),
        ("yuan 80", "yuan 80"),
        ("A，B。C；D：E！F？G、H|I", "a b c d e f g h i"),
        ("  多   空\t格\n", "多 空 格"),
        ("ＵＳＢ－Ｃ", "usb-c"),
        ("", ""),
    ],
)
def test_normal_form(text: str, normal: str) -> None:
    assert normalize_search_text(text) == normal


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("小冰箱", ["小冰", "冰箱"]),
        ("灰", ["灰"]),
        ("USB-C 数据线 100W/1.5m", ["数据", "据线", "usb-c", "100w/1.5m"]),
        ("冰箱 冰箱 a a", ["冰箱", "a"]),
        ("-a- .5 x++", ["a", "5", "x"]),
        ("a_b+c", ["a_b+c"]),
        ("\u3400\u4dbf\u9fff", ["\u3400\u4dbf", "\u4dbf\u9fff"]),
        ("カタカナ é", []),
        ("，。！", []),
    ],
)
def test_tokens(text: str, tokens: list[str]) -> None:
    assert search_tokens(text) == tokens


@given(st.text(alphabet="冰箱小机a1B.-+_/ ，|元cny", max_size=30))
def test_tokens_are_distinct_and_of_the_normal_form(text: str) -> None:
    tokens = search_tokens(text)
    assert len(set(tokens)) == len(tokens)
    assert tokens == search_tokens(normalize_search_text(text))


def _fts5_terms(texts: list[str]) -> list[list[str]]:
    """What FTS5's own tokenizer makes of each text."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='unicode61 remove_diacritics 2')")
    connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')")
    connection.executemany("INSERT INTO t(rowid, x) VALUES (?, ?)", enumerate(texts))
    terms: list[list[str]] = [[] for _ in texts]
    for row, _, term in sorted(connection.execute('SELECT doc, "offset", term FROM v')):
        terms[row].append(term)
    connection.close()
    return terms


def test_every_han_character_is_a_token_character_of_sqlite() -> None:
    characters = [chr(code) for code in (*range(0x3400, 0x4DC0), *range(0x4E00, 0xA000))]
    assert _fts5_terms(characters) == [[character] for character in characters]


@settings(max_examples=60)
@given(st.lists(st.text(alphabet="冰箱小a1z.-+_/ ", max_size=20), min_size=1, max_size=8))
def test_terms_of_tokens_are_those_of_sqlite(texts: list[str]) -> None:
    tokens = [token for text in texts for token in search_tokens(text)] or ["a-1.5"]
    assert _fts5_terms(tokens) == [terms_of_token(token) for token in tokens]
