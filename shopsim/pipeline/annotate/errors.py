"""Why asking stops: for one request, or for the whole session."""

from __future__ import annotations

from shopsim.errors import ShopSimError

__all__ = ["AllowanceUsedError", "AnnotationStoppedError", "SessionStoppedError", "UnansweredError"]


class AnnotationStoppedError(ShopSimError):
    """The session ended before everything was asked; what was answered is in the cache."""

    code = "annotation_stopped"


class UnansweredError(Exception):
    """One request has no usable answer after all its retries; the others go on. Holds the reason."""


class SessionStoppedError(Exception):
    """The session ends, so this request is not sent (again)."""


class AllowanceUsedError(Exception):
    """The session has sent as many requests as it may, so this one is not sent (again)."""
