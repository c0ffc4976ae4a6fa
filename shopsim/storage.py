"""Writing that the file system refuses (full, read-only, over a quota), said in one line with the mend."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from shopsim.errors import ShopSimError

__all__ = ["FREE_SPACE", "StorageError", "is_out_of_space", "storing"]

FREE_SPACE: Final = "Free space there, or use another folder."
_OUT_OF_SPACE: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})


class StorageError(ShopSimError):
    """A file could not be written."""

    code = "storage"
    http_status = 507


def is_out_of_space(error: OSError) -> bool:
    """Whether the place is full, over its quota or its largest file size, or read-only."""
    return error.errno in _OUT_OF_SPACE


@contextmanager
def storing(place: Path, *, hint: str = FREE_SPACE) -> Iterator[None]:
    """Raise :class:`StorageError` about ``place`` when writing inside fails; ``hint`` is the mend."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{place}: cannot be written ({error.strerror or error})", hint=hint) from None
