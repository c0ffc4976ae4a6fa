"""The one error root.

Every error that a user can mend derives from :class:`ShopSimError`: its message is one line that names
the file, line or field and says what to do. Rooms define their own subclasses next to the code that
raises them; process boundaries (command line, page, HTTP) catch the root and nothing wider.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = ["ShopSimError", "UsageError"]


class ShopSimError(Exception):
    """Root of all expected errors.

    ``code`` is stable and machine readable, ``http_status`` is what the HTTP service answers with and
    ``exit_code`` what a command exits with (1: it ran and found a problem, 2: it was called wrongly).
    """

    code: ClassVar[str] = "shopsim_error"
    http_status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        text = " ".join(message.split())
        if hint:
            text = f"{text.rstrip('.')}. {' '.join(hint.split())}"
        super().__init__(text)


class UsageError(ShopSimError):
    """A command or function was called with arguments that make no sense together."""

    code = "usage"
    http_status = 400
    exit_code = 2
