"""One score taken apart for a table and a chart: token by token, field by field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import pandas as pd

from dashboard.analysis.columns import Column
from shopsim.search.documents import FIELDS
from shopsim.search.explain import Explanation

__all__ = ["RESULT_COLUMNS", "TOKEN_COLUMNS", "TOTAL", "field_scores", "result_rows", "token_table"]

TOKEN_COLUMNS: Final[Mapping[str, Column]] = {
    "token": Column("Query token"),
    "products": Column(
        "In products", "count", help="Indexed products that hold it; the rarer, the more it counts"
    ),
    "idf": Column("idf", "number", 3, help="ln((N - n + 0.5) / (n + 0.5)), at least 0.000001"),
    "frequency": Column(
        "Frequency", "number", 2, help="Occurrences in this product, each times its field's weight"
    ),
    **{field: Column(field, "number", 4) for field in FIELDS},
    "score": Column("Score", "number", 4, help="The fields' parts of this row"),
}
RESULT_COLUMNS: Final[Mapping[str, Column]] = {
    "rank": Column("Rank", "count", width="small"),
    "baseline": Column("Rank in baseline", "count", help="Empty: not among its 150 results"),
    "wanted": Column("Wanted", help="✓: counts as found for the chosen task"),
    "score": Column("Score", "number", 4),
    "title": Column("Product", width="large"),
    "asin": Column("ASIN"),
}
TOTAL: Final = "all together"


def token_table(explanation: Explanation) -> pd.DataFrame:
    """One row a query token as :data:`TOKEN_COLUMNS`, after a row of sums whose score is the product's.

    Fields that do not hold a token are left empty; a token's score is shared by weighted occurrences.
    """
    sums = {field: part or None for field, part in explanation.by_field.items()}
    rows: list[dict[str, object]] = [{"token": TOTAL, **sums, "score": explanation.score}]
    rows += [
        {
            "token": token.token,
            "products": token.products,
            "idf": token.idf,
            "frequency": token.frequency,
            **{field: token.by_field.get(field) for field in FIELDS},
            "score": token.score,
        }
        for token in explanation.tokens
    ]
    frame = pd.DataFrame(rows, columns=list(TOKEN_COLUMNS))
    numbers = {name: "float64" for name in TOKEN_COLUMNS if name not in ("token", "products")}
    return frame.astype({**numbers, "products": "Int64"})


def field_scores(explanations: Mapping[str, Explanation]) -> pd.DataFrame:
    """The parts of the fields under several weight sets: ``label, field, score``; empty parts left out."""
    rows = [
        (label, field, part)
        for label, explanation in explanations.items()
        for field, part in explanation.by_field.items()
        if part
    ]
    return pd.DataFrame(rows, columns=["label", "field", "score"])


def result_rows(
    results: Sequence[tuple[str, float]],
    baseline: Sequence[tuple[str, float]],
    wanted: frozenset[str],
    titles: Mapping[str, str],
) -> pd.DataFrame:
    """A result list as :data:`RESULT_COLUMNS`; ``results`` are pairs of ASIN and FTS5 score, best first."""
    before = {asin: place for place, (asin, _) in enumerate(baseline, 1)}
    frame = pd.DataFrame(
        {
            "rank": range(1, len(results) + 1),
            "baseline": pd.array([before.get(asin) for asin, _ in results], dtype="Int64"),
            "wanted": ["✓" if asin in wanted else "" for asin, _ in results],
            "score": [-score for _, score in results],
            "title": [titles.get(asin, "") for asin, _ in results],
            "asin": [asin for asin, _ in results],
        }
    )
    return frame[list(RESULT_COLUMNS)]
