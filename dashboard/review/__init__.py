"""What reviewers say about episodes and tasks: labels, history, the queue, search, exports.

Needs no Streamlit. The parts of pages that use it are ``dashboard/ui/reviews.py`` (the store of the
workspace), ``verdict_panel.py`` (to be embedded anywhere) and the ``triage_*`` modules.
"""

from __future__ import annotations

from dashboard.review.errors import ConflictError, ExportError, ReviewError, TaxonomyError
from dashboard.review.store import ReviewStore
from dashboard.review.taxonomy import Label, Taxonomy, load_taxonomy, workspace_taxonomy
from dashboard.review.verdicts import SEVERITIES, Event, Target, Verdict, episode_target, task_target

__all__ = [
    "SEVERITIES",
    "ConflictError",
    "Event",
    "ExportError",
    "Label",
    "ReviewError",
    "ReviewStore",
    "Target",
    "Taxonomy",
    "TaxonomyError",
    "Verdict",
    "episode_target",
    "load_taxonomy",
    "task_target",
    "workspace_taxonomy",
]
