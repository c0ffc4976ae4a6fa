"""One writer a run folder: the lock of :mod:`shopsim.locking`, under the name that runs know it by."""

from shopsim.locking import RunLockedError, folder_lock

__all__ = ["RunLockedError", "folder_lock"]
