"""Full-text search over the runs' episodes: where the terms occur, how often, and the text around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from dashboard.lake import Lake
from dashboard.review.snippets import search_terms, snippet
from dashboard.review.text_index import Progress, index_files
from dashboard.review.texts import KINDS

__all__ = ["Found", "find_text", "show_hits"]

_COLUMNS = ["run_id", "episode_id", "task_id", "success", "kind", "position", "filename", "row_number"]


@dataclass(frozen=True, slots=True)
class Found:
    """All texts that hold every term, in the order of the runs, then by task, episode and step.

    ``hits``: ``run_id, episode_id, task_id, success, kind, position`` (step, 0: the whole episode) and where
    the text lies in the index.
    """

    terms: tuple[str, ...]
    hits: pd.DataFrame

    @property
    def episodes(self) -> int:
        """How many episodes have a hit."""
        return len(self.hits[["run_id", "episode_id"]].drop_duplicates())

    def by_kind(self) -> dict[str, int]:
        """Hits by kind of text, kinds without one left out."""
        counts = self.hits["kind"].value_counts()
        return {kind: int(counts[kind]) for kind in KINDS if kind in counts.index}

    def by_run(self) -> pd.DataFrame:
        """``run_id, hits, episodes, failed`` (episodes with a hit that did not succeed), runs with a hit."""
        groups = self.hits.groupby("run_id", sort=False)
        episodes = self.hits.drop_duplicates(["run_id", "episode_id"]).groupby("run_id", sort=False)
        failed = episodes["success"].agg(lambda values: int((~values.astype(bool)).sum()))
        table = pd.DataFrame({"hits": groups.size(), "episodes": episodes.size(), "failed": failed})
        return table.rename_axis("run_id").reset_index()


def find_text(
    lake: Lake,
    run_ids: Sequence[str],
    text: str,
    *,
    kinds: Sequence[str] = tuple(KINDS),
    outcome: str = "all",
    progress: Progress | None = None,
) -> Found:
    """Find the texts that hold every term of ``text`` (see :func:`~dashboard.review.snippets.search_terms`).

    ``kinds``: keys of :data:`~dashboard.review.texts.KINDS`; ``outcome``: that of the episodes, ``all``,
    ``success`` or ``failure``. The first search after a trace changed reads it (``progress``). Raises what
    :func:`~dashboard.review.text_index.index_files` raises.
    """
    terms = search_terms(text)
    files = index_files(lake, run_ids, progress) if terms else []
    if not files:
        return Found(tuple(terms), pd.DataFrame(columns=_COLUMNS))
    ordered = sorted(terms, key=len, reverse=True)  # the longest is the rarest
    hits = lake.query(
        "triage_text_find",
        files=[str(path) for path in files],
        first_term=ordered[0],
        terms=ordered[1:],
        kinds=[kind for kind in KINDS if kind in kinds],
        run_ids=list(run_ids),
        outcome=outcome,
    )
    return Found(tuple(terms), hits)


def show_hits(lake: Lake, found: Found, start: int, stop: int) -> list[list[tuple[str, bool]]]:
    """The text around the hits ``start`` to ``stop``, as :func:`~dashboard.review.snippets.snippet` gives it.

    A text whose file was replaced meanwhile is empty.
    """
    part = found.hits.iloc[start:stop]
    names = [str(name) for name in part["filename"]]
    rows = [int(row) for row in part["row_number"]]
    files = sorted({name for name in names if Path(name).is_file()})
    texts: dict[tuple[str, int], str] = {}
    if files:
        shown = lake.query("triage_text_show", files=files, names=names, rows=rows)
        texts = {
            (str(name), int(row)): str(text)
            for name, row, text in zip(shown["filename"], shown["row_number"], shown["text"], strict=True)
        }
    return [snippet(texts.get(key, ""), found.terms) for key in zip(names, rows, strict=True)]
