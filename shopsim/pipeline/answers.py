"""One recorded answer about the budget of one instruction, checked field by field (spec 05 step 3)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

__all__ = [
    "KINDS",
    "LIMIT_KINDS",
    "SOURCE_FIELDS",
    "TOLERANCE",
    "Answer",
    "AnswerFault",
    "Provenance",
    "parse_answer",
]

LIMIT_KINDS: Final = ("hard_upper", "approximate_upper")
_OPEN_KINDS: Final = ("no_budget", "lower_only", "non_total_price", "ambiguous")
KINDS: Final = (*LIMIT_KINDS, *_OPEN_KINDS)

SOURCE_FIELDS: Final = ("instruction_simple", "instruction")
"""In the order in which they are sent: the full text only when the simple one gave no limit."""

TOLERANCE: Final = Decimal("1.10")
"""What an approximate budget may be exceeded by: the code's decision, never the model's."""


class AnswerFault(ValueError):
    """Why a recorded answer cannot be used: one clause, without file and line."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who answered. Answers of different provenance are never mixed in one build."""

    endpoint: str | None = None
    model: str | None = None
    protocol_version: str | None = None
    prompt_sha256: str | None = None

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Provenance:
        """The provenance that a cache record carries; bundled recordings carry none."""
        names = ("endpoint", "model", "protocol_version", "prompt_sha256")
        return cls(*(str(record[name]) if record.get(name) is not None else None for name in names))

    def to_wire(self) -> dict[str, str | None]:
        """The provenance block of the manifest."""
        return {
            "endpoint": self.endpoint,
            "model": self.model,
            "protocol_version": self.protocol_version,
            "prompt_sha256": self.prompt_sha256,
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """A valid answer: ``amount`` in yuan as stated, for the two limit kinds only."""

    task_id: int
    source_field: str
    kind: str
    amount: float | None
    evidence: str

    @property
    def price_upper(self) -> float | None:
        """The limit in yuan: the amount, 1.10 times it when approximate, None without a limit.

        Multiplied in decimal, so that "about 70" gives 77 and not 77.00000000000001.
        """
        if self.amount is None:
            return None
        factor = TOLERANCE if self.kind == "approximate_upper" else Decimal(1)
        return float(Decimal(str(self.amount)) * factor)


def parse_answer(record: Mapping[str, Any], sent_text: str) -> Answer:
    """Read ``{task_id, source_field, kind, amount, evidence}``; ``sent_text`` is what the model was given.

    Raises :class:`AnswerFault` for an unknown kind, an amount that does not belong to the kind, and evidence
    that is not a verbatim part of the text (``no_budget`` has none).
    """
    kind = record.get("kind")
    if kind not in KINDS:
        raise AnswerFault(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
    evidence = record.get("evidence")
    if not isinstance(evidence, str):
        raise AnswerFault("evidence must be text")
    _check_evidence(kind, evidence, sent_text)
    amount = _amount(kind, record.get("amount"))
    return Answer(record["task_id"], record["source_field"], kind, amount, evidence)


def _check_evidence(kind: str, evidence: str, sent_text: str) -> None:
    if kind == "no_budget":
        if evidence:
            raise AnswerFault("evidence must be empty for no_budget")
    elif not evidence:
        raise AnswerFault(f"evidence must not be empty for {kind}")
    elif evidence not in sent_text:
        raise AnswerFault(f"evidence {evidence!r} is not a verbatim part of the text")


def _amount(kind: str, value: object) -> float | None:
    if kind not in LIMIT_KINDS:
        if value is not None:
            raise AnswerFault(f"amount must be null for {kind}, not {value!r}")
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise AnswerFault(f"amount must be a number > 0 for {kind}, not {value!r}")
    try:
        amount = float(value)
    except OverflowError:
        amount = math.inf
    if not math.isfinite(amount * float(TOLERANCE)) or amount <= 0:
        raise AnswerFault(f"amount must be a finite number > 0 for {kind}")
    return amount
