"""Finding conversation runs, keeping them apart from evaluation runs, and reading only what changed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from dashboard.lake import Lake
from dashboard.lake import conversations as room
from dashboard.lake.conversations import Conversations
from dashboard.lake.errors import LakeError
from dashboard.lake.training import Training
from tests.factories.rlve_review import conversation, sample_conversations, write_conversations
from tests.factories.traces import sample_run


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "runs"


def opened(runs: Path) -> Conversations:
    return Conversations([runs], runs.parent / "lake")


def test_both_families_side_by_side(runs: Path) -> None:
    sample_run(runs / "shop", tasks=3)
    write_conversations(runs / "team" / "talk", sample_conversations(6))
    lake = Lake([runs], runs.parent / "lake")
    assert lake.refresh().problems == () and list(lake.query("runs")["run_id"]) == ["shop"]
    assert Training([runs], runs.parent / "lake").refresh().sources == ()
    assert opened(runs).refresh().run_ids == ("team/talk",)


def test_two_roots_may_hold_runs_of_one_name_and_links_count_once(runs: Path, tmp_path: Path) -> None:
    write_conversations(runs / "talk", sample_conversations(3))
    write_conversations(tmp_path / "more" / "talk", sample_conversations(3))
    (runs / "again").symlink_to(runs / "talk")
    lake = Conversations([runs, tmp_path / "more"], tmp_path / "lake")
    assert lake.refresh().run_ids == ("talk", "more:talk")


def test_what_files_hold_beside_figures_is_counted(runs: Path) -> None:
    foreign, silent, nameless = (conversation(number) for number in (1, 2, 3))
    foreign["schema_version"] = "ecomrlve-episode-v9"
    del silent["end"]["reward"]
    del nameless["episode"]
    run = write_conversations(runs / "talk", [conversation(0), foreign, silent, nameless, conversation(0)])
    with (run / "rlve_episodes.jsonl").open("ab") as file:
        file.write(b'[]\n\n{"episode_id": "\xff"}\n{"episode_id": "torn')
    lake = opened(runs)
    row = lake.query("conversation_runs").iloc[0]
    counts = [
        "records",
        "unique_episodes",
        "duplicate_records",
        "invalid_lines",
        "complete",
        "counted",
        "unnumbered",
    ]
    assert [row[name] for name in counts] == [5, 4, 1, 3, 3, 2, 1]
    assert [line.reason.split(" (")[0] for line in lake.invalid_lines("talk")] == [
        "not a JSON object",
        "not valid UTF-8",
        "torn last line",
    ]


def test_the_last_valid_record_of_an_episode_wins(runs: Path) -> None:
    write_conversations(runs / "talk", [conversation(0, correct=False), conversation(0)])
    lake = opened(runs)
    found = lake.query("conversation_levels", run_ids=["talk"])
    assert found[["n", "passes"]].to_numpy().tolist() == [[1, 1]]
    assert lake.episode_record("talk", "episode-000000")["end"]["correct"] is True
    with pytest.raises(LakeError, match="no record of episode"):
        lake.episode_record("talk", "episode-000009")


def test_damaged_manifests_and_curricula_are_problems_of_their_run(runs: Path) -> None:
    run = write_conversations(runs / "talk", sample_conversations(3))
    (run / "rlve_manifest.json").write_text("{nothing", encoding="utf-8")
    (run / "rlve_curriculum.json").write_text("{}", encoding="utf-8")
    alone = write_conversations(runs / "alone", sample_conversations(3))
    (alone / "rlve_manifest.json").unlink()
    rows = opened(runs).query("conversation_runs").set_index("run_id")
    assert "rlve_manifest.json" in rows.at["talk", "problems"][0]
    assert "schema_version" in rows.at["talk", "problems"][1]
    assert "missing" in rows.at["alone", "problems"][0]
    assert rows["counted"].tolist() == [3, 3]


def test_only_what_changed_is_read_and_only_from_where_it_grew(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = write_conversations(runs / "a", sample_conversations(4))
    write_conversations(runs / "b", sample_conversations(4))
    read: list[tuple[str, int]] = []
    real = room.read_episodes_file

    def counting(path: Path, size: int, known: object = None) -> object:
        read.append((path.parent.name, 0 if known is None else known.settled))  # type: ignore[attr-defined]
        return real(path, size, known)  # type: ignore[arg-type]

    monkeypatch.setattr(room, "read_episodes_file", counting)
    lake = opened(runs)
    before = lake.refresh()
    assert read == [("a", 0), ("b", 0)] and lake.refresh() is before
    size = (first / "rlve_episodes.jsonl").stat().st_size
    with (first / "rlve_episodes.jsonl").open("ab") as file:
        file.write(json.dumps(conversation(9)).encode() + b"\n")
    after = lake.refresh()
    assert read[2:] == [("a", size)] and after.version != before.version
    assert lake.query("conversation_runs")["counted"].tolist() == [5, 4]
    again = opened(runs)  # another process: everything is in the cache
    assert again.refresh().version == after.version and len(read) == 3


def test_a_rewritten_file_is_read_from_its_beginning(runs: Path) -> None:
    run = write_conversations(runs / "talk", sample_conversations(8))
    lake = opened(runs)
    lake.refresh()
    path = run / "rlve_episodes.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[7], *lines[1:]]))  # of the same inode, and no shorter
    os.utime(path, ns=(1, 1))
    assert lake.query("conversation_runs")["unique_episodes"].tolist() == [8]
    lake.refresh()
    assert lake.query("conversation_runs")["unique_episodes"].tolist() == [7]
    path.write_bytes(
        path.read_bytes().replace(b'"episode-000004"', b'"episode-000005"', 1)
    )  # of the same size
    os.utime(path, ns=(2, 2))
    lake.refresh()
    assert lake.query("conversation_runs")["unique_episodes"].tolist() == [6]


def test_a_cache_that_cannot_be_written_costs_time_only(runs: Path, tmp_path: Path) -> None:
    write_conversations(runs / "talk", sample_conversations(3))
    (tmp_path / "file").write_text("", encoding="utf-8")
    lake = Conversations([runs], tmp_path / "file" / "lake")
    assert lake.query("conversation_runs")["counted"].tolist() == [3]


def test_no_run_at_all(runs: Path) -> None:
    lake = opened(runs)
    assert lake.refresh().run_ids == () and lake.query("conversation_runs").empty
