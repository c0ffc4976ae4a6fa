"""The measures of one episode's behaviour (spec 04 E), as columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pandas as pd

__all__ = ["MEASURES", "PHASES", "Measure", "complete_measures", "fold_query"]


@dataclass(frozen=True, slots=True)
class Measure:
    """What one column counts."""

    label: str
    help: str
    digits: int = 2


PHASES: Final[Mapping[str, str]] = {
    "search_home": "Search home",
    "search_results": "Results page",
    "product_detail": "Product page",
    "other": "Other page",
    "protocol_repair": "Protocol repair",
}
"""Where a turn was taken: the page before it, or repairing a broken tool call wherever that was."""

MEASURES: Final[Mapping[str, Measure]] = {
    "turns": Measure("Turns", "Model answers, repairs and refused actions included"),
    "searches": Measure("Searches", "Searches carried out"),
    "unique_queries": Measure("Different queries", "White space folded, letter case ignored"),
    "query_characters": Measure("Query characters", "Characters of all queries together", 1),
    "exposed_products": Measure("Products shown", "Different products on the result pages seen", 1),
    "first_opened_rank": Measure("First opened rank", "Rank in the result list of the first product opened"),
    "product_opens": Measure("Product opens", "Product pages opened from a result page"),
    "unique_products": Measure("Different products", "Different products among those opened"),
    "revisits": Measure("Revisits", "Opens of a product that was opened before"),
    "option_selections": Measure("Option selections", "Option values chosen"),
    "option_changes": Measure("Option changes", "An axis set to another value within one visit of the page"),
    "backtracks": Measure("Backtracks", "Back to search, or from a product back to the results"),
    "paginations": Measure("Page turns", "Next and previous page of a result list"),
    "invalid_actions": Measure("Invalid actions", "Actions that the shop refused"),
    "repairs": Measure("Repairs", "Answers that broke the tool protocol"),
    "tokens": Measure("Tokens", "Prompt and completion tokens of all turns", 0),
    "tokens_per_turn": Measure("Tokens a turn", "Tokens of the episode over its turns", 0),
    "first_turn_tokens": Measure("First-turn tokens", "Prompt and completion tokens of the first turn", 0),
    "completion_tokens": Measure("Completion tokens", "Tokens that the model wrote", 0),
    "reasoning_characters": Measure("Reasoning characters", "Characters of recorded reasoning", 0),
}

_MAY_BE_UNKNOWN: Final = frozenset(
    {"first_opened_rank", "tokens", "first_turn_tokens", "completion_tokens", "reasoning_characters"}
)


def fold_query(query: str) -> str:
    """A query as it is compared with others: white space folded, casefolded."""
    return " ".join(query.split()).casefold()


def complete_measures(rows: pd.DataFrame) -> pd.DataFrame:
    """Add what SQL cannot tell to rows of ``behaviour_episodes.sql``; every measure becomes a float.

    Unique queries need Unicode's case folding. Tokens of the phases are unknown where an episode recorded
    no token at all.
    """
    typed = rows["queries"].map(list)
    unique = typed.map(lambda queries: len({fold_query(query) for query in queries}))
    frame = rows.assign(queries=typed, path=rows["path"].map(list), unique_queries=unique)
    by_phase = [f"{kind}_{phase}" for kind in ("turns", "tokens") for phase in PHASES]
    computed = ("revisits", "tokens_per_turn")
    numbers = frame[[*(name for name in MEASURES if name not in computed), *by_phase]].astype(float)
    counted: list[str] = [str(name) for name in numbers if name not in _MAY_BE_UNKNOWN]
    numbers = numbers.fillna(dict.fromkeys(counted, 0.0))  # an episode without any step
    silent = numbers["tokens"].isna()
    for phase in PHASES:
        numbers[f"tokens_{phase}"] = numbers[f"tokens_{phase}"].mask(silent)
    numbers["revisits"] = numbers["product_opens"] - numbers["unique_products"]
    numbers["tokens_per_turn"] = numbers["tokens"] / numbers["turns"].where(numbers["turns"] > 0)
    return frame.drop(columns=list(numbers.columns), errors="ignore").join(numbers)
