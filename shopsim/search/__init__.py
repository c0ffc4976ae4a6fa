"""Search: text and tokens, the index, the exact scorer, evaluation and tuning. Knows no goals."""

from shopsim.search.index import MAX_RESULTS, SearchIndex, build_search_index
from shopsim.search.manifest import SearchIndexError
from shopsim.search.text import normalize_search_text, search_tokens
from shopsim.search.weights import PRESETS, V3, FieldWeights, WeightsError, load_weights

__all__ = [
    "MAX_RESULTS",
    "PRESETS",
    "V3",
    "FieldWeights",
    "SearchIndex",
    "SearchIndexError",
    "WeightsError",
    "build_search_index",
    "load_weights",
    "normalize_search_text",
    "search_tokens",
]
