"""The default sample corpus, generated once for all tests of this folder."""

from __future__ import annotations

import pytest

from shopsim.catalog.sample import SampleCorpus, generate


@pytest.fixture(scope="session")
def sample() -> SampleCorpus:
    """What ``shopsim sample`` makes without arguments."""
    return generate()
