"""The trace lake: recorded runs found, ingested into Parquet and queried with DuckDB.

Where to look: ``discovery`` finds runs, ``runfiles`` reads manifest and summary, ``published`` the bundle. A
trace goes through ``source`` (what is new?), ``stage`` (lines to records: ``whole`` for a large file,
``reader`` batch by batch, ``doubtful`` for what only Python reads right), ``segment`` (records to Parquet),
``commit`` and ``catalogue`` (what counts). ``store`` puts it together, ``database`` opens the views and
``summary`` computes spec 04 A. What each table holds stands in ``dashboard/queries/ingest_*.sql``.

>>> lake = Lake([Path("runs")], Path(".shopsim/lake"))      # doctest: +SKIP
>>> lake.refresh().version                                   # doctest: +SKIP
>>> lake.query("runs")                                       # doctest: +SKIP
"""

from __future__ import annotations

from dashboard.lake.errors import LakeError
from dashboard.lake.store import Lake, LakeState

__all__ = ["Lake", "LakeError", "LakeState"]
