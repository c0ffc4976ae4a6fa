"""Every purchase that satisfies a goal: all (product, options) with ``r_success`` 1, exactly (spec 03).

This is what an oracle buys, what diagnosis measures an episode against, and what tells whether a task can
be solved at all. Which products and options are meant follows from the reward alone; whether an agent's
search finds them is another question.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from shopsim.catalog import Corpus, Product, resolve_price
from shopsim.env.fuzzy import is_match
from shopsim.env.terms import TermExtractor
from shopsim.tasks.candidates import AttributeIndex, Positions, TypeIndex
from shopsim.tasks.combinations import Combinations
from shopsim.tasks.goals import Goal
from shopsim.tasks.offers import Offer, Wanted

__all__ = ["GoalSolver", "Selection", "Solution", "is_satisfiable", "solve", "solver_for"]


@dataclass(frozen=True, slots=True)
class Selection:
    """One purchase of a product: a value for every axis and the price, None when not verifiable."""

    selected: Mapping[str, str]
    price: float | None


@dataclass(frozen=True, slots=True)
class Solution:
    """All satisfying purchases of one product.

    ``selected`` and ``price`` are those of the first, in catalogue order; ``options`` gives for each axis
    the values that occur in some of them (not every mixture of these need satisfy: ask :meth:`admits`);
    ``count`` is how many there are.
    """

    product: Product
    selected: Mapping[str, str]
    price: float | None
    options: Mapping[str, tuple[str, ...]]
    count: int
    combinations: Combinations

    @property
    def asin(self) -> str:
        """The id of the product."""
        return self.product.asin

    def purchases(self) -> Iterator[Selection]:
        """Each satisfying purchase, lazily: there may be many thousands."""
        return (
            Selection(selected, resolve_price(self.product, selected).price) for selected in self.combinations
        )

    def admits(self, selected: Mapping[str, str]) -> bool:
        """Whether buying with ``selected`` (axis name -> shown value, every axis) satisfies the goal."""
        return self.combinations.contains(selected)


class GoalSolver:
    """Indexes one corpus once and then solves goals in milliseconds. Safe to share between threads."""

    def __init__(self, corpus: Corpus, terms: TermExtractor) -> None:
        self.corpus = corpus
        self.terms = terms
        self._types = TypeIndex(corpus.products, terms)
        self._attributes = AttributeIndex(corpus.products)
        self._offers: dict[int, Offer] = {}
        self._option_matches: dict[tuple[str, str], bool] = {}

    def solve(self, goal: Goal) -> list[Solution]:
        """The satisfying purchases by product, in catalogue order."""
        return list(self._solutions(goal))

    def satisfying(self, goal: Goal) -> frozenset[str]:
        """The ASINs of :meth:`solve`, without working out the purchases."""
        return frozenset(self.corpus.products[place].asin for place in self._satisfying(goal))

    def is_satisfiable(self, goal: Goal) -> bool:
        """Whether any purchase satisfies the goal."""
        return any(True for _ in self._satisfying(goal))

    def explain_unsatisfiable(self, goal: Goal) -> str:
        """Why nothing satisfies the goal, one sentence; ``""`` when something does.

        The first requirement that leaves no product is named: type, attributes, options, then price.
        """
        of_type = self._types.matching(goal)
        if not of_type.size:
            return f"no product is of the wanted type ({goal.category or 'no category'})"
        fitting = self._with_attributes(goal, of_type)
        if not fitting.size:
            return self._explain_attributes(goal, of_type)
        wanted = self._wanted(goal)
        offers = [self._offer(place) for place in fitting.tolist()]
        offering = [found for offer in offers if (found := offer.combinations(wanted, None))]
        if not offering:
            return self._explain_options(goal, [self.corpus.products[place] for place in fitting])
        if any(offer.admits_any(wanted, goal.price_upper) for offer in offers):
            return ""
        prices = [price for found in offering if (price := found.cheapest()) is not None]
        if not prices:
            return f"none of the {_count(offering)} with all attributes and options has a verifiable price"
        return f"the cheapest fitting purchase costs {min(prices):g}, over the limit of {goal.price_upper:g}"

    def _solutions(self, goal: Goal) -> Iterator[Solution]:
        wanted = self._wanted(goal)
        for place in self._with_attributes(goal, self._types.matching(goal)).tolist():
            product = self.corpus.products[place]
            combinations = self._offer(place).combinations(wanted, goal.price_upper)
            if combinations:
                selected = next(iter(combinations))
                price = resolve_price(product, selected).price
                options, count = combinations.admissible(), combinations.count()
                yield Solution(product, selected, price, options, count, combinations)

    def _satisfying(self, goal: Goal) -> Iterator[int]:
        """The places of the products with a satisfying purchase, ascending."""
        wanted = self._wanted(goal)
        for place in self._with_attributes(goal, self._types.matching(goal)).tolist():
            if self._offer(place).admits_any(wanted, goal.price_upper):
                yield place

    def _with_attributes(self, goal: Goal, candidates: Positions) -> Positions:
        """Those of ``candidates`` that have every wanted attribute."""
        for entry in dict.fromkeys(goal.attributes):
            if not candidates.size:
                break
            candidates = candidates[self._attributes.having(entry, candidates)]
        return candidates

    def _offer(self, place: int) -> Offer:
        offer = self._offers.get(place)
        if offer is None:
            offer = self._offers[place] = Offer(self.corpus.products[place])
        return offer

    def _wanted(self, goal: Goal) -> Wanted:
        return Wanted(goal.goal_options, self._matches)

    def _matches(self, shown: str, entry: str) -> bool:
        pair = (shown, entry)
        known = self._option_matches.get(pair)
        if known is None:
            known = self._option_matches[pair] = is_match(shown, entry)
        return known

    def _explain_attributes(self, goal: Goal, of_type: Positions) -> str:
        met = np.zeros(of_type.size, dtype=np.int64)
        entries = tuple(dict.fromkeys(goal.attributes))
        for entry in entries:
            having = self._attributes.having(entry, of_type)
            if not having.any():
                return f"none of the {_count(of_type)} of the wanted type has the attribute {entry!r}"
            met += having
        return (
            f"none of the {_count(of_type)} of the wanted type has all attributes together "
            f"(at most {int(met.max())} of {len(entries)})"
        )

    def _explain_options(self, goal: Goal, products: list[Product]) -> str:
        for entry in goal.goal_options:
            offered = (value.shown for product in products for axis in product.axes for value in axis.values)
            if not any(self._matches(shown, entry) for shown in offered):
                return f"none of the {_count(products)} with all attributes offers the option {entry!r}"
        return f"none of the {_count(products)} with all attributes offers all wanted options together"


_RECENT_SOLVERS = 2
_recent: list[GoalSolver] = []
_recent_lock = threading.Lock()


def solver_for(corpus: Corpus, terms: TermExtractor) -> GoalSolver:
    """The solver of this corpus and extractor; the last two are kept."""
    with _recent_lock:
        for solver in _recent:
            if solver.corpus is corpus and solver.terms is terms:
                return solver
        solver = GoalSolver(corpus, terms)
        _recent.insert(0, solver)
        del _recent[_RECENT_SOLVERS:]
        return solver


def solve(goal: Goal, corpus: Corpus, terms: TermExtractor) -> list[Solution]:
    """All satisfying purchases of ``goal`` in ``corpus``, by product (see :class:`GoalSolver`)."""
    return solver_for(corpus, terms).solve(goal)


def is_satisfiable(goal: Goal, corpus: Corpus, terms: TermExtractor) -> bool:
    """Whether any purchase in ``corpus`` satisfies ``goal``."""
    return solver_for(corpus, terms).is_satisfiable(goal)


def _count(products: Positions | list[Product] | list[Combinations]) -> str:
    number = len(products)
    return f"{number} product{'s' if number != 1 else ''}"
