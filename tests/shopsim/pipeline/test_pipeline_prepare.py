from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shopsim.catalog import load_corpus
from shopsim.errors import ShopSimError, UsageError
from shopsim.jsonio import sha256_file, write_json
from shopsim.pipeline import PipelineError, PreparationReport, layout
from shopsim.pipeline.prepare import prepare
from shopsim.search import SearchIndex
from shopsim.settings import CorpusSettings, Settings, SplitSettings
from shopsim.tasks.goals import build_goals
from shopsim.tasks.splits import load_splits
from tests.factories.raw_records import (
    annotation,
    annotations_for,
    price_axis,
    raw_records,
    standard_product,
    write_annotations,
    write_archive,
    write_raw,
)

ALL_BUT_STATE = set(layout.EVERY_FILE) - {layout.STATE}


def records() -> list[dict[str, Any]]:
    """Twelve products: eight persona tasks, three standard ones, one product with two price axes."""
    two_axes = {"颜色": price_axis(1, 2), "尺码": price_axis(3, 4)}
    return [*raw_records(11, persona=8), standard_product(11, customization_options=two_axes)]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return write_raw(tmp_path, records())


def snapshot(folder: Path) -> dict[str, str]:
    return {path.name: sha256_file(path) for path in sorted(folder.iterdir())}


def document(settings: Settings, name: str) -> Any:
    return json.loads((settings.prepared_dir / name).read_text("utf-8"))


def fails(settings: Settings, match: str, **arguments: Any) -> str:
    """Expect one clear line and an unchanged folder."""
    before = snapshot(settings.prepared_dir) if settings.prepared_dir.exists() else {}
    with pytest.raises(ShopSimError, match=match) as caught:
        prepare(settings, **arguments)
    after = snapshot(settings.prepared_dir) if settings.prepared_dir.exists() else {}
    assert after == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- what is written ---------------------------------------------------------------------------------------


def test_a_first_preparation_writes_everything(settings: Settings) -> None:
    report = prepare(settings)
    assert set(report.written) == ALL_BUT_STATE
    assert report.kept == ()
    assert {path.name for path in settings.prepared_dir.iterdir()} == set(layout.EVERY_FILE)
    counts = report.counts
    assert (counts.products_raw, counts.products_excluded, counts.products_active) == (12, 1, 11)
    assert (counts.tasks_raw, counts.tasks_excluded, counts.tasks_active) == (12, 1, 11)
    assert (counts.tasks_persona, counts.tasks_standard, counts.index_products) == (8, 3, 11)
    assert dict(counts.kinds) == {"hard_upper": 8}
    assert dict(counts.splits) == {"train": 4, "val": 2, "test": 2}
    assert sum(counts.exclusions.values()) == 1


def test_the_files_belong_together(settings: Settings) -> None:
    report = prepare(settings)
    folder = settings.prepared_dir
    manifest = document(settings, layout.MANIFEST)
    products = (folder / layout.PRODUCTS).read_bytes()
    assert gzip.decompress((folder / layout.ARCHIVE).read_bytes()) == products
    assert sha256_file(folder / layout.PRODUCTS) == report.product_data_sha256
    assert manifest["content"]["sha256"] == report.product_data_sha256
    assert manifest["archive"]["sha256"] == sha256_file(folder / layout.ARCHIVE)
    assert manifest["source"]["sha256"] == sha256_file(settings.path(settings.corpus.raw_archive))
    assert manifest["kinds"] == document(settings, layout.AUDIT)["kinds"] == {"hard_upper": 8}
    assert document(settings, layout.EXCLUSIONS)["exclusions"][0]["task_ids"] == [11]
    assert document(settings, layout.SPLITS)["product_data_sha256"] == report.product_data_sha256


