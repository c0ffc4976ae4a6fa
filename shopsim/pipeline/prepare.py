"""``shopsim prepare``: all steps in order, and nothing when everything is there and right (spec 05).

The building modules are imported only when there is something to build.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shopsim.errors import UsageError
from shopsim.jsonio import FileError, sha256_file
from shopsim.pipeline import layout
from shopsim.pipeline.errors import PipelineError
from shopsim.pipeline.progress import Progress, silent
from shopsim.pipeline.report import PreparationReport
from shopsim.pipeline.state import (
    GIVEN_UP,
    State,
    check_outputs,
    check_same_inputs,
    read_inputs,
    read_state,
)
from shopsim.search.weights import WEIGHTS_FOLDER, load_weights
from shopsim.settings import Settings

if TYPE_CHECKING:
    from shopsim.pipeline.dataset import Dataset

__all__ = ["prepare"]


@dataclass(frozen=True, slots=True)
class _Source:
    """Where the data comes from. ``archive`` is None when a cleaned archive is used as it is."""

    archive: Path | None
    archive_sha256: str
    annotations: Path
    annotations_sha256: str | None


def prepare(
    settings: Settings,
    force: bool = False,
    progress: Progress = silent,
    *,
    runtime_regex_task_ids: Sequence[int] | None = None,
) -> PreparationReport:
    """Make ``settings.prepared_dir`` hold the active catalogue, its manifests, splits and search index.

    ``force`` builds and replaces everything (never the sources). ``runtime_regex_task_ids`` gives up on the
    recorded budgets of these tasks; None means the same as the last time. Raises
    :class:`~shopsim.errors.ShopSimError` with one line for a wrong source, a wrong prepared file, missing
    annotations, or split sizes that cannot be met; nothing has been written then.
    """
    try:
        return _prepare(settings, force, progress, runtime_regex_task_ids)
    except OSError as error:
        where = error.filename or settings.prepared_dir
        raise PipelineError(f"{where}: cannot be read or written ({error.strerror})") from None


def _prepare(
    settings: Settings, force: bool, progress: Progress, task_ids: Sequence[int] | None
) -> PreparationReport:
    folder = settings.prepared_dir
    _refuse_to_overwrite(settings)
    state = None if force else read_state(folder)
    source = _find_source(settings)
    give_up = _give_up(task_ids, state, source)
    weights = load_weights(settings.search.weights, settings.path(str(WEIGHTS_FOLDER)))
    inputs = read_inputs(settings, weights, source.archive_sha256, source.annotations_sha256, give_up)
    if state is not None:
        check_same_inputs(folder, state.inputs, inputs)
        right = check_outputs(folder, state.outputs)
        if len(right) == len(state.outputs):
            return PreparationReport(folder, state.outputs[layout.PRODUCTS], state.counts, (), right)
    from shopsim.pipeline.placing import Placing

    dataset = _build(settings, source, give_up, progress)
    return Placing(settings, weights, dataset, inputs, force, progress).run()


def _build(settings: Settings, source: _Source, give_up: Sequence[int], progress: Progress) -> Dataset:
    if source.archive is None:
        from shopsim.pipeline.restore import restore_dataset

        return restore_dataset(settings.prepared_dir)
    from shopsim.pipeline.dataset import RawSource, build_dataset

    raw = RawSource(source.archive, source.archive_sha256, source.annotations, source.annotations_sha256)
    return build_dataset(raw, give_up, progress)


def _find_source(settings: Settings) -> _Source:
    """The raw archive; without one, the cleaned archive that lies in the prepared folder."""
    raw = settings.path(settings.corpus.raw_archive)
    annotations = settings.path(settings.corpus.annotations)
    if raw.is_file():
        recorded = sha256_file(annotations) if annotations.is_file() else None
        return _Source(raw, sha256_file(raw), annotations, recorded)
    folder = settings.prepared_dir
    if (folder / layout.ARCHIVE).is_file() and (folder / layout.MANIFEST).is_file():
        from shopsim.pipeline.restore import read_manifest

        manifest = read_manifest(folder)
        return _Source(None, manifest.source_sha256, annotations, manifest.annotations_sha256)
    raise FileError(
        f"{raw}: no such file", hint="Restore it, or set corpus.raw_archive in configs/shopsim.toml."
    )


def _refuse_to_overwrite(settings: Settings) -> None:
    outputs = {(settings.prepared_dir / name).resolve() for name in layout.EVERY_FILE}
    for relative in (settings.corpus.raw_archive, settings.corpus.annotations):
        path = settings.path(relative)
        if path.resolve() in outputs:
            raise UsageError(
                f"{path}: is both a source and a prepared file, and would be overwritten",
                hint="Set corpus.prepared_dir in configs/shopsim.toml to another folder.",
            )


def _give_up(task_ids: Sequence[int] | None, state: State | None, source: _Source) -> tuple[int, ...]:
    if task_ids is None:
        return tuple(state.inputs.get(GIVEN_UP, ())) if state is not None else ()
    if source.archive is None and task_ids:
        raise UsageError("--runtime-regex-task-id: needs the raw archive, and there is only a cleaned one")
    return tuple(sorted(set(task_ids)))
