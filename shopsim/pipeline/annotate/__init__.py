"""Step 3, the asking side: a language model annotates the budgets of persona tasks, for money (spec 05).

:func:`~shopsim.pipeline.annotate.stage.open_stage` gives a plan, which costs nothing, and runs it when told.
"""

from shopsim.pipeline.annotate.errors import AnnotationStoppedError
from shopsim.pipeline.annotate.stage import AnnotationRequest, Stage, open_stage

__all__ = ["AnnotationRequest", "AnnotationStoppedError", "Stage", "open_stage"]
