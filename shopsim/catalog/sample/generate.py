"""The whole sample corpus from one seed: products, tasks, people, dirt, and what is known about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from shopsim.catalog.sample.budgets import Budget
from shopsim.catalog.sample.dice import Dice
from shopsim.catalog.sample.flaws import FLAW_RATES, Flaw, spoil
from shopsim.catalog.sample.model import ProductDraft
from shopsim.catalog.sample.names import NameMaker
from shopsim.catalog.sample.people import personas_for
from shopsim.catalog.sample.products import make_products
from shopsim.catalog.sample.records import instruction_record, product_record
from shopsim.catalog.sample.tasks import TaskDraft, make_task
from shopsim.catalog.sample.vocab import DOMAINS
from shopsim.errors import UsageError

__all__ = ["DEFAULT_PRODUCTS", "DEFAULT_SEED", "DroppedTask", "SampleCorpus", "UnsatisfiableTask", "generate"]

DEFAULT_PRODUCTS = 2400
DEFAULT_SEED = 20260901
_PERSONA_SHARE = 0.23
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


def generate(products: int = DEFAULT_PRODUCTS, seed: int = DEFAULT_SEED) -> SampleCorpus:
    """Generate a corpus of ``products`` raw records. The same arguments always give the same corpus.

    Raises :class:`UsageError` for fewer than 100 products, which cannot cover every kind.
    """
    if products < 100:
        raise UsageError(f"--products {products}: too few to cover the catalogue", hint="Use 100 or more.")
    names = NameMaker(Dice(seed, "names"))
    drafts = make_products(Dice(seed, "products"), names, DOMAINS, products)
    listings = _listings(Dice(seed, "tasks"), names, drafts)
    return _assemble(Dice(seed, "records"), Dice(seed, "people"), names, listings)


def _listings(dice: Dice, names: NameMaker, drafts: Sequence[ProductDraft]) -> list[_Listing]:
    buyers = {domain.name: domain.buyers for domain in DOMAINS}
    asins: set[str] = set()
    listings = []
    for draft in drafts:
        asin, odd = _asin(dice, asins)
        flaw: Flaw | None = None
        reason = dice.weighted((*FLAW_RATES, (None, 1 - sum(rate for _, rate in FLAW_RATES))))
        if reason and not odd and len(draft.price_axes) < 2:
            draft, flaw = spoil(dice, names, draft, reason)
        count = 1 if flaw else dice.weighted(((0, _NO_TASK), (2, _TWO_TASKS), (1, 1 - _NO_TASK - _TWO_TASKS)))
        people = buyers[draft.kind.domain]
        tasks = tuple(make_task(dice, draft, people, flaw) for _ in range(count))
        persona = bool(tasks) and not odd and dice.chance(_PERSONA_SHARE)
        if tasks and not persona and not flaw and dice.chance(_NO_ATTRIBUTES):
            tasks = tuple(replace(task, attributes=()) for task in tasks)
        listings.append(_Listing(replace(draft, asin=asin), tasks, persona, odd))
    return listings


def _asin(dice: Dice, known: set[str]) -> tuple[str, str]:
    """A new 12-digit id; a few are unusable, repeated, or usable but not quite clean."""
    asin = str(dice.between(600_000_000_000, 799_999_999_999))
    while asin in known:
        asin = str(dice.between(600_000_000_000, 799_999_999_999))
    sort = dice.weighted(
        (("plain", 0.9975), ("nan", 0.0005), ("long", 0.0005), ("repeated", 0.0008), ("blank", 0.0007))
    )
    if sort == "nan":
        return "nan", "unusable_asin"
    if sort == "long":
        return asin + asin, "unusable_asin"
    if sort == "repeated" and known:
        return min(known), "repeated_asin"
    known.add(asin)
    return (f" {asin}" if sort == "blank" else asin), ""


def _assemble(dice: Dice, people: Dice, names: NameMaker, listings: Sequence[_Listing]) -> SampleCorpus:
    wishes = {
        index: (listing.draft, listing.tasks) for index, listing in enumerate(listings) if listing.persona
    }
    personas = personas_for(people, names, wishes)
    corpus = SampleCorpus([], [], (), (), {})
    unsatisfiable: list[UnsatisfiableTask] = []
    dropped: list[DroppedTask] = []
    task_id = 0
    for index, listing in enumerate(listings):
        entries = []
        two_axes = len(listing.draft.price_axes) > 1
        for position, task in enumerate(listing.tasks):
            entries.append(instruction_record(dice, task, position, persona=listing.persona))
            reason = listing.odd or ("two_price_axes" if two_axes else "")
            reason = reason or ("" if task.attributes else "no_attributes")
            if reason:
                dropped.append(DroppedTask(task_id, reason))
            elif task.flaw:
                unsatisfiable.append(UnsatisfiableTask(task_id, listing.draft.asin, task.flaw.reason))
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
