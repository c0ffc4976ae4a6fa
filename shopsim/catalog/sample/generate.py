"""The whole sample corpus from one seed: products, tasks, people, dirt, and what is known about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from shopsim.catalog.sample.budgets import Budget
from shopsim.catalog.sample.dice import Deck, Dice
from shopsim.catalog.sample.flaws import FLAW_RATES, Flaw, FlawReason, spoil
from shopsim.catalog.sample.model import ProductDraft
from shopsim.catalog.sample.names import NameMaker
from shopsim.catalog.sample.people import personas_for
from shopsim.catalog.sample.products import make_products
from shopsim.catalog.sample.records import instruction_record, product_record
from shopsim.catalog.sample.tasks import BUDGET_KINDS, TaskDraft, make_task
from shopsim.catalog.sample.vocab import DOMAINS
from shopsim.errors import UsageError
from shopsim.progress import track

__all__ = ["DEFAULT_PRODUCTS", "DEFAULT_SEED", "DroppedTask", "SampleCorpus", "UnsatisfiableTask", "generate"]

DEFAULT_PRODUCTS = 2400
DEFAULT_SEED = 20260901
_PERSONA_SHARE = 0.235
_ASIN_SORTS = (("plain", 0.9973), ("nan", 0.0006), ("long", 0.0006), ("repeated", 0.0008), ("blank", 0.0007))
_BUYERS = {domain.name: domain.buyers for domain in DOMAINS}
_NO_TASK, _TWO_TASKS, _NO_ATTRIBUTES = 0.01, 0.015, 0.002


@dataclass(frozen=True, slots=True)
class UnsatisfiableTask:
    """A task that no purchase fulfils, by construction. ``reason`` is a flaw of :mod:`.flaws`."""

    task_id: int
    asin: str
    reason: str


@dataclass(frozen=True, slots=True)
class DroppedTask:
    """A numbered task that later steps leave out: ``two_price_axes`` by the pipeline's filter,
    ``unusable_asin`` and ``repeated_asin`` by the loader, ``no_attributes`` by the goal builder."""

    task_id: int
    reason: str


@dataclass(frozen=True, slots=True)
class SampleCorpus:
    """Raw records, recorded persona budgets, and the generator's own knowledge for tests.

    ``limits`` maps a task id to the upper price (yuan) its full wish states, None when it states none;
    ids count every instruction in file order, as the pipeline does before it filters.
    """

    records: list[dict[str, Any]]
    annotations: list[dict[str, Any]]
    unsatisfiable: tuple[UnsatisfiableTask, ...]
    dropped: tuple[DroppedTask, ...]
    limits: dict[int, float | None]


@dataclass(frozen=True, slots=True)
class _Listing:
    """A product with its tasks. ``odd`` says why the loader will skip it, "" when it will not."""

    draft: ProductDraft
    tasks: tuple[TaskDraft, ...]
    persona: bool
    odd: str


def generate(
    products: int = DEFAULT_PRODUCTS, seed: int = DEFAULT_SEED, *, progress: bool = False
) -> SampleCorpus:
    """Generate a corpus of ``products`` raw records. The same arguments always give the same corpus.

    ``progress`` shows bars on a terminal.

    Raises :class:`UsageError` for fewer than 100 products, which cannot cover every kind.
    """
    if products < 100:
        raise UsageError(f"--products {products}: too few to cover the catalogue", hint="Use 100 or more.")
    names = NameMaker(Dice(seed, "names"))
    drafts = make_products(Dice(seed, "products"), names, DOMAINS, products)
    watched = track(drafts, label="Writing tasks") if progress else drafts
    listings = _listings(Dice(seed, "tasks"), names, watched)
    wishes = {index: (item.draft, item.tasks) for index, item in enumerate(listings) if item.persona}
    personas = personas_for(Dice(seed, "people"), names, wishes)
    shown = track(listings, label="Assembling records") if progress else listings
    return _assemble(Dice(seed, "records"), shown, personas)


class _Sorts:
    """What is handed out in fixed proportions, apart for persona and standard tasks."""

    def __init__(self, dice: Dice) -> None:
        clean = 1 - sum(rate for _, rate in FLAW_RATES)
        flaws: tuple[tuple[FlawReason | None, float], ...] = (*FLAW_RATES, (None, clean))
        self.persona = Deck(dice, ((True, _PERSONA_SHARE), (False, 1 - _PERSONA_SHARE)))
        self.asin = Deck(dice, _ASIN_SORTS)
        self.flaws = {kind: Deck(dice, flaws) for kind in (True, False)}
        self.budgets = {kind: Deck(dice, BUDGET_KINDS) for kind in (True, False)}
        self.counts = Deck(dice, ((0, _NO_TASK), (2, _TWO_TASKS), (1, 1 - _NO_TASK - _TWO_TASKS)))
        self.without_attributes = Deck(dice, ((True, _NO_ATTRIBUTES), (False, 1 - _NO_ATTRIBUTES)))


def _listings(dice: Dice, names: NameMaker, drafts: Iterable[ProductDraft]) -> list[_Listing]:
    sorts, asins = _Sorts(dice), _Asins(dice)
    return [_listing(dice, names, sorts, draft, *asins.next(sorts.asin.draw())) for draft in drafts]


def _listing(
    dice: Dice, names: NameMaker, sorts: _Sorts, draft: ProductDraft, asin: str, odd: str
) -> _Listing:
    draft = replace(draft, asin=asin)
    buyers = _BUYERS[draft.kind.domain]
    if odd:
        return _Listing(draft, (make_task(dice, sorts.budgets[False], draft, buyers, None),), False, odd)
    count = sorts.counts.draw()
    if not count:
        return _Listing(draft, (), False, "")
    persona = sorts.persona.draw()
    flaw: Flaw | None = None
    if len(draft.price_axes) < 2 and (reason := sorts.flaws[persona].draw()):
        draft, flaw = spoil(dice, names, draft, reason)
    tasks = [
        make_task(dice, sorts.budgets[persona], draft, buyers, flaw) for _ in range(1 if flaw else count)
    ]
    if not persona and not flaw and sorts.without_attributes.draw():
        tasks = [replace(task, attributes=()) for task in tasks]
    return _Listing(draft, tuple(tasks), persona, "")


class _Asins:
    """Gives out 12-digit ids; a few are unusable, repeated, or usable but not quite clean."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice
        self._known: set[str] = set()
        self._last = ""

    def next(self, sort: str) -> tuple[str, str]:
        """An id of that sort, and why the loader will skip it, ``""`` when it will not."""
        if sort == "nan":
            return "nan", "unusable_asin"
        if sort == "repeated" and self._last:
            return self._last, "repeated_asin"
        asin = self._fresh()
        if sort == "long":
            return asin + asin, "unusable_asin"
        self._last = asin
        return (f" {asin}" if sort == "blank" else asin), ""

    def _fresh(self) -> str:
        while (asin := str(self._dice.between(600_000_000_000, 799_999_999_999))) in self._known:
            pass
        self._known.add(asin)
        return asin


