"""The queue: order, filters, what counts as reviewed, progress and the way through."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dashboard.lake import Lake
from dashboard.review import ReviewStore, Verdict, episode_target
from dashboard.review.queue import (
    Filters,
    filtered,
    is_open,
    neighbours,
    progress,
    standing,
    with_reviews,
    with_stages,
)
from shopsim.rollout.summary import finite_number
from shopsim.rollout.trace import is_complete, read_records
from tests.factories.traces import OUTCOMES, Episode, episode_record, write_run

RUNS = ("run-a", "run-b", "run-c")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    folder = tmp_path_factory.mktemp("queue")
    for number, name in enumerate(RUNS):
        records = [
            episode_record(10 * task, outcome=OUTCOMES[(task + number) % len(OUTCOMES)]) for task in range(16)
        ]
        if number == 1:
            unscored = episode_record(500, outcome="success")
            unscored["final"] |= {"reward": "1.0"}
            unscored["final"]["reward_detail"] |= {"r_strict": "1.0", "r_success": None}
            records.append(unscored)
            odd = Episode(0).search("x").fail().record()
            odd["job"]["task_id"] = None
            odd["episode_id"] = "no-task"
            records.append(odd)
        write_run(folder / "runs" / name, records, environment={"product_data_sha256": "aa" * 32})
    return Lake([folder / "runs"], folder / "lake")


@pytest.fixture
def episodes(lake: Lake) -> pd.DataFrame:
    return lake.query("triage_episodes", run_ids=list(RUNS))


@pytest.fixture
def store(tmp_path: Path) -> ReviewStore:
    return ReviewStore(tmp_path / "reviews.sqlite")


def records(lake: Lake) -> list[tuple[str, dict[str, Any]]]:
    return [
        (name, record)
        for name in RUNS
        for record in read_records(lake.run(name).path / "traces.jsonl").latest()
    ]


def succeeded(record: dict[str, Any]) -> bool:
    return is_complete(record) and record["final"]["reward_detail"]["r_success"] == 1


def say(
    store: ReviewStore, row: Any, name: str, *labels: str, record: str | None = None, severity: str = ""
) -> None:
    target = episode_target(
        row.run_id, row.episode_id, task_id=1, record=row.record if record is None else record
    )
    seen = store.latest(target, name)
    store.record(target, name, Verdict(labels, severity, "why"), expected=seen.event_id if seen else 0)


def test_every_record_is_there_worst_first(lake: Lake, episodes: pd.DataFrame) -> None:
    """Against a plain reading: nothing lost, and the order that the page promises."""
    known = records(lake)
    solved: dict[Any, set[str]] = {}
    played: dict[Any, set[str]] = {}
    for name, record in known:
        played.setdefault(record["job"]["task_id"], set()).add(name)
        if succeeded(record):
            solved.setdefault(record["job"]["task_id"], set()).add(name)

    def place(name: str, record: dict[str, Any]) -> tuple[Any, ...]:
        task = record["job"]["task_id"]
        detail = (record["final"] or {}).get("reward_detail", {})
        strict, loose = finite_number(detail.get("r_strict")), finite_number(detail.get("r_loose"))
        complete = is_complete(record)
        group = 3 if succeeded(record) else 2 if not complete else 1 if strict is None else 0
        others = len(played[task]) - 1 if task is not None else 0
        share = len(solved.get(task, set()) - {name}) / others if others else -1
        key = (strict or 0.0, loose or 0.0) if complete and strict is not None else (2.0, 2.0)
        return (group, *key, -share)

    expected = sorted(((place(name, record), name, record["episode_id"]) for name, record in known))
    found = list(zip(episodes["run_id"], episodes["episode_id"], strict=True))
    assert sorted(found) == sorted((name, episode) for _, name, episode in expected)
    places = {(name, episode): key for key, name, episode in expected}
    ordered = [places[key] for key in found]
    assert ordered == sorted(ordered)
    for row in episodes.to_dict("records"):
        task = None if pd.isna(row["task_id"]) else int(row["task_id"])
        if task is not None:
            assert row["other_runs"] == len(played[task]) - 1
            assert row["solved_by_others"] == len(solved.get(task, set()) - {row["run_id"]})


def test_a_failed_episode_is_told_its_domain_by_the_others(episodes: pd.DataFrame) -> None:
    assert episodes[episodes["task_id"].notna() & (episodes["task_id"] < 500)]["domain"].notna().all()


def test_only_verdicts_on_this_very_recording_count(episodes: pd.DataFrame, store: ReviewStore) -> None:
    first, second, third = (episodes.iloc[k] for k in range(3))
    say(store, first, "Ann", "looping", severity="minor")
    say(store, first, "Bob", "poor_search", severity="critical")
    say(store, second, "Bob", "looping", record="an earlier one")
    say(store, third, "Bob", "looping")
    verdicts = store.current("episode")
    told = with_reviews(episodes, verdicts, "ann")
    assert told["reviews"].tolist()[:4] == [2, 0, 1, 0]
    assert told["mine"].tolist()[:4] == [True, False, False, False]
    assert told["labels"].tolist()[:4] == [("looping", "poor_search"), (), ("looping",), ()]
    assert told["severity"].tolist()[:3] == ["critical", "", ""]
    assert told["outdated"].tolist()[:3] == [0, 1, 0]
    assert told["episode_id"].tolist() == episodes["episode_id"].tolist()
    assert len(standing(episodes, verdicts)) == 3
    assert not with_reviews(episodes, verdicts, "")["mine"].any()


def test_taking_back_opens_the_episode_again(episodes: pd.DataFrame, store: ReviewStore) -> None:
    row = episodes.iloc[0]
    say(store, row, "Ann", "looping")
    target = episode_target(row.run_id, row.episode_id, task_id=1, record=row.record)
    store.retract(target, "Ann", expected=1)
    assert with_reviews(episodes, store.current("episode"), "Ann")["reviews"].eq(0).all()


@pytest.mark.parametrize(
    ("filters", "keeps"),
    [
        (Filters(), lambda record: not succeeded(record)),
        (Filters("success"), succeeded),
        (Filters("all"), lambda record: True),
        (Filters(reason="failed"), lambda record: not is_complete(record)),
        (
            Filters(reason="action_limit"),
            lambda record: is_complete(record) and record["final"]["termination_reason"] == "action_limit",
        ),
        (
            Filters("all", component="r_att"),
            lambda record: is_complete(record) and record["final"]["reward_detail"]["r_att"] < 1,
        ),
    ],
)
def test_filters_keep_what_plain_python_keeps(
    lake: Lake, episodes: pd.DataFrame, filters: Filters, keeps: Any
) -> None:
    told = with_stages(with_reviews(episodes, ReviewStore(Path("none")).current("episode"), ""), None)
    found = filtered(told, filters)
    expected = {(name, record["episode_id"]) for name, record in records(lake) if keeps(record)}
    assert set(zip(found["run_id"], found["episode_id"], strict=True)) == expected
    assert expected


def test_labels_domains_and_stages_filter(episodes: pd.DataFrame, store: ReviewStore) -> None:
    failures = episodes[~episodes["success"]]
    row = failures.iloc[4]
    say(store, row, "Ann", "looping")
    stages = pd.DataFrame({"run_id": [row.run_id], "episode_id": [row.episode_id], "stage": ["left"]})
    told = with_stages(with_reviews(episodes, store.current("episode"), "Ann"), stages)
    for filters in (Filters(label="looping"), Filters(stage="left")):
        assert filtered(told, filters)["episode_id"].tolist() == [row.episode_id]
    assert filtered(told, Filters(label="protocol")).empty
    one = filtered(told, Filters(domain=row.domain))
    assert set(one["domain"]) == {row.domain}
    assert len(one) == (failures["domain"] == row.domain).sum()


def test_progress_and_the_way_through(episodes: pd.DataFrame, store: ReviewStore) -> None:
    failures = episodes[~episodes["success"]].reset_index(drop=True)
    keys = list(zip(failures["run_id"], failures["episode_id"], strict=True))
    for place in (0, 2, 3):
        say(store, failures.iloc[place], "Ann" if place else "Bob", "looping")
    told = with_reviews(failures, store.current("episode"), "Ann")
    assert progress(told).done == 3
    assert progress(told).total == len(keys)
    assert progress(told, mine=True).done == 2
    assert is_open(told, "reviewed").sum() == 3
    assert neighbours(told, "nobody", None) == (None, keys[1])
    assert neighbours(told, "nobody", keys[1]) == (keys[0], keys[4])
    assert neighbours(told, "me", keys[1]) == (keys[0], keys[4])
    assert neighbours(told, "me", keys[4]) == (keys[3], keys[5])
    assert neighbours(told, "reviewed", keys[0]) == (None, keys[2])
    assert neighbours(told, "reviewed", keys[3]) == (keys[2], keys[0])  # begins again
    assert neighbours(told, "all", keys[-1]) == (keys[-2], keys[0])
    assert neighbours(told, "nobody", ("run-x", "none")) == (None, keys[1])
    assert neighbours(told.head(1), "nobody", keys[0]) == (None, None)
    assert neighbours(told.head(0), "all", None) == (None, None)