def test_the_engine_reads_what_was_prepared(settings: Settings) -> None:
    report = prepare(settings)
    folder = settings.prepared_dir
    corpus = load_corpus(folder / layout.PRODUCTS, expected_sha256=report.product_data_sha256)
    goals = build_goals(corpus)
    assert goals.ids == tuple(range(11))
    assert (goals.get(3).price_upper, goals.get(3).price_upper_source) == (63.0, "annotated")
    assert goals.get(9).price_upper_source == "instruction"
    splits = load_splits(folder / layout.SPLITS)
    assert {name: len(splits.ids(name)) for name in splits.names} == {
        "train": 4,
        "val": 2,
        "test": 2,
        "all": 8,
    }
    with SearchIndex.open(folder / layout.INDEX, product_data_sha256=corpus.sha256) as index:
        assert "610000000004" in index.search("收纳盒 型号4")


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    folders = []
    for name in ("one", "two"):
        settings = write_raw(tmp_path / name, records())
        prepare(settings)
        folders.append(snapshot(settings.prepared_dir))
    assert folders[0] == folders[1]


def test_progress_sees_the_long_loops(settings: Settings) -> None:
    labels = []

    def watch(items: Any, *, label: str, total: int | None = None) -> Iterator[Any]:
        labels.append((label, total))
        yield from items

    prepare(settings, progress=watch)
    assert labels == [("clean products", 11), ("compress archive", 1), ("search index", 11)]


# --- nothing is done twice ---------------------------------------------------------------------------------


def test_a_second_preparation_does_nothing(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    first = prepare(settings)
    times = {path.name: path.stat().st_mtime_ns for path in settings.prepared_dir.iterdir()}
    monkeypatch.setattr("shopsim.pipeline.prepare._build", lambda *_: pytest.fail("built again"))
    second = prepare(settings)
    assert second.nothing_to_do
    assert set(second.kept) == ALL_BUT_STATE
    assert (second.counts, second.product_data_sha256) == (first.counts, first.product_data_sha256)
    assert {path.name: path.stat().st_mtime_ns for path in settings.prepared_dir.iterdir()} == times


@pytest.mark.parametrize("name", sorted(layout.EVERY_FILE))
def test_a_missing_file_comes_back_and_the_rest_is_kept(settings: Settings, name: str) -> None:
    prepare(settings)
    before = snapshot(settings.prepared_dir)
    (settings.prepared_dir / name).unlink()
    report = prepare(settings)
    assert set(report.written) == {name} - {layout.STATE}
    assert set(report.kept) == ALL_BUT_STATE - {name}
    assert snapshot(settings.prepared_dir) == before


@pytest.mark.parametrize("with_state", [True, False])
@pytest.mark.parametrize("name", sorted(ALL_BUT_STATE))
def test_a_wrong_file_stops_and_force_replaces_it(settings: Settings, name: str, with_state: bool) -> None:
    prepare(settings)
    before = snapshot(settings.prepared_dir)
    path = settings.prepared_dir / name
    path.write_bytes(path.read_bytes()[:-7] + b"changed")
    if name == layout.INDEX:
        path.write_bytes(path.read_bytes()[:5000])
    if not with_state:
        (settings.prepared_dir / layout.STATE).unlink()
    message = fails(settings, "shopsim prepare --force")
    assert message.startswith(f"{path}: ")
    if name != layout.INDEX or with_state:
        assert sha256_file(path)[:12] in message
        assert before[name][:12] in message
    report = prepare(settings, force=True)
    assert set(report.written) == ALL_BUT_STATE
    assert snapshot(settings.prepared_dir) == before


def test_an_index_with_other_weights_stops(settings: Settings) -> None:
    prepare(settings)
    (settings.prepared_dir / layout.STATE).unlink()
    other = settings.model_copy(update={"search": settings.search.model_copy(update={"weights": "uniform"})})
    fails(other, "other weights")


@pytest.mark.parametrize(
    ("what", "match"),
    [
        ("archive", "prepared with raw archive SHA-256 [0-9a-f]{12}, now it is SHA-256 [0-9a-f]{12}\\."),
        ("annotations", "prepared with annotations SHA-256 [0-9a-f]{12}, now it is"),
        ("splits", "prepared with split settings"),
        ("weights", "prepared with search weights"),
        ("give up", "prepared with runtime regex tasks"),
    ],
)
def test_another_input_stops_and_names_it(settings: Settings, what: str, match: str) -> None:
    prepare(settings)
    arguments: dict[str, Any] = {}
    if what == "archive":
        write_archive(settings.path(settings.corpus.raw_archive), records()[:-1])
    elif what == "annotations":
        answers = [annotation(number, kind="approximate_upper") for number in range(8)]
        write_annotations(settings.path(settings.corpus.annotations), answers)
    elif what == "splits":
        settings = settings.model_copy(update={"splits": SplitSettings(seed=2, val=2, test=2)})
    elif what == "weights":
        search = settings.search.model_copy(update={"weights": "uniform"})
        settings = settings.model_copy(update={"search": search})
    else:
        arguments = {"runtime_regex_task_ids": [3]}
    assert "shopsim prepare --force" in fails(settings, match, **arguments)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("{", "not valid JSON"),
        ("[]", "is incomplete"),
        ('{"schema_version": "old"}', "schema_version must be"),
        ('{"schema_version": "shopsim-preparation-v1"}', "is incomplete"),
    ],
)
def test_a_broken_state_file_stops_and_force_mends_it(settings: Settings, text: str, match: str) -> None:
    prepare(settings)
    (settings.prepared_dir / layout.STATE).write_text(text)
    assert "shopsim prepare --force" in fails(settings, match)
    prepare(settings, force=True)
    assert prepare(settings).nothing_to_do


