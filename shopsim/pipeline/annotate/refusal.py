"""What an endpoint's error means for a session: pause, try again, leave this request, or stop at once."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from enum import Enum
from typing import Final

from shopsim.chat import ChatError
from shopsim.pipeline.annotate.errors import AnnotationStoppedError

__all__ = ["Refusal", "judge", "stopping"]

_LONGEST_PAUSE_SECONDS: Final = 600.0
"""A longer Retry-After is no minute-scale limit."""

_STOPPING: Final = {
    401: "The key is not accepted: check the environment variable that --key-variable names.",
    402: "The account has to be topped up.",
    403: "The account may not use this model, or has to be topped up.",
    404: "Check --base-url and --model.",
}
_MINUTE_LIMIT: Final = re.compile(
    r"\b[rt]pm\b|per[ _-]?min|(requests|tokens)/min|每分钟|分钟级", re.IGNORECASE
)
_LONG_LIMIT: Final = re.compile(
    r"\b[rti]p[hd]\b|per[ _-]?(hour|day|week|month)|\b(hour|dai|week|month)ly\b|/(hour|day)\b"
    r"|insufficient[ _]?(quota|balance|fund)|exceeded your current quota|billing"
    r"|每(个)?(小时|日|天|周|月)|(小时|日|天|当日|今日)(级)?(的)?(请求|调用)?(配额|额度|限额|上限)|余额不足|欠费",
    re.IGNORECASE,
)


class Refusal(Enum):
    """The kinds of errors, as the start of a sentence; each but the last two has retries of its own."""

    RATE = "refused for its rate"
    PASSING = "failed"
    BAD_ANSWER = "unusable"
    THIS_REQUEST = "refused"
    STOP = "stop"


def judge(error: ChatError) -> Refusal:
    """What ``error`` means. A 429 is about minutes unless it speaks of hours, days or money alone."""
    if error.status in _STOPPING:
        return Refusal.STOP
    if error.status == 429:
        return Refusal.STOP if _is_long(error) else Refusal.RATE
    if error.passing:
        return Refusal.PASSING
    return Refusal.BAD_ANSWER if error.status is None else Refusal.THIS_REQUEST


def stopping(error: ChatError) -> AnnotationStoppedError:
    """The error that ends the session, with its mend."""
    if error.status == 429:
        asked = f" (Retry-After {error.retry_after:,.0f} s)" if error.retry_after is not None else ""
        message = f"HTTP 429, a limit that no pause of minutes mends{asked}: {error.detail[:200]}"
        return AnnotationStoppedError(message, hint="Go on when the quota is there again.")
    return AnnotationStoppedError(str(error), hint=_STOPPING.get(error.status or 0))


def _is_long(error: ChatError) -> bool:
    if error.retry_after is not None and error.retry_after > _LONGEST_PAUSE_SECONDS:
        return True
    said = _readable(error.detail)
    return bool(_LONG_LIMIT.search(said)) and not _MINUTE_LIMIT.search(said)


def _readable(detail: str) -> str:
    """The body with its escapes undone (Chinese often comes as \\uXXXX), and words of names apart."""
    with suppress(ValueError, RecursionError):
        detail = json.dumps(json.loads(detail), ensure_ascii=False)
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", detail)
