"""From a raw archive to the active catalogue (spec 05): see :mod:`shopsim.pipeline.prepare`."""

from shopsim.pipeline.errors import PipelineError
from shopsim.pipeline.report import Counts, PreparationReport

__all__ = ["Counts", "PipelineError", "PreparationReport"]
