"""The terms of a title that decide whether two products are of one kind (spec 03, ``r_type``).

With the spaCy model ``zh_core_web_sm`` installed these are its nouns; without it, or when it finds none,
literal tokens. Which of the two was used changes rewards, so :attr:`TermExtractor.name` goes into the
provenance of every run and one run never mixes them.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterable
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

__all__ = [
    "FALLBACK_NAME",
    "MODEL_NAME",
    "TermExtractor",
    "default_extractor",
    "default_identity",
    "literal_terms",
]

MODEL_NAME = "zh_core_web_sm"
FALLBACK_NAME = "literal-fallback"

_NOUN_TAGS = frozenset({"NOUN", "PROPN"})
_UNUSED_PIPES = ("parser", "senter", "ner", "lemmatizer", "entity_linker")
_HAN_RUN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+")
_LATIN_TOKEN = re.compile(r"[a-z0-9]+(?:[._+\-/][a-z0-9]+)*")
_LOG = logging.getLogger(__name__)


def literal_terms(title: str) -> frozenset[str]:
    """Latin and number tokens (``usb-c``, ``1.5m``) plus the bigrams of every run of Han characters.

    A run of one character gives itself. The title is casefolded first.
    """
    text = title.casefold()
    terms = set(_LATIN_TOKEN.findall(text))
    for run in _HAN_RUN.findall(text):
        terms.update(run[i : i + 2] for i in range(max(len(run) - 1, 1)))
    return frozenset(terms)


class TermExtractor:
    """Title terms, cached by title. ``name`` says which rule is in force, ``identity`` also of which version.

    ``pipeline`` is a loaded spaCy pipeline that sets ``pos_``, or None for literal terms only. Safe to
    share between threads: the pipeline runs under a lock.
    """

    def __init__(self, pipeline: Any | None = None, *, name: str | None = None) -> None:
        self.name = name or (FALLBACK_NAME if pipeline is None else MODEL_NAME)
        self.identity = self.name if pipeline is None else _versioned(self.name, pipeline.meta.get("version"))
        self._pipeline = pipeline
        self._cache: dict[str, frozenset[str]] = {}
        self._lock = threading.Lock()

    def terms(self, title: str) -> frozenset[str]:
        """The casefolded terms of one title; empty only for a title without any word."""
        found = self._cache.get(title)
        if found is None:
            found = self.terms_of([title])[0]
        return found

    def terms_of(self, titles: Iterable[str]) -> list[frozenset[str]]:
        """The terms of many titles in order; a spaCy pipeline reads them in batches."""
        wanted = list(titles)
        missing = list(dict.fromkeys(title for title in wanted if title not in self._cache))
        if self._pipeline is None:
            self._cache.update((title, literal_terms(title)) for title in missing)
        elif missing:
            with self._lock:
                for title, document in zip(missing, self._pipeline.pipe(missing), strict=True):
                    self._cache[title] = _noun_terms(document) or literal_terms(title)
        return [self._cache[title] for title in wanted]


@lru_cache(maxsize=1)
def default_extractor() -> TermExtractor:
    """The extractor of this installation: ``zh_core_web_sm`` when it loads, else literal terms."""
    return TermExtractor(_load_model())


def default_identity() -> str:
    """The identity that :func:`default_extractor` has as a rule, told without loading a model."""
    try:
        return _versioned(MODEL_NAME, version(MODEL_NAME))
    except PackageNotFoundError:
        return FALLBACK_NAME


def _versioned(name: str, number: object) -> str:
    return f"{name}-{number}"


def _load_model() -> Any | None:
    """Load the model without the pipes that set no part of speech; None when it is not installed.

    spaCy takes a second to import, so it is touched only when the model's package is there.
    """
    if find_spec(MODEL_NAME) is None:
        return None
    try:
        import spacy

        return spacy.load(MODEL_NAME, exclude=list(_UNUSED_PIPES))
    except (ImportError, OSError, ValueError) as error:
        _LOG.warning("%s is installed but does not load (%s); using literal terms", MODEL_NAME, error)
        return None


def _noun_terms(document: Any) -> frozenset[str]:
    nouns = (token.text.casefold().strip() for token in document if token.pos_ in _NOUN_TAGS)
    return frozenset(noun for noun in nouns if noun)
