"""The registry of rules about recorded episodes, in the traces of a run and in the files of a round alike."""

from __future__ import annotations

from typing import Final, Protocol

import pandas as pd

from dashboard.analysis.audit.finding import Registry

__all__ = ["EPISODE_RULES", "RecordedEpisodes"]


class RecordedEpisodes(Protocol):
    """Facts with recorded episodes: ``complete`` are the complete ones of ``episodes``.

    The frames have the columns of :data:`~dashboard.analysis.audit.facts.EPISODE_COLUMNS`; rows of a round
    have ``file`` where those of a trace have ``line_offset``. ``records_file`` is what the records lie in,
    ``redo`` how to have an episode that failed.
    """

    @property
    def episodes(self) -> pd.DataFrame: ...

    @property
    def complete(self) -> pd.DataFrame: ...

    @property
    def records_file(self) -> str: ...

    @property
    def redo(self) -> str: ...


EPISODE_RULES: Final[Registry[RecordedEpisodes]] = Registry()
