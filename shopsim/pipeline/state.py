"""``preparation.json``: what the prepared folder was built from, and the hash of every file in it.

It is written last, so a folder that has it was completed. With it a second preparation needs nothing but
hashing to know that there is nothing to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from shopsim.formats import (
    DATASET_SCHEMA,
    OPTION_DOCUMENT_VERSION,
    SEARCH_VERSION,
    SPLITS_SCHEMA,
    VARIANT_PRICE_VERSION,
)
from shopsim.jsonio import FileError, read_json, sha256_file, write_json
from shopsim.pipeline import layout
from shopsim.pipeline.errors import PipelineError
from shopsim.pipeline.report import Counts
from shopsim.search.weights import FieldWeights
from shopsim.settings import Settings

__all__ = [
    "GIVEN_UP",
    "RAW_ARCHIVE",
    "REPLACE",
    "Inputs",
    "State",
    "check_outputs",
    "check_same_inputs",
    "read_inputs",
    "read_state",
    "write_state",
    "wrong_hash",
]

STATE_SCHEMA: Final = "shopsim-preparation-v1"
REPLACE: Final = "Run `shopsim prepare --force` to replace it."

RAW_ARCHIVE: Final = "raw archive"
GIVEN_UP: Final = "runtime regex tasks"
_NEEDED: Final = (layout.ARCHIVE, layout.MANIFEST, layout.PRODUCTS, layout.SPLITS, layout.INDEX)

Inputs = Mapping[str, Any]
"""Everything that the outputs depend on, by name: hashes, settings, versions."""


@dataclass(frozen=True, slots=True)
class State:
    """The content of ``preparation.json``."""

    inputs: Inputs
    outputs: Mapping[str, str]
    counts: Counts


def read_inputs(
    settings: Settings,
    weights: FieldWeights,
    archive_sha256: str,
    annotations_sha256: str | None,
    give_up: tuple[int, ...],
) -> Inputs:
    """Collect the inputs of a preparation. ``give_up`` are the tasks left to the parser at run time."""
    return {
        RAW_ARCHIVE: archive_sha256,
        "annotations": annotations_sha256,
        GIVEN_UP: list(give_up),
        "split settings": settings.splits.model_dump(),
        "search weights": weights.as_mapping(),
        "dataset format": DATASET_SCHEMA,
        "splits format": SPLITS_SCHEMA,
        "price rules": VARIANT_PRICE_VERSION,
        "search version": SEARCH_VERSION,
        "option documents": OPTION_DOCUMENT_VERSION,
    }


def read_state(prepared_dir: Path) -> State | None:
    """Read ``preparation.json``; None when there is none. Raises :class:`PipelineError` when it is broken."""
    path = prepared_dir / layout.STATE
    if not path.exists():
        return None
    try:
        document = read_json(path)
    except FileError as error:
        raise PipelineError(str(error), hint=REPLACE) from None
    try:
        if document["schema_version"] != STATE_SCHEMA:
            raise PipelineError(f"{path}: schema_version must be {STATE_SCHEMA}", hint=REPLACE)
        outputs = {name: str(digest) for name, digest in document["outputs"].items()}
        if any(name not in outputs for name in _NEEDED):
            raise KeyError
        inputs = dict(document["inputs"])
        inputs[GIVEN_UP] = [int(task_id) for task_id in inputs[GIVEN_UP]]
        return State(inputs, outputs, Counts.from_wire(document["counts"]))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise PipelineError(f"{path}: is incomplete", hint=REPLACE) from None


def write_state(prepared_dir: Path, state: State) -> None:
    """Write ``preparation.json`` atomically."""
    document = {
        "schema_version": STATE_SCHEMA,
        "inputs": dict(state.inputs),
        "outputs": dict(state.outputs),
        "counts": state.counts.to_wire(),
    }
    write_json(prepared_dir / layout.STATE, document)


def check_same_inputs(prepared_dir: Path, recorded: Inputs, current: Inputs) -> None:
    """Raise :class:`PipelineError` naming the first input that is not the one of the prepared folder."""
    for name in current:
        if recorded.get(name) != current[name]:
            before, now = _short(recorded.get(name)), _short(current[name])
            raise PipelineError(
                f"{prepared_dir}: was prepared with {name} {before}, now it is {now}", hint=REPLACE
            )


def check_outputs(prepared_dir: Path, expected: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files that are there and have their ``expected`` SHA-256 (by name).

    Raises :class:`PipelineError` for the first that is there with another one; absent files are left out.
    """
    right = []
    for name, wanted in expected.items():
        path = prepared_dir / name
        if not path.exists():
            continue
        actual = sha256_file(path)
        if actual != wanted:
            raise wrong_hash(path, actual, wanted)
        right.append(name)
    return tuple(right)


def wrong_hash(path: Path, actual: str, wanted: str, hint: str = REPLACE) -> PipelineError:
    """The error for a file whose content is not the expected one."""
    return PipelineError(f"{path}: has SHA-256 {actual[:12]}, expected {wanted[:12]}", hint=hint)


def _short(value: object) -> str:
    text = str(value)
    return f"SHA-256 {text[:12]}" if isinstance(value, str) and len(text) == 64 else text
