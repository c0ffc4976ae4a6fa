"""What goes wrong between a raw archive and an active catalogue."""

from __future__ import annotations

from shopsim.errors import ShopSimError

__all__ = ["PipelineError"]


class PipelineError(ShopSimError):
    """A source, a recorded annotation or a prepared file is not what the pipeline needs (spec 05)."""

    code = "pipeline"
