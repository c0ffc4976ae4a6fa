"""The trace lake: recorded runs found, ingested into Parquet and queried with DuckDB.

>>> lake = Lake([Path("runs")], Path(".shopsim/lake"))      # doctest: +SKIP
>>> lake.refresh().version                                   # doctest: +SKIP
>>> lake.query("runs")                                       # doctest: +SKIP
"""

from __future__ import annotations

from dashboard.lake.errors import LakeError
from dashboard.lake.store import Lake, LakeState

__all__ = ["Lake", "LakeError", "LakeState"]