# --- interruptions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("stop_at", sorted(ALL_BUT_STATE))
def test_an_interruption_leaves_whole_files_and_the_next_run_finishes(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, stop_at: str
) -> None:
    replace = Path.replace

    def interrupted(self: Path, target: Path) -> Path:
        if Path(target).name == stop_at:
            raise KeyboardInterrupt
        return replace(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            prepare(settings)
    left = snapshot(settings.prepared_dir)
    assert set(left) < ALL_BUT_STATE
    report = prepare(settings)
    assert set(report.kept) == set(left)
    assert left.items() <= snapshot(settings.prepared_dir).items()
    assert prepare(settings).nothing_to_do


def test_a_folder_that_cannot_be_written_is_one_line(settings: Settings) -> None:
    settings.prepared_dir.parent.mkdir(parents=True, exist_ok=True)
    settings.prepared_dir.write_text("a file in the way")
    with pytest.raises(PipelineError, match=r"prepared.*: cannot be read or written"):
        prepare(settings)


# --- wrong sources -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("prepared_before", [False, True])
def test_a_truncated_raw_archive_is_one_line(settings: Settings, prepared_before: bool) -> None:
    if prepared_before:
        prepare(settings)
    path = settings.path(settings.corpus.raw_archive)
    path.write_bytes(path.read_bytes()[:-20])
    message = fails(settings, "truncated or damaged gzip file")
    assert message.startswith(f"{path}: ")
    assert "Restore the raw archive" in message


def test_missing_sources_are_named(settings: Settings) -> None:
    settings.path(settings.corpus.annotations).unlink()
    fails(settings, r"price_annotations.jsonl: no such file")
    settings.path(settings.corpus.raw_archive).unlink()
    fails(settings, r"products.raw.json.gz: no such file")


def test_a_catalogue_without_personas_needs_no_annotations(tmp_path: Path) -> None:
    settings = write_raw(tmp_path, raw_records(3), val=0, test=0)
    settings.path(settings.corpus.annotations).unlink()
    report = prepare(settings)
    assert (report.counts.tasks_persona, report.counts.tasks_standard) == (0, 3)
    assert prepare(settings).nothing_to_do


def test_split_sizes_that_cannot_be_met(settings: Settings) -> None:
    wanted = settings.model_copy(update={"splits": SplitSettings(seed=1, val=2, test=9)})
    fails(wanted, "splits.test: 9 tasks wanted")


def test_a_missing_annotation_fails_unless_given_up_by_name(tmp_path: Path) -> None:
    answers = [entry for entry in annotations_for(records()) if entry["task_id"] != 3]
    settings = write_raw(tmp_path, records(), answers)
    fails(settings, r"no usable answer for 1 persona task\(s\): 3 \(instruction_simple\)")
    report = prepare(settings, runtime_regex_task_ids=[3])
    assert dict(report.counts.kinds) == {"hard_upper": 7, "runtime_regex_fallback": 1}
    assert document(settings, layout.MANIFEST)["annotations"]["runtime_regex_task_ids"] == [3]
    (entry,) = [task for task in document(settings, layout.AUDIT)["tasks"] if task["task_id"] == 3]
    assert (entry["price_upper"], entry["missing_stage"]) == (None, "instruction_simple")
    goals = build_goals(load_corpus(settings.prepared_dir / layout.PRODUCTS))
    assert (goals.get(3).price_upper, goals.get(3).price_upper_source) == (63.0, "instruction_simple")
    assert prepare(settings).nothing_to_do, "what was given up stays given up"


@pytest.mark.parametrize("field", ["raw_archive", "annotations"])
def test_a_source_is_never_overwritten(settings: Settings, field: str) -> None:
    inside = f"data/prepared/../prepared/{layout.PRODUCTS}"
    corpus = CorpusSettings(**{field: inside})
    path = settings.path(inside)
    settings.prepared_dir.mkdir(parents=True)
    write_json(path, records())
    with pytest.raises(UsageError, match="both a source and a prepared file"):
        prepare(settings.model_copy(update={"corpus": corpus}), force=True)
    assert json.loads(path.read_text("utf-8")) == records()


# --- only a cleaned archive --------------------------------------------------------------------------------


@pytest.fixture
def cleaned(settings: Settings) -> Settings:
    """A workspace with a cleaned archive and its manifest, and no raw one."""
    prepare(settings)
    settings.path(settings.corpus.raw_archive).unlink()
    for name in set(layout.EVERY_FILE) - {layout.ARCHIVE, layout.MANIFEST}:
        (settings.prepared_dir / name).unlink()
    return settings


def test_a_cleaned_archive_is_enough(settings: Settings) -> None:
    full: PreparationReport = prepare(settings)
    products = (settings.prepared_dir / layout.PRODUCTS).read_bytes()
    splits = document(settings, layout.SPLITS)
    settings.path(settings.corpus.raw_archive).unlink()
    assert prepare(settings).nothing_to_do
    for name in (layout.PRODUCTS, layout.SPLITS, layout.INDEX, layout.STATE):
        (settings.prepared_dir / name).unlink()
    report = prepare(settings)
    assert set(report.written) == {layout.PRODUCTS, layout.SPLITS, layout.INDEX}
    assert (settings.prepared_dir / layout.PRODUCTS).read_bytes() == products
    assert document(settings, layout.SPLITS) == splits
    assert report.counts == full.counts
    assert prepare(settings).nothing_to_do


def test_a_cleaned_archive_must_match_its_manifest(cleaned: Settings) -> None:
    path = cleaned.prepared_dir / layout.ARCHIVE
    good = path.read_bytes()
    path.write_bytes(good[:-10])
    assert sha256_file(path)[:12] in fails(cleaned, "has SHA-256 .*expected")
    manifest = document(cleaned, layout.MANIFEST)
    manifest["archive"]["sha256"] = sha256_file(path)
    write_json(cleaned.prepared_dir / layout.MANIFEST, manifest)
    fails(cleaned, "truncated or damaged gzip")
    path.write_bytes(good)
    manifest["archive"]["sha256"] = sha256_file(path)
    manifest["content"]["sha256"] = "0" * 64
    write_json(cleaned.prepared_dir / layout.MANIFEST, manifest)
    fails(cleaned, r"\(unpacked\): has SHA-256 .*expected 000000000000")


@pytest.mark.parametrize(
    ("manifest", "match"),
    [([], "not a dataset manifest"), ({}, "schema_version: missing"), ({"schema_version": "v0"}, "must be")],
)
def test_a_broken_manifest_is_one_line(cleaned: Settings, manifest: Any, match: str) -> None:
    write_json(cleaned.prepared_dir / layout.MANIFEST, manifest)
    fails(cleaned, match)


def test_giving_up_needs_the_raw_archive(cleaned: Settings) -> None:
    fails(cleaned, "needs the raw archive", runtime_regex_task_ids=[3])
