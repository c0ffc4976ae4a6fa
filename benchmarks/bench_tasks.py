"""Tasks on 22,726 products: reading budgets, and solving 400 tasks exactly against brute force.

The baseline of the solver is the reward's own functions asked of every product, for a few tasks of the same
run; that of the budget parser is one search for digits in the same texts. Run
``python -m benchmarks.bench_tasks``.
"""

from __future__ import annotations

import re
import time

from benchmarks._timing import best_seconds, line
from shopsim.catalog import Corpus, parse_corpus, price_axes
from shopsim.catalog.sample import generate
from shopsim.env.reward import attribute_hits, shares_category, title_share, type_reward
from shopsim.env.terms import TermExtractor
from shopsim.tasks.budget import parse_budget
from shopsim.tasks.goals import Goal, build_goals
from shopsim.tasks.solutions import GoalSolver

PRODUCTS = 22_726
TASKS = 400
_RAW_PRODUCTS = 24_600
_SEED = 22_726
_BRUTE_FORCE_TASKS = 5


def main() -> None:
    """Measure and print."""
    corpus = _corpus()
    goals = [goal for goal in build_goals(corpus) if goal.is_persona][:TASKS]
    _budgets([goal.instruction_text for goal in goals])
    terms = TermExtractor()
    start = time.perf_counter()
    solver = GoalSolver(corpus, terms)
    indexed = time.perf_counter()
    found = [solver.solve(goal) for goal in goals]
    solved = time.perf_counter()
    purchases = sum(solution.count for solutions in found for solution in solutions)
    line("products, tasks", f"{len(corpus.products):,}, {len(goals)}")
    line("satisfying purchases", f"{purchases:,}")
    line("indexing the corpus", f"{indexed - start:.1f} s")
    total = solved - start
    line(f"solving {len(goals)} tasks, index included", f"{total:.1f} s", "<= 60 s", total <= 60)
    brute = best_seconds(
        lambda: [_brute_force(goal, corpus, terms) for goal in goals[:_BRUTE_FORCE_TASKS]], 1
    )
    per_task = (solved - indexed) / len(goals)
    line("brute force (type and attributes) / solver", f"{brute / _BRUTE_FORCE_TASKS / per_task:,.0f} times")


def _budgets(texts: list[str]) -> None:
    digits = re.compile(r"[0-9]+")
    parsing = best_seconds(lambda: [parse_budget(text) for text in texts], 3)
    scanning = best_seconds(lambda: [digits.search(text) for text in texts], 3)
    line("full instructions read", f"{len(texts) / parsing:,.0f} a second")
    line("budget parser / search for digits", f"{parsing / scanning:,.0f} times")


def _brute_force(goal: Goal, corpus: Corpus, terms: TermExtractor) -> int:
    wanted = terms.terms(goal.name)
    fitting = 0
    for product in corpus.products:
        share = title_share(wanted, terms.terms(product.title))
        of_type = type_reward(shares_category(goal.category, product.category), share) == 1.0
        fitting += of_type and all(attribute_hits(goal.attributes, product))
    return fitting


def _corpus() -> Corpus:
    """Generated products without those that the pipeline would leave out."""
    records = generate(_RAW_PRODUCTS, _SEED).records
    priced_twice = {
        product.asin for product in parse_corpus(records, "0" * 64).products if len(price_axes(product)) >= 2
    }
    kept = [record for record in records if str(record.get("asin")) not in priced_twice]
    return parse_corpus(kept[:PRODUCTS], "0" * 64)


if __name__ == "__main__":
    main()
