"""Exports: task lists for the runner, the very bytes of episodes, conversations without secrets, labels."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.lake import Lake
from dashboard.review import ExportError, ReviewStore, Verdict, episode_target, task_target
from dashboard.review.export import (
    chosen_episodes,
    episode_lines,
    label_rows,
    labels_csv,
    labels_jsonl,
    sft_lines,
    task_list,
)
from dashboard.review.export.sft import HELD_BACK, UNUSABLE, leaks, sft_example
from dashboard.review.queue import Filters
from shopsim.engine import open_engine
from shopsim.rollout.selection import read_task_ids, select_tasks
from shopsim.rollout.trace import read_records
from tests.factories.tiny_workspace import tiny_workspace
from tests.factories.traces import episode_record, sample_run, write_run

PRIVATE_KEYS = ("goal", "reward_detail", "final", "purchase", "reward", "user_persona", "price_upper")


def conversation(record: dict[str, Any]) -> dict[str, Any]:
    """The record with the conversation that its steps tell, as the runner writes it."""
    given = record["reset"]["task_instruction"]
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "你是购物助手", "cache_control": {"goal": "private"}},
        {"role": "user", "content": given},
    ]
    for step in record["steps"]:
        calls = [
            {
                "id": call["call_id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": call["raw_arguments"]},
            }
            for call in step["model"]["tool_calls"]
        ]
        messages.append({"role": "assistant", "content": None if calls else "好", "tool_calls": calls})
        answer = (step["environment"] or {}).get("observation") or step.get("protocol_feedback") or "-"
        messages += [{"role": "tool", "tool_call_id": call["id"], "content": answer} for call in calls]
        if not calls:
            messages.append({"role": "user", "content": answer})
        step["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": "click",
                    "description": "点击",
                    "parameters": {
                        "type": "object",
                        "properties": {"value": {"type": "string", "enum": ["a"]}},
                    },
                },
            }
        ]
    return record | {"conversation": messages}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    folder = tmp_path_factory.mktemp("export")
    sample_run(folder / "runs" / "run-a", tasks=12, seed=1)
    records = [conversation(episode_record(k)) for k in range(3)]
    for step in records[1]["steps"]:
        step["model"]["reasoning"] = f"目标商品一定是{records[1]['final']['goal']['asin']}"
    records.append(conversation(episode_record(5, outcome="wrong_option")))
    records.append(episode_record(6) | {"conversation": []})
    write_run(folder / "runs" / "run-b", records)
    write_run(folder / "runs" / "run-c", [episode_record(1)], environment={"product_data_sha256": "cc" * 32})
    write_run(folder / "runs" / "run-d", [episode_record(1)], environment={"product_data_sha256": "dd" * 32})
    return Lake([folder / "runs"], folder / "lake")


@pytest.fixture
def store(tmp_path: Path) -> ReviewStore:
    return ReviewStore(tmp_path / "reviews.sqlite")


def recorded(lake: Lake, run_id: str) -> dict[str, dict[str, Any]]:
    records = read_records(lake.run(run_id).path / "traces.jsonl").latest()
    return {record["episode_id"]: record for record in records}


def test_a_task_list_is_what_the_runner_takes(tmp_path: Path) -> None:
    """The tiny catalogue's own tasks, through the file and the runner's own selection."""
    settings = tiny_workspace(tmp_path / "workspace")
    write_run(tmp_path / "runs" / "run-a", [episode_record(k, outcome="failed") for k in (4, 0, 5)])
    lake = Lake([tmp_path / "runs"], tmp_path / "lake")
    chosen = chosen_episodes(lake, ReviewStore(tmp_path / "none"), ["run-a"], Filters())
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(task_list(chosen)), encoding="utf-8")
    assert sorted(read_task_ids(str(path))) == [0, 4, 5]
    with open_engine(settings) as engine:
        ids, split = select_tasks(engine, split="train", tasks=str(path))
    assert (sorted(ids), split) == ([0, 4, 5], "test")


def test_a_task_list_says_where_it_comes_from(lake: Lake, store: ReviewStore) -> None:
    told = task_list(chosen_episodes(lake, store, ["run-b", "run-c"], Filters("all")))
    assert sorted(told["task_ids"]) == [0, 1, 2, 5, 6]
    assert told["count"] == 5
    assert told["runs"] == ["run-b", "run-c"]
    assert told["product_data_sha256"] == "cc" * 32
    with pytest.raises(ExportError, match="different catalogues"):
        task_list(chosen_episodes(lake, store, ["run-c", "run-d"], Filters("all")))
    with pytest.raises(ExportError, match="no task"):
        task_list(chosen_episodes(lake, store, ["run-c"], Filters("failure")))


def test_labels_choose_episodes(lake: Lake, store: ReviewStore) -> None:
    row = chosen_episodes(lake, store, ["run-b"], Filters("all")).iloc[0]
    target = episode_target(row.run_id, row.episode_id, task_id=int(row.task_id), record=row.record)
    store.record(target, "Ann", Verdict(("good_example",)), expected=0)
    chosen = chosen_episodes(lake, store, ["run-a", "run-b"], Filters("all", label="good_example"))
    assert chosen["episode_id"].tolist() == [row.episode_id]
    by_task = chosen_episodes(lake, store, ["run-b"], Filters("all"), tasks=[2, 5])
    assert sorted(by_task["task_id"]) == [2, 5]


def test_episodes_are_the_recorded_bytes(tmp_path: Path, store: ReviewStore) -> None:
    """Any dirt of a valid line included; a replaced record and invalid lines are not exported."""
    records = [episode_record(k) for k in range(4)]
    lines = [
        b"\xef\xbb\xbf" + json.dumps(records[0], ensure_ascii=False).encode() + b"\r",
        json.dumps(episode_record(1, outcome="failed")).encode(),
        b"no json",
        json.dumps(records[1] | {"duration_ms": float("nan")}, separators=(", ", " : ")).encode(),
        json.dumps(records[2] | {"note": "\ud83d"}).encode(),
        json.dumps(records[3]).encode(),
    ]
    run = tmp_path / "runs" / "run-a"
    run.mkdir(parents=True)
    (run / "traces.jsonl").write_bytes(b"\n".join(lines))
    lake = Lake([tmp_path / "runs"], tmp_path / "lake")
    chosen = chosen_episodes(lake, store, ["run-a"], Filters("all"))
    expected = [lines[0], lines[3], lines[4], lines[5]]
    assert sorted(episode_lines(lake, chosen)) == sorted(line + b"\n" for line in expected)
    (run / "traces.jsonl").write_bytes(b"\n".join(reversed(lines)))
    with pytest.raises(ExportError, match="export again"):
        list(episode_lines(lake, chosen))
    (run / "traces.jsonl").unlink()
    with pytest.raises(ExportError, match="cannot be read"):
        list(episode_lines(lake, chosen))


def exported(lake: Lake, **options: Any) -> tuple[list[dict[str, Any]], Counter[str]]:
    skipped = Counter[str]()
    chosen = chosen_episodes(lake, ReviewStore(Path("none")), ["run-b"], Filters("all"))
    lines = list(sft_lines(lake, chosen, skipped=skipped, **options))
    return [json.loads(line) for line in lines], skipped


def test_conversations_of_successes_only(lake: Lake) -> None:
    examples, skipped = exported(lake)
    assert len(examples) == 3
    assert skipped == Counter({"not successful": 1, UNUSABLE: 1})
    by_task = {example["messages"][1]["content"]: example for example in examples}
    for record in (recorded(lake, "run-b")[f"task-00000{k}__sample-000"] for k in range(3)):
        example = by_task[record["reset"]["task_instruction"]]
        original = record["conversation"]
        assert example["messages"][-1]["role"] == "assistant"
        assert len(original) - len(example["messages"]) == 1
        for message, source in zip(example["messages"], original, strict=False):
            assert set(message) <= {"role", "content", "tool_calls", "tool_call_id"}
            assert all(message[key] == source[key] for key in message)
        parameters = example["tools"][0]["function"]["parameters"]
        assert parameters == {"type": "object", "properties": {"value": {"type": "string"}}}


def test_nothing_private_gets_out(lake: Lake) -> None:
    """No key of the goal or the reward, and no text of the goal that the conversation does not hold."""
    chosen = chosen_episodes(lake, ReviewStore(Path("none")), ["run-b"], Filters("success"))
    for reasoning in (False, True):
        for line in sft_lines(lake, chosen, reasoning=reasoning):
            example = json.loads(line)
            record = next(
                record
                for record in recorded(lake, "run-b").values()
                if record["conversation"] and record["conversation"][1] == example["messages"][1]
            )
            assert not {f'"{key}"' for key in PRIVATE_KEYS if f'"{key}"' in line.decode()}
            told = json.dumps(record["conversation"], ensure_ascii=False)
            goal = record["final"]["goal"]
            texts = [goal[key] for key in ("asin", "name", "task_uid", "instruction_text", "category")]
            for text in [*texts, *goal["attributes"], *goal["goal_options"]]:
                assert text in told or text not in line.decode()


def test_reasoning_is_added_where_it_tells_no_secret(lake: Lake) -> None:
    examples, skipped = exported(lake, reasoning=True)
    # Episode 1 names the wanted product before any page did; but pages did later, so it may.
    record = recorded(lake, "run-b")["task-000001__sample-000"]
    assert record["final"]["goal"]["asin"] in json.dumps(record["conversation"], ensure_ascii=False)
    assert len(examples) == 3
    assert not skipped[HELD_BACK]
    for example in examples:
        answers = [message for message in example["messages"] if message["role"] == "assistant"]
        assert all(message["reasoning_content"] for message in answers)


def test_reasoning_that_holds_what_only_the_goal_tells_is_held_back(tmp_path: Path) -> None:
    record = conversation(episode_record(3))
    secret = record["final"]["goal"]["instruction_text"] = "这句话只有目标里才有"
    record["steps"][0]["model"]["reasoning"] = f"我知道：{secret}。"
    write_run(tmp_path / "runs" / "run-b", [record])
    lake = Lake([tmp_path / "runs"], tmp_path / "lake")
    assert exported(lake, reasoning=True) == ([], Counter({HELD_BACK: 1, "not successful": 0}))
    examples, _ = exported(lake)
    assert len(examples) == 1
    example = sft_example(record, reasoning=True)
    assert example is not None
    assert leaks(record, example) == [secret]


def test_a_goal_text_in_escaped_arguments_is_no_secret() -> None:
    record = conversation(episode_record(3))
    name = record["final"]["goal"]["name"] = "转义的名字"
    call = next(m for m in record["conversation"] if m.get("tool_calls"))["tool_calls"][0]
    call["function"]["arguments"] = json.dumps({"query": name})
    record["steps"][0]["model"]["reasoning"] = f"搜索{name}"
    example = sft_example(record, reasoning=True)
    assert example is not None
    assert leaks(record, example) == []


def test_clean_leaves_slips_out(lake: Lake) -> None:
    examples, skipped = exported(lake, clean=True)
    assert examples == []  # the factory's successes each hold a refused action
    assert skipped["with a protocol error or a refused action"] == 4


@pytest.mark.parametrize(
    "broken",
    [
        None,
        "text",
        [None],
        [{"role": "robot", "content": "x"}, {"role": "assistant", "content": "y"}],
        [{"role": "user", "content": "x"}],
        [{"role": "user", "content": 3}, {"role": "assistant", "content": "y"}],
        [{"role": "tool", "content": "x"}, {"role": "assistant", "content": "y"}],
        [{"role": "user", "content": "x"}, {"role": "assistant", "content": None, "tool_calls": [{"id": 3}]}],
    ],
)
def test_conversations_that_cannot_be_used(broken: Any) -> None:
    assert sft_example(episode_record(1) | {"conversation": broken}) is None


def test_reasoning_that_cannot_be_told_apart_by_turn_is_not_guessed() -> None:
    record = conversation(episode_record(1))
    record["steps"].pop()
    assert sft_example(record) is not None
    assert sft_example(record, reasoning=True) is None


def test_content_parts_and_lone_surrogates_are_text(tmp_path: Path) -> None:
    record = conversation(episode_record(1))
    record["conversation"][1]["content"] = [
        {"type": "text", "text": "一"},
        {"type": "text", "text": "二\ud83d"},
    ]
    folder = tmp_path / "runs" / "run-b"
    folder.mkdir(parents=True)
    (folder / "traces.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    examples, _ = exported(Lake([tmp_path / "runs"], tmp_path / "lake"))
    assert examples[0]["messages"][1]["content"] == "一\n二\ud83d"


class TestLabels:
    """Verdicts as rows: what stands, or the whole history."""

    def rows(self, store: ReviewStore, *, history: bool = False) -> list[dict[str, Any]]:
        import pandas as pd

        current = pd.concat([store.current("episode"), store.current("task")])
        return label_rows(store.all_events() if history else current, current)

    def test_what_stands_and_what_was_said(self, store: ReviewStore) -> None:
        target = episode_target("run", "e", task_id=4, record="1")
        store.record(target, "Ann", Verdict(("looping", "protocol"), "minor", "=1+1"), expected=0)
        store.record(target, "Ann", Verdict(("looping",), "", "第二"), expected=1)
        store.record(task_target(9, "cc"), "Bob", Verdict((), "", "@x\nline"), expected=0)
        store.retract(target, "Ann", expected=2)
        assert [(row["reviewer"], row["stands"]) for row in self.rows(store)] == [("Bob", True)]
        history = self.rows(store, history=True)
        assert [row["stands"] for row in history] == [False, False, True, False]
        assert [row["action"] for row in history] == ["verdict", "verdict", "verdict", "retract"]
        lines = [json.loads(line) for line in labels_jsonl(history)]
        assert lines == history
        assert lines[0]["labels"] == ["looping", "protocol"]
        assert lines[0]["comment"] == "=1+1"
        assert (lines[2]["kind"], lines[2]["task_id"], lines[2]["catalogue"]) == ("task", 9, "cc")

    def test_a_spreadsheet_runs_nothing(self, store: ReviewStore) -> None:
        comments = ["=1+1", "+1", "-1", "@x", 'ok, "quoted"\nnext', "plain"]
        for number, comment in enumerate(comments):
            store.record(
                episode_target("=run", f"e{number}", task_id=None, record=""),
                "Ann",
                Verdict((), "", comment),
                expected=0,
            )
        text = labels_csv(self.rows(store)).decode("utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        assert [row["comment"] for row in rows] == [
            "'=1+1",
            "'+1",
            "'-1",
            "'@x",
            'ok, "quoted"\nnext',
            "plain",
        ]
        assert all(row["run_id"] == "'=run" for row in rows)
        assert all(row["task_id"] == "" for row in rows)

    @settings(max_examples=20, deadline=None)
    @given(comment=st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40))
    def test_json_lines_keep_every_character(
        self, tmp_path_factory: pytest.TempPathFactory, comment: str
    ) -> None:
        store = ReviewStore(tmp_path_factory.mktemp("labels") / "r.sqlite")
        target = episode_target("run", "e", task_id=1, record="")
        store.record(target, "Ann", Verdict(("looping",), "", comment), expected=0)
        (line,) = labels_jsonl(self.rows(store))
        assert line.count(b"\n") == 1
        assert json.loads(line)["comment"] == comment
