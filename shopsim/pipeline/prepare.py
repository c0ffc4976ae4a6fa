"""``shopsim prepare``: all steps in order, and nothing when everything is there and right (spec 05).

The building modules are imported only when there is something to build.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shopsim.errors import UsageError
from shopsim.pipeline import layout
from shopsim.pipeline.errors import PipelineError
from shopsim.pipeline.progress import Progress, silent
from shopsim.pipeline.report import PreparationReport
from shopsim.pipeline.source import Source, find_source, read_raw
from shopsim.pipeline.state import (
    GIVEN_UP,
    RAW_ARCHIVE,
    State,
    check_outputs,
    check_same_inputs,
    read_inputs,
    read_state,
)
from shopsim.search.weights import WEIGHTS_FOLDER, load_weights
from shopsim.settings import Settings
from shopsim.storage import FREE_SPACE, is_out_of_space

if TYPE_CHECKING:
    from shopsim.pipeline.dataset import Dataset

__all__ = ["prepare"]


def prepare(
    settings: Settings,
    force: bool = False,
    progress: Progress = silent,
    *,
    runtime_regex_task_ids: Sequence[int] | None = None,
) -> PreparationReport:
    """Make ``settings.prepared_dir`` hold the active catalogue, its manifests, splits and search index.

    ``force`` builds and replaces everything (never the sources). ``runtime_regex_task_ids`` gives up on the
    recorded budgets of these tasks; None means as before (none when forced). Raises
    :class:`~shopsim.errors.ShopSimError` with one line for a wrong source, a wrong prepared file, missing
    annotations, or split sizes that cannot be met; nothing has been written then.
    """
    try:
        return _prepare(settings, force, progress, runtime_regex_task_ids)
    except OSError as error:
        where = error.filename or settings.prepared_dir
        hint = f"{FREE_SPACE} What was there before stays." if is_out_of_space(error) else None
        raise PipelineError(f"{where}: cannot be read or written ({error.strerror})", hint=hint) from None


def _prepare(
    settings: Settings, force: bool, progress: Progress, task_ids: Sequence[int] | None
) -> PreparationReport:
    folder = settings.prepared_dir
    state = None if force else read_state(folder)
    source = find_source(settings)
    give_up = _give_up(task_ids, state, source)
    weights = load_weights(settings.search.weights, settings.path(str(WEIGHTS_FOLDER)))
    inputs = read_inputs(settings, weights, source.archive_sha256, source.annotations_sha256, give_up)
    if state is not None:
        if not source.cleaned and state.inputs.get(RAW_ARCHIVE) != source.archive_sha256:
            read_raw(source)  # a damaged archive is called that, not another one to prepare
        check_same_inputs(folder, state.inputs, inputs)
        right = check_outputs(folder, state.outputs)
        if len(right) == len(state.outputs):
            return PreparationReport(folder, state.outputs[layout.PRODUCTS], state.counts, (), right)
    from shopsim.pipeline.placing import Placing

    dataset = _build(settings, source, give_up, progress)
    return Placing(settings, weights, dataset, inputs, force, progress).run()


def _build(settings: Settings, source: Source, give_up: Sequence[int], progress: Progress) -> Dataset:
    if source.cleaned:
        from shopsim.pipeline.restore import restore_dataset

        return restore_dataset(settings.prepared_dir)
    from shopsim.pipeline.dataset import build_dataset

    return build_dataset(source, give_up, progress)


def _give_up(task_ids: Sequence[int] | None, state: State | None, source: Source) -> tuple[int, ...]:
    if task_ids is None:
        return tuple(state.inputs.get(GIVEN_UP, ())) if state is not None else ()
    if source.cleaned and task_ids:
        raise UsageError("--runtime-regex-task-id: needs the raw archive, and there is only a cleaned one")
    return tuple(sorted(set(task_ids)))
