"""Results that all sessions share: computed once for the very same arguments, as long as the data stay.

Analyses and charts are pure functions: their result depends on their arguments alone. So one result serves
every session that looks at the same thing, and a page run costs what it draws, not what it works out::

    rows = data.rows("reward_components", run_ids=chosen)      # the same object for every session
    components = data.shared(component_rows, rows)             # computed by whoever comes first

Arguments count as the same when they are equal plain values (numbers, texts, paths, frozen dataclasses, and
lists, tuples, sets and mappings of such), or when they are the very same object (frames). Hence nothing can
be forgotten in a key. Results are shared: never change one.

This module knows neither Streamlit nor the lake; :mod:`dashboard.ui.refreshed` keeps one :class:`Shared` for
each state of each workspace's data and drops it when the data change.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Set
from typing import Any, Final, ParamSpec, TypeVar, cast

import pandas as pd

__all__ = ["MOST_BYTES", "MOST_ENTRIES", "Shared", "weight"]

P = ParamSpec("P")
T = TypeVar("T")

MOST_ENTRIES: Final = 5000
MOST_BYTES: Final = 256 * (1 << 20)
_LEAST_BYTES: Final = 500


class Shared:
    """Results of pure functions, the least recently used ones dropped first. Safe for several threads.

    Holds at most ``most_entries`` results of about ``most_bytes`` together. Who asks for what another thread
    is computing waits for it instead of computing it too.
    """

    def __init__(self, *, most_entries: int = MOST_ENTRIES, most_bytes: int = MOST_BYTES) -> None:
        self._most_entries = most_entries
        self._most_bytes = most_bytes
        self._bytes = 0
        self._lock = threading.Lock()
        self._known: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._computing: dict[Hashable, threading.Event] = {}

    def __call__(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """``function(*args, **kwargs)``, computed once for these arguments.

        What the function raises is raised here and not remembered.
        """
        key = (function, tuple(map(_key, args)), tuple((k, _key(v)) for k, v in sorted(kwargs.items())))
        return cast(T, self._get(key, lambda: function(*args, **kwargs)))

    def __len__(self) -> int:
        """How many results are held."""
        return len(self._known)

    @property
    def bytes(self) -> int:
        """About how many bytes the held results take."""
        return self._bytes

    def _get(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        while True:
            with self._lock:
                if key in self._known:
                    self._known.move_to_end(key)
                    return self._known[key][0]
                other = self._computing.get(key)
                if other is None:
                    mine = self._computing[key] = threading.Event()
                    break
            other.wait()  # it may fail or be stopped: then this thread tries itself
        try:
            value = compute()
            self._keep(key, value)
            return value
        finally:
            with self._lock:
                del self._computing[key]
            mine.set()

    def _keep(self, key: Hashable, value: Any) -> None:
        size = weight(value)
        with self._lock:
            self._known[key] = (value, size)
            self._bytes += size
            while len(self._known) > 1 and (
                len(self._known) > self._most_entries or self._bytes > self._most_bytes
            ):
                self._bytes -= self._known.popitem(last=False)[1][1]


class _Same:
    """An argument that is the same only as itself. Holds it weakly: a key keeps no frame alive."""

    __slots__ = ("_get", "_id")

    def __init__(self, value: object) -> None:
        self._id = id(value)
        try:
            self._get: Callable[[], object] = weakref.ref(value)
        except TypeError:  # cannot be referred to weakly
            self._get = lambda: value

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        value = self._get()
        return isinstance(other, _Same) and value is not None and value is other._get()


def _key(value: object) -> Hashable:
    """What stands for an argument in a key. Types are part of it: 1, 1.0 and True are different arguments."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return (type(value), tuple(map(_key, value)))
    if isinstance(value, Mapping):
        return (type(value), tuple((_key(name), _key(part)) for name, part in value.items()))
    if isinstance(value, Set):
        return (type(value), frozenset(map(_key, value)))
    try:
        hash(value)
    except TypeError:
        return _Same(value)
    return (type(value), value)


def weight(value: object) -> int:
    """About how many bytes ``value`` takes, its parts included (texts in object columns are not seen)."""
    if isinstance(value, pd.DataFrame):
        return int(value.memory_usage().sum()) + _LEAST_BYTES
    if isinstance(value, pd.Series | pd.Index):
        return int(value.memory_usage()) + _LEAST_BYTES
    if isinstance(value, str | bytes):
        return len(value) + 50
    if isinstance(value, list | tuple | Set):
        return 60 + sum(map(weight, value))
    if isinstance(value, Mapping):
        return 60 + sum(weight(name) + weight(part) for name, part in value.items())
    return int(getattr(value, "nbytes", _LEAST_BYTES))
