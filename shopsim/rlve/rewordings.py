"""What a language model made of the user's texts: noted while an episode runs, said again in its replay."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shopsim.rlve.user import UserAct
    from shopsim.rlve.user.simulator import Verbaliser

__all__ = ["NotingVerbaliser", "RecordedVerbaliser"]


class NotingVerbaliser:
    """Passes on to ``inner`` and keeps what it answered in :attr:`texts`."""

    def __init__(self, inner: Verbaliser) -> None:
        self.texts: list[str] = []
        self._inner = inner

    def rewrite(self, text: str, act: UserAct) -> str:
        """See :class:`~shopsim.rlve.user.simulator.Verbaliser`."""
        self.texts.append(self._inner.rewrite(text, act))
        return self.texts[-1]


class RecordedVerbaliser:
    """Answers with recorded texts, in order; the text itself when the record has no more."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = iter(tuple(texts))

    def rewrite(self, text: str, act: UserAct) -> str:
        """See :class:`~shopsim.rlve.user.simulator.Verbaliser`."""
        return next(self._texts, text)
