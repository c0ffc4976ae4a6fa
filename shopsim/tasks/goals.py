"""Goals: what a task wants, built once from the corpus and keyed by ``task_id`` (spec 03, "Goals")."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal

from shopsim.catalog import Corpus, Product, TaskSource
from shopsim.errors import ShopSimError
from shopsim.jsonio import sha256_text
from shopsim.tasks.budget import parse_budget

__all__ = ["BudgetSource", "Goal", "GoalSet", "TaskError", "UnknownTaskError", "build_goals", "task_uid"]

BudgetSource = Literal["annotated", "instruction_simple", "instruction", "none"]

_PRIVATE_PERSONA_KEY = "__reasoning__"
_UID_HEX_DIGITS = 24


class TaskError(ShopSimError):
    """The task annotations of the corpus cannot be used, such as an id given twice."""

    code = "task"


class UnknownTaskError(ShopSimError):
    """A task id that the corpus does not have. Ids have gaps: they are never positions."""

    code = "unknown_task"
    http_status: ClassVar[int] = 404
    exit_code: ClassVar[int] = 2


@dataclass(frozen=True, slots=True)
class Goal:
    """The private target of one task.

    ``attributes`` and ``goal_options`` are what the reward counts, ``price_upper`` is the limit in yuan or
    None when no budget was stated, ``price_upper_source`` says where it was read. ``user_persona`` never
    holds the private reasoning key.
    """

    task_id: int
    task_uid: str
    asin: str
    name: str
    category: str
    attributes: tuple[str, ...]
    goal_options: tuple[str, ...]
    price_upper: float | None
    price_upper_source: BudgetSource
    instruction_text: str
    instruction_simple: str | None
    user_persona: Mapping[str, Any] | None = field(hash=False)
    product_index: int
    domain: str

    @property
    def is_persona(self) -> bool:
        """Whether the task comes with a user persona."""
        return self.user_persona is not None

    def to_wire(self) -> dict[str, Any]:
        """The ``goal`` object of a final environment answer (spec 04 A)."""
        return {
            "task_id": self.task_id,
            "task_uid": self.task_uid,
            "asin": self.asin,
            "name": self.name,
            "category": self.category,
            "attributes": list(self.attributes),
            "goal_options": list(self.goal_options),
            "price_upper": self.price_upper,
            "price_upper_source": self.price_upper_source,
            "instruction_text": self.instruction_text,
            "instruction_simple": self.instruction_simple,
            "user_persona": dict(self.user_persona) if self.user_persona is not None else None,
        }


class GoalSet:
    """All goals of a corpus, iterated in id order. Safe to share between threads.

    A goal is built when it is first asked for and then kept: reading the stated budgets of a whole corpus
    takes seconds, and an episode needs one. ``skipped_without_attributes`` counts the tasks that were left
    out because they want no attribute.
    """

    def __init__(
        self, builders: Mapping[int, Callable[[], Goal]], skipped_without_attributes: int = 0
    ) -> None:
        self._builders = {task_id: builders[task_id] for task_id in sorted(builders)}
        self._goals: dict[int, Goal] = {}
        self.skipped_without_attributes = skipped_without_attributes

    @property
    def ids(self) -> tuple[int, ...]:
        """Every task id, ascending."""
        return tuple(self._builders)

    def get(self, task_id: int) -> Goal:
        """The goal of that id. Raises :class:`UnknownTaskError` that names it."""
        # True and 1.0 would find task 1: ids reach this from JSON.
        if type(task_id) is not int or task_id not in self._builders:
            raise UnknownTaskError(
                f"task {task_id!r}: not in this corpus of {len(self)} tasks",
                hint="Ids have gaps after filtering; take one from a split.",
            )
        goal = self._goals.get(task_id)
        if goal is None:
            goal = self._goals.setdefault(task_id, self._builders[task_id]())
        return goal

    def __len__(self) -> int:
        return len(self._builders)

    def __iter__(self) -> Iterator[Goal]:
        return (self.get(task_id) for task_id in self._builders)

    def __contains__(self, task_id: object) -> bool:
        return type(task_id) is int and task_id in self._builders  # as `get`


def build_goals(corpus: Corpus) -> GoalSet:
    """Number and check the usable tasks of ``corpus``; their goals are built when asked for.

    An instruction without ``task_id`` gets its position among all instructions in file order, as the
    pipeline numbers them (spec 05 step 1). Raises :class:`TaskError` for an id that is no whole number >= 0
    or is given twice.
    """
    builders: dict[int, Callable[[], Goal]] = {}
    seen: dict[int, str] = {}
    skipped = position = 0
    for source in corpus.task_sources:
        for index, instruction in enumerate(source.instructions):
            given = instruction.get("task_id")
            task_id = _task_id(position if given is None else given, source.product)
            position += 1
            if task_id in seen:
                raise TaskError(
                    f"task {task_id}: given twice, by products {seen[task_id]} and {source.product.asin}",
                    hint="Run `shopsim prepare --force` to number the tasks again.",
                )
            seen[task_id] = source.product.asin
            if attributes := _texts(instruction.get("attributes")):
                builders[task_id] = partial(_build_goal, task_id, index, instruction, source, attributes)
            else:
                skipped += 1
    return GoalSet(builders, skipped)


def task_uid(asin: str, instruction_index: int, instruction: str) -> str:
    """The stable name of a task: a hash of product, position and text (spec 05 step 1)."""
    identity = json.dumps([asin, instruction_index, instruction], ensure_ascii=False, separators=(",", ":"))
    return f"shopsim-{sha256_text(identity)[:_UID_HEX_DIGITS]}"


def _task_id(value: object, product: Product) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TaskError(
            f"product {product.asin}: task_id must be a whole number >= 0, not {value!r}",
            hint="Run `shopsim prepare --force` to number the tasks again.",
        )
    return value


def _build_goal(
    task_id: int,
    index: int,
    instruction: Mapping[str, Any],
    source: TaskSource,
    attributes: tuple[str, ...],
) -> Goal:
    """The goal of one instruction, which wants at least one attribute.

    A blank attribute stays: it is a substring of every product and so always met, and published splits
    count tasks that have only such.
    """
    product = source.product
    text = _text(instruction.get("instruction"))
    simple = _text(instruction.get("instruction_simple")) or None
    price_upper, origin = _price_upper(instruction.get("price_upper"), simple, text)
    position = instruction.get("instruction_index")
    uid = instruction.get("task_uid")
    return Goal(
        task_id=task_id,
        task_uid=uid
        if isinstance(uid, str) and uid
        else task_uid(product.asin, _index(position, index), text),
        asin=product.asin,
        name=product.title,
        category=product.category,
        attributes=attributes,
        goal_options=tuple(option for option in _texts(instruction.get("instruction_options")) if option),
        price_upper=price_upper,
        price_upper_source=origin,
        instruction_text=text,
        instruction_simple=simple,
        user_persona=_public_persona(source.user_persona),
        product_index=product.source_index,
        domain=product.domain,
    )


def _price_upper(annotated: object, simple: str | None, text: str) -> tuple[float | None, BudgetSource]:
    """The limit and where it stands: annotation first, then the simple instruction, then the full one."""
    if isinstance(annotated, int | float) and not isinstance(annotated, bool):
        limit = float(annotated)
        if math.isfinite(limit) and limit > 0:
            return limit, "annotated"
    if simple is not None and (limit_simple := parse_budget(simple).price_upper) is not None:
        return limit_simple, "instruction_simple"
    if (limit_full := parse_budget(text).price_upper) is not None:
        return limit_full, "instruction"
    return None, "none"


def _public_persona(persona: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    if persona is None:
        return None
    return {key: value for key, value in persona.items() if key != _PRIVATE_PERSONA_KEY}


def _index(value: object, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    """The texts of a list (or of a mapping's values); numbers count as text, null and the rest do not."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple):
        return ()
    kept = (item for item in value if isinstance(item, str | int | float) and not isinstance(item, bool))
    return tuple(str(item).strip() for item in kept)
