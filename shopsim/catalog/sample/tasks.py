"""Tasks written from a product: what is wanted, what is said of it, and what only the persona tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from shopsim.catalog.sample.budgets import Budget, BudgetKind, make_budget, too_low_budget
from shopsim.catalog.sample.dice import Deck, Dice
from shopsim.catalog.sample.flaws import Flaw, lost_in_encoding
from shopsim.catalog.sample.model import MODEL_LABEL, Choice, Fact, ProductDraft
from shopsim.catalog.sample.wording import FULL_LIMIT, full_sentence, simple_sentence

__all__ = ["BUDGET_KINDS", "TaskDraft", "make_task"]

T = TypeVar("T")

# Annotation kinds of the real persona tasks (spec 05), per 4,526.
BUDGET_KINDS: Final[tuple[tuple[BudgetKind, float], ...]] = (
    ("approximate_upper", 2752),
    ("hard_upper", 1578),
    ("no_budget", 35),  # products without a known price add the rest
    ("non_total_price", 52),
    ("lower_only", 17),
    ("ambiguous", 12),
)
# How many properties are wanted, with weights; products that have fewer give all of theirs.
_FACT_COUNTS = (
    (1, 3),
    (2, 10),
    (3, 18),
    (4, 21),
    (5, 18),
    (6, 12),
    (7, 8),
    (8, 5),
    (10, 5),
    (13, 2),
    (18, 3),
)
_OPTION_COUNTS = ((0, 8), (1, 57), (2, 26), (3, 8), (4, 5))
_EMOJI_LOST = 0.15
_BUDGET_LEFT_OUT = 0.12
_TALKATIVE = 0.03
_SILENT = Budget("no_budget", "", None, None)


@dataclass(frozen=True, slots=True)
class TaskDraft:
    """One task. ``hints`` are wanted things the short wish leaves out, as (label, value);
    ``simple_budget`` is what the short wish says about money; ``flaw`` is why it cannot be fulfilled."""

    instruction: str
    simple: str
    attributes: tuple[str, ...]
    options: tuple[str, ...]
    budget: Budget
    simple_budget: Budget
    hints: tuple[tuple[str, str], ...]
    flaw: Flaw | None


@dataclass(frozen=True, slots=True)
class _WantedOption:
    axis: str
    spoken: str
    recorded: str


def make_task(
    dice: Dice, budgets: Deck[BudgetKind], draft: ProductDraft, buyers: Sequence[str], flaw: Flaw | None
) -> TaskDraft:
    """Write one task for ``draft``. Without a flaw, buying ``draft`` with the wanted options succeeds."""
    selection = {axis.name: _chosen(dice, axis.choices) for axis in draft.axes}
    facts = _wanted_facts(dice, draft)
    options = _wanted_options(dice, draft, selection, flaw)
    budget = _budget(dice, budgets, draft, _price(draft, selection), flaw)
    said = [(option.axis, option.spoken) for option in options]
    text = full_sentence(dice, draft.kind, buyers, facts, said, budget.phrase)
    while len(text) > FULL_LIMIT:
        facts = facts[:-1]
        text = full_sentence(dice, draft.kind, buyers, facts, said, budget.phrase)
    talkative = dice.chance(_TALKATIVE)
    kept_facts = _mentioned(dice, facts, 0.8, most=8) if talkative else _mentioned(dice, facts, 0.26, most=3)
    kept_options = _mentioned(dice, said, 0.4, most=1)
    phrase = "" if dice.chance(_BUDGET_LEFT_OUT) else budget.phrase
    simple = simple_sentence(dice, draft.kind, buyers, kept_facts, kept_options, phrase)
    hints = [(fact.label, fact.value) for fact in facts if fact not in kept_facts]
    hints += [pair for pair in said if pair not in kept_options]
    return TaskDraft(
        instruction=text,
        simple=simple,
        attributes=tuple(fact.value for fact in facts),
        options=tuple(option.recorded for option in options),
        budget=budget,
        simple_budget=budget if phrase and phrase in simple else _SILENT,
        hints=tuple(hints),
        flaw=flaw,
    )


def _budget(
    dice: Dice, budgets: Deck[BudgetKind], draft: ProductDraft, price: float, flaw: Flaw | None
) -> Budget:
    if flaw and flaw.reason == "budget_below_price":
        known = [choice.price for axis in draft.axes for choice in axis.choices if choice.price is not None]
        return too_low_budget(dice, min(known, default=draft.pricing[0]))
    if flaw and flaw.reason == "price_unverifiable":
        return make_budget(dice, "hard_upper", draft.pricing[-1], draft.kind)
    if not draft.price_known:
        return make_budget(dice, "no_budget", price, draft.kind)
    return make_budget(dice, budgets.draw(), price, draft.kind)


def _wanted_facts(dice: Dice, draft: ProductDraft) -> list[Fact]:
    """Some of the product's properties, now and then a word that only its title has.

    The property that marks a flawed product is always wanted: it keeps other products from stepping in.
    """
    marker = [fact for fact in draft.facts if fact.is_marker]
    names_model = dice.chance(0.25)
    pool = dice.shuffled(
        [fact for fact in draft.facts if not fact.is_marker and (names_model or fact.label != MODEL_LABEL)]
    )
    if draft.title_words and dice.chance(0.35):
        pool.insert(dice.between(0, 2), Fact("", dice.pick(draft.title_words)))
    unique = list({fact.value: fact for fact in pool}.values())
    return [*marker, *unique[: dice.weighted(_FACT_COUNTS)]]


def _chosen(dice: Dice, choices: Sequence[Choice]) -> Choice:
    """Any choice, but where some have a price, one that has."""
    priced = [choice for choice in choices if choice.price is not None]
    return dice.pick(priced or choices)


def _price(draft: ProductDraft, selection: dict[str, Choice]) -> float:
    """What the selection costs; the lowest listing price when nothing determines it."""
    changing = draft.price_axes
    if changing:
        prices = [selection[axis.name].price or 0.0 for axis in changing]
        return max(prices)
    return draft.pricing[0]


def _wanted_options(
    dice: Dice, draft: ProductDraft, selection: dict[str, Choice], flaw: Flaw | None
) -> list[_WantedOption]:
    """Options to ask for; the axis that decides the price comes first, since it matters most."""
    axes = sorted(dice.shuffled(draft.axes), key=lambda axis: not axis.changes_price)
    options = []
    for axis in axes[: dice.weighted(_OPTION_COUNTS)]:
        choice = selection[axis.name]
        recorded = lost_in_encoding(choice.value) if dice.chance(_EMOJI_LOST) else choice.value
        options.append(_WantedOption(axis.name, choice.spoken, recorded))
    if flaw and flaw.recorded:
        others = [option for option in options if option.axis != flaw.axis]
        return [_WantedOption(flaw.axis, flaw.spoken, flaw.recorded), *others]
    return options


def _mentioned(dice: Dice, items: Sequence[T], probability: float, most: int) -> list[T]:
    return [item for item in items if dice.chance(probability)][:most]
