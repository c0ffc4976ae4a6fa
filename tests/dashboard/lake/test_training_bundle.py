"""What a published bundle tells of training: the real one, and ones with parts missing or damaged."""

from __future__ import annotations

import csv
import math
import shutil
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.lake.training import Training
from dashboard.lake.training_bundle import STEP_COLUMNS, bundle_stamps, read_bundle
from dashboard.lake.training_csv import CsvColumns, read_csv
from tests.factories.training import curriculum, write_json_file

PUBLISHED = Path(__file__).parents[4] / "shared" / "published" / "artifacts"
published = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason="the published bundle is not beside the project"
)


@published
def test_the_published_steps_cell_by_cell() -> None:
    with (PUBLISHED / "analysis" / "training_steps.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    bundle = read_bundle(PUBLISHED)
    assert bundle.problems == [] and len(bundle.steps) == len(rows) == 80 and len(rows[0]) == 64
    for name, (here, _) in STEP_COLUMNS.columns.items():
        told = [math.nan if row[name] == "" else float(row[name]) for row in rows]
        assert bundle.steps[here].astype("float64").to_list() == pytest.approx(told, nan_ok=True), name
    chunks = {name.split("/")[3] for name in rows[0] if name.startswith("rollout/shopsim/chunk/")}
    told = {}
    for row in rows:
        for chunk in chunks:
            cells = [
                row[f"rollout/shopsim/chunk/{chunk}/{part}"] for part in ("inclusion_rate", "target_rho")
            ]
            if any(cells):
                told[int(row["step"]), chunk] = tuple(float(cell) for cell in cells)
    found = {
        (int(row.step), row.chunk_id): (row.inclusion_rate, row.target_rho)
        for row in bundle.chunks.itertuples()
    }
    assert found == told and len(told) == 600


@published
def test_the_other_published_files() -> None:
    bundle = read_bundle(PUBLISHED)
    assert bundle.rounds["groups"].tolist() == [640] * 4
    assert bundle.rounds["all_wrong_groups"].tolist() == [104, 57, 54, 39]
    assert len(bundle.contributions) == 52 and (bundle.contributions["status"] == "selected").sum() == 28
    assert len(bundle.optimiser) == 160 and bundle.optimiser["grad_norm"].notna().all()
    assert bundle.gates["round"].tolist() == [0, 1, 2, 3]
    assert bundle.gates["success_rate"].tolist() == [0.775, 0.8275, 0.87, 0.8675]
    assert bundle.groups.empty
    (told,) = bundle.curricula
    assert told.round == 1 and told.q == 0.2 and len(told.chunks) == 7
    rho = {chunk.chunk_id: chunk.rho for chunk in told.chunks}
    steps = bundle.chunks[(bundle.chunks["round"] == 1)].groupby("chunk_id")["target_rho"].first()
    assert steps.to_dict() == pytest.approx(rho)


def small_bundle(folder: Path) -> Path:
    analysis = folder / "analysis"
    analysis.mkdir(parents=True)
    (analysis / "training_steps.csv").write_text(
        "step,round,rollout/shopsim/reward_mean,rollout/shopsim/chunk/a/inclusion_rate\n"
        "1,0,0.5,0.25\n"
        "2,0,,\n"
        "3,0,nan,oops\n"
        "4,0,high,inf\n"
        ",0,0.5,\n"
        "5,0,0.5\n"
    )
    return folder


def test_missing_columns_and_odd_cells_are_told_and_not_recorded(tmp_path: Path) -> None:
    bundle = read_bundle(small_bundle(tmp_path / "bundle"))
    assert bundle.steps["step"].tolist() == [1, 2, 3, 4, 5]
    rewards = bundle.steps["reward_mean"].tolist()
    assert rewards == pytest.approx([0.5, math.nan, math.nan, math.nan, 0.5], nan_ok=True)
    assert bundle.steps["success_rate"].isna().all() and next(iter(bundle.steps)) == "step"
    assert bundle.chunks[["step", "inclusion_rate"]].to_numpy().tolist() == [[1, 0.25]]
    path = tmp_path / "bundle" / "analysis" / "training_steps.csv"
    assert bundle.problems == [
        f"{path}: row 7: 3 cells, the header has 4",
        f"{path}: without the columns rollout/shopsim/group_count, rollout/shopsim/trajectory_count, "
        "rollout/shopsim/scored_rate …; what they would tell is not recorded",
        f"{path}: row 6: no valid step; left out",
        f"{path}: row 5: rollout/shopsim/reward_mean: 'high' is no finite number",
    ]
    for table in (bundle.rounds, bundle.contributions, bundle.optimiser, bundle.groups, bundle.gates):
        assert table.empty


def test_contributions_of_the_gates_fill_in_for_the_file(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    (bundle / "analysis").mkdir(parents=True)
    header = "round,intervention_id,kind,logical_chunk_id,operation,order,coefficient,rank,status\n"
    (bundle / "analysis" / "chunk_contributions.csv").write_text(header + "0,a,current,a,,1,0.5,1,selected\n")
    entry = {"intervention_id": "b", "coefficient": -0.25, "rank": 2, "status": "retired"}
    for number in (0, 1):
        write_json_file(
            bundle / f"round-{number:03d}" / "gate" / "contributions.json", {"contributions": [entry, 5]}
        )
    write_json_file(bundle / "round-002" / "gate" / "contributions.json", {"x": 1})
    (bundle / "round-003" / "gate").mkdir(parents=True)
    (bundle / "round-003" / "gate" / "summary.json").write_text("{")
    (bundle / "round-003" / "curriculum.json").write_text('{"schema_version": "other", "chunks": 3}')
    told = read_bundle(bundle)
    rows = told.contributions
    assert rows[["round", "intervention_id", "coefficient"]].to_numpy().tolist() == [
        [0, "a", 0.5],
        [1, "b", -0.25],
    ]
    assert [problem.rpartition("/")[2].split(":")[0] for problem in told.problems] == [
        "contributions.json",
        "summary.json",
        "curriculum.json",
        "curriculum.json",
    ]
    assert told.curricula[0].round == 3 and told.curricula[0].chunks == ()


def test_a_bundle_is_a_source_and_followed(tmp_path: Path) -> None:
    bundle = small_bundle(tmp_path / "runs" / "published")
    training = Training([tmp_path / "runs"], tmp_path / "lake")
    assert [(source.key, source.bundle) for source in training.state.sources] == [("published", True)]
    version, stamps = training.state.version, bundle_stamps(bundle)
    training.refresh()
    assert training.state.version == version
    write_json_file(bundle / "round-000" / "curriculum.json", curriculum({"a": 0.5}))
    assert bundle_stamps(bundle) != stamps
    training.refresh()
    assert training.state.version != version
    assert [c.round for c in training.bundle("published").curricula] == [0]
    shutil.rmtree(bundle)
    assert training.refresh().sources == ()


@settings(max_examples=30, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.one_of(
                st.integers(-3, 10**17).map(str), st.sampled_from(["", " 7 ", "1.0", "1.5", "x", "nan"])
            ),
            st.one_of(
                st.floats(allow_nan=True, allow_infinity=True).map(repr),
                st.sampled_from(["", "-", "1e400", "0x10", "1_0", "٣"]),
            ),
            st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12),
        ),
        max_size=8,
    )
)
def test_any_table_is_read_like_pythons_csv(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, ...]]
) -> None:
    path = tmp_path_factory.mktemp("csv") / "any.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("id", "value", "name"), *rows])
    declared = CsvColumns(
        {"id": ("id", "whole"), "value": ("value", "number"), "name": ("name", "text")}, ("id",)
    )
    problems: list[str] = []
    table = read_csv(path, declared, problems).frame
    expected = []
    for row in rows:
        cells = [number(row[0]), number(row[1]), row[2].strip() or None]
        whole = cells[0] is not None and cells[0] == int(cells[0]) and abs(cells[0]) < 2**53
        if whole:
            expected.append(cells)
    assert len(table) == len(expected)
    for found, told in zip(table.to_dict("records"), expected, strict=True):
        assert found["id"] == told[0]
        assert found["value"] == told[1] or (told[1] is None and pd.isna(found["value"]))
        assert found["name"] == told[2] or (told[2] is None and pd.isna(found["name"]))


def number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
