"""Step 1: every instruction gets its number before anything is filtered (spec 05).

Ids are positions in the raw archive, so a filtered catalogue has gaps on purpose and everything looks
tasks up by id.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shopsim.catalog.product import valid_asin
from shopsim.pipeline.errors import PipelineError
from shopsim.tasks.goals import task_uid

__all__ = ["RawTask", "broken_text", "identify", "read_identified"]


@dataclass(frozen=True, slots=True)
class RawTask:
    """One instruction with its identity. ``asin`` is ``""`` when the product has no usable one."""

    task_id: int
    task_uid: str
    product_index: int
    instruction_index: int
    asin: str
    instruction: str
    instruction_simple: str | None
    user_persona: Mapping[str, Any] | None

    @property
    def is_persona(self) -> bool:
        """Whether the product comes with a user persona (an object, even an empty one)."""
        return self.user_persona is not None

    def text(self, source_field: str) -> str:
        """The text of ``instruction`` or ``instruction_simple``, ``""`` when there is none."""
        return (self.instruction_simple or "") if source_field == "instruction_simple" else self.instruction


@dataclass(frozen=True, slots=True)
class _Entry:
    """An instruction where it stands: record number, product, position within the product."""

    record_index: int
    record: Mapping[str, Any]
    index: int
    instruction: Mapping[str, Any]
    place: str


def identify(records: Sequence[Any], source: str) -> tuple[RawTask, ...]:
    """Number every instruction of the raw ``records`` in order. ``source`` names the file in errors.

    Raises :class:`PipelineError` for a record that is no product, a persona without simple instruction (or
    the reverse), and ids carried by the input that are repeated or not those of their position.
    """
    entries = tuple(_walk(records, source))
    tasks = []
    for task_id, (entry, carried) in enumerate(zip(entries, _carried_ids(entries, source), strict=True)):
        if carried is not None and carried != task_id:
            raise PipelineError(
                f"{source}: {entry.place}: carries task_id {carried}, its position gives {task_id}",
                hint="Give the raw archive with all its products: a cleaned one has gaps in its ids.",
            )
        tasks.append(_task(entry, task_id, entry.record_index, source))
    return tuple(tasks)


def read_identified(records: Sequence[Any], source: str) -> tuple[RawTask, ...]:
    """Read the tasks of cleaned ``records``, which carry their ids. Raises :class:`PipelineError`."""
    entries = tuple(_walk(records, source))
    tasks = []
    for entry, carried in zip(entries, _carried_ids(entries, source), strict=True):
        if carried is None:
            raise PipelineError(f"{source}: {entry.place}: has no task_id, so this is no cleaned archive")
        index = entry.record.get("source_product_index")
        product_index = index if isinstance(index, int) and _is_id(index) else entry.record_index
        tasks.append(_task(entry, carried, product_index, source))
    return tuple(tasks)


def broken_text(source: str, place: str) -> PipelineError:
    """The error for text that cannot be written as UTF-8."""
    return PipelineError(
        f"{source}: {place}: holds half of a surrogate pair (a broken emoji), which no UTF-8 file can hold",
        hint="Repair that text in the archive.",
    )


def _walk(records: Sequence[Any], source: str) -> Iterator[_Entry]:
    for record_index, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise PipelineError(f"{source}: record {record_index}: must be an object")
        product = f"record {record_index} (ASIN {record.get('asin')})"
        instructions = record.get("instructions")
        if instructions is None:
            continue
        if not isinstance(instructions, list):
            raise PipelineError(f"{source}: {product}: instructions: must be a list")
        for index, instruction in enumerate(instructions):
            place = f"{product}: instructions[{index}]"
            if not isinstance(instruction, Mapping) or not isinstance(instruction.get("instruction"), str):
                raise PipelineError(f"{source}: {place}: must be an object with the text `instruction`")
            yield _Entry(record_index, record, index, instruction, place)


def _carried_ids(entries: Sequence[_Entry], source: str) -> list[int | None]:
    """The ids that the input brings along, checked to be whole numbers without repeats."""
    owners: dict[int, str] = {}
    carried: list[int | None] = []
    for entry in entries:
        task_id = entry.instruction.get("task_id")
        if task_id is None:
            carried.append(None)
            continue
        if not _is_id(task_id):
            raise PipelineError(
                f"{source}: {entry.place}: task_id must be a whole number >= 0, not {task_id!r}"
            )
        if task_id in owners:
            raise PipelineError(
                f"{source}: task_id {task_id} is given twice, at {owners[task_id]} and {entry.place}",
                hint="Remove the ids from the archive, or repair them.",
            )
        owners[task_id] = entry.place
        carried.append(task_id)
    return carried


def _task(entry: _Entry, task_id: int, product_index: int, source: str) -> RawTask:
    text = entry.instruction["instruction"]
    simple = entry.instruction.get("instruction_simple")
    if simple is not None and not isinstance(simple, str):
        raise PipelineError(f"{source}: {entry.place}: instruction_simple must be text")
    if simple is not None and not simple.strip():
        simple = None
    persona = entry.record.get("user_persona")
    if persona is not None and not isinstance(persona, Mapping):
        raise PipelineError(f"{source}: {entry.place}: user_persona must be an object")
    if (persona is None) != (simple is None):
        have, lack = ("instruction_simple", "user_persona") if persona is None else _PERSONA_ONLY
        raise PipelineError(
            f"{source}: {entry.place}: task {task_id} has {have} but no {lack}",
            hint="A persona task needs both, a standard task neither.",
        )
    asin = entry.record.get("asin")
    try:
        uid = task_uid(asin if isinstance(asin, str) else str(asin), entry.index, text)
    except UnicodeEncodeError:
        raise broken_text(source, entry.place) from None
    return RawTask(task_id, uid, product_index, entry.index, valid_asin(asin) or "", text, simple, persona)


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_PERSONA_ONLY = ("user_persona", "instruction_simple")