def _assemble(
    dice: Dice, listings: Iterable[_Listing], personas: Mapping[int, dict[str, Any]]
) -> SampleCorpus:
    corpus = SampleCorpus([], [], (), (), {})
    unsatisfiable: list[UnsatisfiableTask] = []
    dropped: list[DroppedTask] = []
    task_id = 0
    for index, listing in enumerate(listings):
        entries = []
        two_axes = len(listing.draft.price_axes) > 1
        asin = listing.draft.asin.strip()
        for position, task in enumerate(listing.tasks):
            entries.append(instruction_record(dice, task, position, persona=listing.persona))
            reason = listing.odd or ("two_price_axes" if two_axes else "")
            reason = reason or ("" if task.attributes else "no_attributes")
            if reason:
                dropped.append(DroppedTask(task_id, reason))
            elif task.flaw:
                unsatisfiable.append(UnsatisfiableTask(task_id, asin, task.flaw.reason))
            if listing.persona and not two_axes:
                corpus.annotations.extend(_annotations(task_id, task))
            corpus.limits[task_id] = task.budget.limit
            task_id += 1
        record = product_record(dice, listing.draft, index, entries)
        if listing.persona:
            record["user_persona"] = personas[index]
        corpus.records.append(record)
    return replace(corpus, unsatisfiable=tuple(unsatisfiable), dropped=tuple(dropped))


def _annotations(task_id: int, task: TaskDraft) -> list[dict[str, Any]]:
    """The recorded answers of one persona task: the full wish is asked only when the short gave no limit."""
    first = _annotation(task_id, "instruction_simple", task.simple_budget)
    if task.simple_budget.limit is not None:
        return [first]
    return [first, _annotation(task_id, "instruction", task.budget)]


def _annotation(task_id: int, field: str, budget: Budget) -> dict[str, Any]:
    return {
        "task_id": task_id,
        "source_field": field,
        "kind": budget.kind,
        "amount": budget.amount,
        "evidence": budget.evidence,
    }
