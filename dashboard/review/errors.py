"""What can go wrong with reviews, said in one line."""

from __future__ import annotations

from shopsim.errors import ShopSimError

__all__ = ["ConflictError", "ExportError", "ReviewError", "TaxonomyError"]


class ReviewError(ShopSimError):
    """The review database cannot be read or written, or a verdict is not acceptable."""

    code = "review"


class ConflictError(ReviewError):
    """The verdict was changed elsewhere since it was read; nothing was written.

    ``event_id`` is the event that stands now.
    """

    code = "review_conflict"
    http_status = 409

    def __init__(self, event_id: int) -> None:
        super().__init__(
            "this verdict was changed elsewhere meanwhile; nothing was saved",
            hint="Read what stands now, then decide again.",
        )
        self.event_id = event_id


class TaxonomyError(ReviewError):
    """The file with the labels is missing or holds a wrong value."""

    code = "taxonomy"
    exit_code = 2


class ExportError(ReviewError):
    """There is nothing to export, or a recorded episode cannot be exported."""

    code = "export"
