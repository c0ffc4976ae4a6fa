"""The budget parser ``instruction-budget-v2`` (spec 03): a small grammar in five steps.

``text`` folds what does not matter (width, case, blanks), ``numerals`` reads numbers in digits and in
Chinese, ``lexicon`` names the words that carry meaning, ``tokens`` cuts a text into both, ``amounts``
joins numbers, currency and ranges, ``context`` collects the words around an amount, and ``reading``
decides what the text says.
"""

from shopsim.tasks.budget.reading import BudgetReading, parse_budget

__all__ = ["BudgetReading", "parse_budget"]
