"""Why episodes failed: the first stage that broke, exactly where the catalogue is at hand."""

from dashboard.analysis.diagnosis.frames import (
    DIAGNOSIS_COLUMNS,
    SolutionKey,
    diagnose_episodes,
    episodes_of_link,
    flow,
    found_by_trace,
    occurring_stages,
    of_run,
    share_table,
    stage_episodes,
    stage_shares,
)
from dashboard.analysis.diagnosis.rules import Diagnosis, Evidence, diagnose
from dashboard.analysis.diagnosis.stages import FUNNEL, STAGE_ORDER, STAGES, Stage

__all__ = [
    "DIAGNOSIS_COLUMNS",
    "FUNNEL",
    "STAGES",
    "STAGE_ORDER",
    "Diagnosis",
    "Evidence",
    "SolutionKey",
    "Stage",
    "diagnose",
    "diagnose_episodes",
    "episodes_of_link",
    "flow",
    "found_by_trace",
    "occurring_stages",
    "of_run",
    "share_table",
    "stage_episodes",
    "stage_shares",
]
