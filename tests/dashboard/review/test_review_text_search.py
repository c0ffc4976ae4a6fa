"""Full-text search against a plain reading of the same traces, and the index that keeps up with them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.lake import Lake
from dashboard.review import ReviewError
from dashboard.review.snippets import fold, search_terms, snippet
from dashboard.review.text_index import FORMAT, index_files
from dashboard.review.text_search import find_text, show_hits
from dashboard.review.texts import KINDS, episode_texts
from shopsim.rollout.trace import is_complete, read_records
from tests.factories.traces import Episode, episode_id, episode_record, sample_run, write_run

HOSTILE = "<script>alert(1)</script> **fett** 王\ud83d"


def thinking(record: dict[str, Any], *thoughts: str) -> dict[str, Any]:
    for step, thought in zip(record["steps"], thoughts, strict=False):
        step["model"]["reasoning"] = thought
    return record


def append(run: Path, *records: dict[str, Any]) -> None:
    with (run / "traces.jsonl").open("a", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record) + "\n")


def write_lines(run: Path, *lines: bytes) -> None:
    run.mkdir(parents=True, exist_ok=True)
    (run / "traces.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))


def plain(lake: Lake, run_ids: list[str], text: str, kinds: list[str], outcome: str = "all") -> Counter[Any]:
    """Hits by (run, episode, kind, step), read without index or database."""
    hits: Counter[Any] = Counter()
    for run_id in run_ids:
        for record in read_records(lake.run(run_id).path / "traces.jsonl").latest():
            final = record.get("final") or {}
            success = is_complete(record) and final["reward_detail"]["r_success"] == 1
            if outcome != "all" and success != (outcome == "success"):
                continue
            for part in episode_texts(record):
                if part.kind in kinds and all(term in fold(part.text) for term in search_terms(text)):
                    hits[run_id, record["episode_id"], part.kind, part.position] += 1
    return hits


def found(lake: Lake, run_ids: list[str], text: str, **options: Any) -> Counter[Any]:
    rows = find_text(lake, run_ids, text, **options).hits
    return Counter(zip(rows["run_id"], rows["episode_id"], rows["kind"], rows["position"], strict=True))


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    folder = tmp_path_factory.mktemp("search")
    sample_run(folder / "runs" / "run-a", tasks=12, seed=1)
    sample_run(folder / "runs" / "run-b", tasks=12, seed=2)
    first = thinking(episode_record(7), "先看６５Ｗ快充的", "Straße buy NOW")
    again = thinking(episode_record(7), "重新开始")
    failed = Episode(8).search("充电宝").fail().record()
    failed["error"] |= {"message": "connection reset by <peer>", "traceback": "Traceback: line 3"}
    write_run(folder / "runs" / "run-c", [first, episode_record(9, outcome="action_limit"), failed])
    append(folder / "runs" / "run-c", again, thinking(episode_record(11), "先看６５Ｗ快充的", HOSTILE))
    return Lake([folder / "runs"], folder / "lake")


RUNS = ["run-a", "run-b", "run-c"]


@pytest.mark.parametrize(
    "text",
    [
        "色",
        "月光白",
        "示例店",
        "65w快充",
        "STRASSE",
        "connection <peer>",
        '"reset by"',
        "unavailable_action",
        "missing_tool_call",
        "alert(1)",
        "王\ufffd",
        "找不到的东西 nothing",
        "%",
        "_",
    ],
)
def test_every_hit_and_no_other_is_found(lake: Lake, text: str) -> None:
    assert found(lake, RUNS, text) == plain(lake, RUNS, text, list(KINDS))


def test_hits_exist_in_every_kind(lake: Lake) -> None:
    assert find_text(lake, RUNS, "充电宝").by_kind() == {"query": 1}
    assert find_text(lake, RUNS, "65w").by_kind() == {"reasoning": 1}  # the replaced record does not count
    assert find_text(lake, RUNS, "connection").by_kind() == {"error": 1}
    assert "full" in find_text(lake, RUNS, "一百元以内").by_kind()


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.sampled_from(["月", "色", "号", "型号", "买", "xl", "１", "找", "的"]), min_size=1, max_size=3
    ),
    st.sets(st.sampled_from(list(KINDS)), min_size=1),
    st.sampled_from(["all", "success", "failure"]),
    st.sets(st.sampled_from(RUNS), min_size=1),
)
def test_search_equals_a_plain_reading(
    lake: Lake, words: list[str], kinds: set[str], outcome: str, runs: set[str]
) -> None:
    text, chosen = " ".join(words), sorted(runs)
    assert found(lake, chosen, text, kinds=list(kinds), outcome=outcome) == plain(
        lake, chosen, text, list(kinds), outcome
    )


def test_hits_are_ordered_and_counted(lake: Lake) -> None:
    told = find_text(lake, ["run-b", "run-a"], "月光白")
    assert list(dict.fromkeys(told.hits["run_id"])) == ["run-b", "run-a"]
    keys = list(zip(told.hits["task_id"], told.hits["position"], strict=True))
    split = int((told.hits["run_id"] == "run-b").sum())
    assert keys[:split] == sorted(keys[:split])
    for row in told.by_run().to_dict("records"):
        part = told.hits[told.hits["run_id"] == row["run_id"]]
        assert row["hits"] == len(part)
        assert row["episodes"] == part["episode_id"].nunique()
        failed = part[~part["success"].astype(bool)]
        assert row["failed"] == failed["episode_id"].nunique()
    assert told.episodes == sum(told.by_run()["episodes"])


def test_snippets_are_shown_as_recorded(lake: Lake) -> None:
    told = find_text(lake, RUNS, "alert(1)")
    pieces = show_hits(lake, told, 0, 5)
    assert len(pieces) == 1
    assert "".join(piece for piece, _ in pieces[0]) == HOSTILE.replace("\ud83d", "\ufffd")
    assert [piece for piece, hit in pieces[0] if hit] == ["alert(1)"]


def test_nothing_typed_reads_nothing(tmp_path: Path) -> None:
    sample_run(tmp_path / "runs" / "run-a", tasks=2)
    lake = Lake([tmp_path / "runs"], tmp_path / "lake")
    assert find_text(lake, ["run-a"], "  ").hits.empty
    assert find_text(lake, [], "x").hits.empty
    assert not (tmp_path / "lake" / FORMAT).exists()


class TestIndex:
    """The index reads each record once and follows what happens to the trace."""

    def lake(self, folder: Path) -> tuple[Lake, Path]:
        run = folder / "runs" / "run-a"
        write_run(run, [thinking(episode_record(k), f"想法{k}号") for k in range(4)])
        return Lake([folder / "runs"], folder / "lake"), run

    def read_bytes(self, lake: Lake) -> int:
        """How many bytes of traces bringing the index up to date reads."""
        read: list[int] = [0]
        index_files(lake, ["run-a"], lambda done, total: read.append(done))
        return max(read)

    def test_what_is_there_is_read_once(self, tmp_path: Path) -> None:
        lake, run = self.lake(tmp_path)
        size = (run / "traces.jsonl").stat().st_size
        assert self.read_bytes(lake) in (size, size - 4)
        assert self.read_bytes(lake) == 0
        other = Lake([tmp_path / "runs"], tmp_path / "lake")
        assert self.read_bytes(other) == 0

    def test_a_grown_trace_is_read_from_where_it_ended(self, tmp_path: Path) -> None:
        lake, run = self.lake(tmp_path)
        assert len(find_text(lake, ["run-a"], "想法").hits) == 4
        append(run, thinking(episode_record(4), "想法4号"), thinking(episode_record(0), "改了主意"))
        lake.refresh()
        added = sum(len(line) for line in (run / "traces.jsonl").read_bytes().splitlines(True)[-2:])
        assert 0 < self.read_bytes(lake) <= added
        assert found(lake, ["run-a"], "想法") == plain(lake, ["run-a"], "想法", list(KINDS))
        assert len(find_text(lake, ["run-a"], "想法").hits) == 4
        assert len(find_text(lake, ["run-a"], "改了主意").hits) == 1

    def test_many_small_growths_are_merged(self, tmp_path: Path) -> None:
        lake, run = self.lake(tmp_path)
        for number in range(4, 15):
            append(run, thinking(episode_record(number), f"想法{number}号"))
            lake.refresh()
            files = index_files(lake, ["run-a"])
            assert len(files) <= 9
        assert found(lake, ["run-a"], "想法") == plain(lake, ["run-a"], "想法", list(KINDS))

    def test_a_replaced_trace_is_read_anew(self, tmp_path: Path) -> None:
        lake, run = self.lake(tmp_path)
        assert len(find_text(lake, ["run-a"], "想法").hits) == 4
        text = (run / "traces.jsonl").read_text(encoding="utf-8")
        (run / "traces.jsonl").write_text(text.replace("想法", "念头"), encoding="utf-8")
        lake.refresh()
        assert find_text(lake, ["run-a"], "想法").hits.empty
        assert len(find_text(lake, ["run-a"], "念头").hits) == 4

    def test_a_shortened_trace_is_read_anew(self, tmp_path: Path) -> None:
        lake, run = self.lake(tmp_path)
        index_files(lake, ["run-a"])
        lines = (run / "traces.jsonl").read_bytes().splitlines(True)
        (run / "traces.jsonl").write_bytes(b"".join(lines[:2]))
        lake.refresh()
        assert len(find_text(lake, ["run-a"], "想法").hits) == 2

    def test_a_trace_replaced_behind_the_lake_gives_no_wrong_hit(self, tmp_path: Path) -> None:
        lake, run = self.lake(tmp_path)
        lake.refresh()
        lines = (run / "traces.jsonl").read_bytes().splitlines(True)
        (run / "traces.jsonl").write_bytes(b"".join(reversed(lines)))
        for row in find_text(lake, ["run-a"], "想法").hits.to_dict("records"):
            assert row["episode_id"] in {episode_id(k) for k in range(4)}
        lake.refresh()
        assert found(lake, ["run-a"], "想法") == plain(lake, ["run-a"], "想法", list(KINDS))

    def test_a_vanished_trace_is_no_error(self, tmp_path: Path) -> None:
        lake, run = self.lake(tmp_path)
        lake.refresh()
        (run / "traces.jsonl").unlink()
        assert find_text(lake, ["run-a"], "想法").hits.empty

    def test_a_broken_index_is_made_again(self, tmp_path: Path) -> None:
        lake, _ = self.lake(tmp_path)
        (part,) = index_files(lake, ["run-a"])
        (part.parent / "state.json").write_text("{", encoding="utf-8")
        assert len(find_text(lake, ["run-a"], "想法").hits) == 4
        for name in index_files(lake, ["run-a"]):
            name.unlink()
        assert len(find_text(lake, ["run-a"], "想法").hits) == 4

    def test_a_cache_that_cannot_be_written_is_told(self, tmp_path: Path) -> None:
        lake, _ = self.lake(tmp_path)
        lake.refresh()
        (tmp_path / "lake" / FORMAT).write_text("in the way", encoding="utf-8")
        with pytest.raises(ReviewError, match="text index cannot be made"):
            find_text(lake, ["run-a"], "想法")

    def test_dirt_in_a_trace_loses_no_text(self, tmp_path: Path) -> None:
        """Records that a strict JSON reader refuses are searched like any other (spec 04, reading rules)."""
        records = [thinking(episode_record(k), f"想法{k}号") for k in range(5)]
        nan = json.dumps(records[0] | {"duration_ms": float("nan")}).encode()
        surrogate = json.dumps(thinking(records[1], "想法1号\ud83d")).encode()
        twice = json.dumps(records[2]).encode()[:-1] + b', "status": "completed"}'
        mark = b"\xef\xbb\xbf" + json.dumps(records[3], ensure_ascii=False).encode() + b"\r"
        torn = json.dumps(records[4]).encode()[:-40]
        write_lines(tmp_path / "runs" / "run-a", mark, nan, b"no json", surrogate, b"", twice, torn)
        lake = Lake([tmp_path / "runs"], tmp_path / "lake")
        assert set(find_text(lake, ["run-a"], "想法").hits["episode_id"]) == {episode_id(k) for k in range(4)}
        assert found(lake, ["run-a"], "想法") == plain(lake, ["run-a"], "想法", list(KINDS))


def test_what_was_typed_is_read_as_words_and_phrases() -> None:
    assert search_terms("  充电宝  65Ｗ ") == ["充电宝", "65w"]
    assert search_terms('"Buy  Now" x') == ["buy  now", "x"]
    assert search_terms("“颜色 分类” y y") == ["颜色 分类", "y"]
    assert search_terms('"') == ['"']
    assert search_terms('""') == []


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=80), st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=3))
def test_a_snippet_is_a_piece_of_the_text(text: str, terms: list[str]) -> None:
    folded = [term for raw in terms if (term := fold(raw).strip())]
    pieces = snippet(text, folded, around=10, most=40)
    shown = "".join(piece for piece, _ in pieces).removeprefix("…").removesuffix("…")
    line = "".join(" " if character.isspace() else character for character in text)
    assert shown.removesuffix("…").strip() in line or shown in line
    for piece, hit in pieces:
        if hit:
            whole = fold(piece)
            assert any(term in whole or whole in term for term in folded)


def test_a_snippet_shows_the_first_hit_and_marks_all() -> None:
    text = "一" * 100 + "Straße\n和STRASSE" + "二" * 400
    pieces = snippet(text, ["strasse"], around=5, most=40)
    assert pieces[0] == ("…", False)
    assert [piece for piece, hit in pieces if hit] == ["Straße", "STRASSE"]
    assert pieces[1] == ("一" * 5, False)
    assert pieces[-1][0].endswith("…")
    assert snippet("abc", ["zzz"]) == [("abc", False)]
    assert snippet("ababa", ["aba", "bab"]) == [("ababa", True)]
