"""The review store: history, undo, optimistic changes, and several writers at once."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.review import (
    ConflictError,
    ReviewError,
    ReviewStore,
    Verdict,
    episode_target,
    load_taxonomy,
    task_target,
)
from dashboard.review.taxonomy import SHIPPED
from dashboard.review.verdicts import LONGEST_COMMENT, checked_reviewer, checked_verdict

TARGET = episode_target("run", "task-000001__sample-000", task_id=1, record="17")
ONE, TWO = Verdict(("looping",), "minor", "一"), Verdict(("poor_search",), "major", "two\nlines")


@pytest.fixture
def store(tmp_path: Path) -> ReviewStore:
    return ReviewStore(tmp_path / "state" / "reviews.sqlite")


def test_reading_creates_nothing(store: ReviewStore) -> None:
    assert store.version() == (0, 0, 0)
    assert store.current("episode").empty
    assert store.all_events().empty
    assert store.history(TARGET) == []
    assert store.reviewers() == []
    assert not store.path.parent.exists()


def test_the_last_verdict_of_each_reviewer_stands_and_nothing_is_lost(store: ReviewStore) -> None:
    first = store.record(TARGET, "Ann", ONE, expected=0)
    store.record(TARGET, "Bob", ONE, expected=0)
    store.record(TARGET, "Ann", TWO, expected=first.event_id)
    current = store.current("episode").set_index("reviewer")
    assert current.at["Ann", "labels"] == ("poor_search",)
    assert current.at["Ann", "comment"] == "two\nlines"
    assert current.at["Bob", "severity"] == "minor"
    assert current.at["Ann", "run_id"] == "run"
    assert current.at["Ann", "task_id"] == 1
    assert [event.verdict for event in store.history(TARGET)] == [ONE, ONE, TWO]
    assert [event.verdict for event in store.history(TARGET, "Ann")] == [ONE, TWO]
    assert len(store.all_events()) == 3
    assert store.reviewers() == ["Ann", "Bob"]
    assert store.version()[2] == 3


def test_episodes_and_tasks_and_catalogues_are_kept_apart(store: ReviewStore) -> None:
    targets = [TARGET, task_target(1, "aa"), task_target(1, "bb"), task_target(1, None)]
    for target in targets:
        store.record(target, "Ann", ONE, expected=0)
    assert len({target.key for target in targets}) == 4
    assert len(store.current("task")) == 3
    assert len(store.current("episode")) == 1
    assert store.latest(task_target(1, "aa"), "Ann").target == task_target(1, "aa")  # type: ignore[union-attr]


def test_a_stale_view_never_overwrites(store: ReviewStore) -> None:
    first = store.record(TARGET, "Ann", ONE, expected=0)
    for change in (
        lambda: store.record(TARGET, "Ann", TWO, expected=0),
        lambda: store.retract(TARGET, "Ann", expected=0),
        lambda: store.undo(TARGET, "Ann", expected=99),
    ):
        with pytest.raises(ConflictError) as caught:
            change()
        assert caught.value.event_id == first.event_id
        assert caught.value.code == "review_conflict"
    assert [event.event_id for event in store.history(TARGET)] == [first.event_id]


def test_retracting_leaves_nothing_standing_but_the_history(store: ReviewStore) -> None:
    first = store.record(TARGET, "Ann", ONE, expected=0)
    gone = store.retract(TARGET, "Ann", expected=first.event_id)
    assert gone.verdict is None
    assert store.current("episode").empty
    assert [event.action for event in store.history(TARGET)] == ["verdict", "retract"]
    with pytest.raises(ReviewError, match="no verdict to take back"):
        store.retract(TARGET, "Ann", expected=gone.event_id)
    again = store.undo(TARGET, "Ann", expected=gone.event_id)
    assert again.verdict == ONE
    assert store.current("episode")["labels"].tolist() == [("looping",)]


def test_undoing_an_outdated_verdict_brings_back_what_it_was_about(store: ReviewStore) -> None:
    first = store.record(TARGET, "Ann", ONE, expected=0)
    newer = episode_target("run", TARGET.episode_id, task_id=1, record="18")
    second = store.record(newer, "Ann", TWO, expected=first.event_id)
    undone = store.undo(newer, "Ann", expected=second.event_id)
    assert (undone.verdict, undone.target.record) == (ONE, "17")


def test_a_name_is_one_person_however_it_is_written(store: ReviewStore) -> None:
    first = store.record(TARGET, " Ann  Lee ", ONE, expected=0)
    assert first.reviewer == "Ann Lee"
    assert store.latest(TARGET, "ann lee") == first
    second = store.record(TARGET, "ANN LEE", TWO, expected=first.event_id)
    assert second.reviewer == "Ann Lee"
    assert store.reviewers() == ["Ann Lee"]


@pytest.mark.parametrize("name", ["", "  \n", "x" * 61])
def test_names_that_cannot_be_one_are_refused(store: ReviewStore, name: str) -> None:
    with pytest.raises(ReviewError, match="reviewer"):
        store.record(TARGET, name, ONE, expected=0)
    assert not store.path.exists()


def test_names_are_text_that_can_be_written() -> None:
    assert checked_reviewer("王\ud83d 伟") == "王\ufffd 伟"


def test_verdicts_are_checked_by_field() -> None:
    taxonomy = load_taxonomy(SHIPPED)
    told = checked_verdict(Verdict(("technical", "looping"), "", "  x \n"), "episode", taxonomy)
    assert told == Verdict(("looping", "technical"), "", "x")
    for verdict, kind, message in [
        (Verdict(("nonsense",)), "episode", "label 'nonsense'"),
        (Verdict(("looping",)), "task", "no label for tasks"),
        (Verdict(("looping",), "huge"), "episode", "severity 'huge'"),
        (Verdict((), "minor"), "episode", "needs a label or a comment"),
        (Verdict((), "", "x" * (LONGEST_COMMENT + 1)), "episode", "comment: 4001 characters"),
    ]:
        with pytest.raises(ReviewError, match=message):
            checked_verdict(verdict, kind, taxonomy)
    assert checked_verdict(Verdict(("gone",)), "episode", taxonomy, held={"gone"}).labels == ("gone",)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.sampled_from(["one", "two", "retract", "undo"]), max_size=10))
def test_undo_walks_back_through_the_states(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    """Against a plain model: the states that were made, and how far undoing has gone back."""
    store = ReviewStore(tmp_path_factory.mktemp("undo") / "r.sqlite")
    made: list[tuple[int, Verdict | None]] = []  # (index of the state before it, what stands)
    now, expected = -1, 0
    for step in steps:
        standing = made[now][1] if now >= 0 else None
        if step == "undo":
            if now < 0:
                with pytest.raises(ReviewError):
                    store.undo(TARGET, "Ann", expected=expected)
                continue
            event = store.undo(TARGET, "Ann", expected=expected)
            now = made[now][0]
        elif step == "retract":
            if standing is None:
                with pytest.raises(ReviewError):
                    store.retract(TARGET, "Ann", expected=expected)
                continue
            event = store.retract(TARGET, "Ann", expected=expected)
            made.append((now, None))
            now = len(made) - 1
        else:
            verdict = ONE if step == "one" else TWO
            event = store.record(TARGET, "Ann", verdict, expected=expected)
            made.append((now, verdict))
            now = len(made) - 1
        expected = event.event_id
        assert event.verdict == (made[now][1] if now >= 0 else None)
        assert store.latest(TARGET, "Ann") == event


WRITER = """
import random, sys
from pathlib import Path
from dashboard.review import ConflictError, ReviewStore, Verdict, episode_target
path, name, seed = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
store, dice = ReviewStore(path), random.Random(seed)
print("ready", flush=True)
sys.stdin.readline()
saved = conflicts = 0
for turn in range(40):
    target = episode_target("run", f"e{dice.randrange(4)}", task_id=1, record="1")
    seen = store.latest(target, name)
    try:
        store.record(target, name, Verdict(("looping",), "", f"{seed}-{turn}"),
                     expected=seen.event_id if seen else 0)
        saved += 1
    except ConflictError:
        conflicts += 1
print(saved, conflicts)
"""


def run_writers(path: Path, names: list[str]) -> list[tuple[int, int]]:
    """Two processes that write at the same time; how much each saved and was refused."""
    command = [sys.executable, "-c", WRITER, str(path)]
    writers = [
        subprocess.Popen(
            [*command, name, str(seed)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for seed, name in enumerate(names)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    results = []
    for writer in writers:
        out, _ = writer.communicate(timeout=120)
        assert writer.returncode == 0
        saved, conflicts = out.split()
        results.append((int(saved), int(conflicts)))
    return results


def test_two_processes_create_and_write_one_database(tmp_path: Path) -> None:
    """Two reviewers at once, from the creation of the file on: nothing is refused, nothing lost."""
    store = ReviewStore(tmp_path / "reviews.sqlite")
    assert run_writers(store.path, ["Ann", "Bob"]) == [(40, 0), (40, 0)]
    events = store.all_events()
    assert len(events) == 80
    assert events.groupby("reviewer").size().to_dict() == {"Ann": 40, "Bob": 40}
    assert events["event_id"].tolist() == list(range(1, 81))


def test_two_processes_of_one_reviewer_overwrite_nothing_unseen(tmp_path: Path) -> None:
    store = ReviewStore(tmp_path / "reviews.sqlite")
    results = run_writers(store.path, ["Ann", "Ann"])
    assert all(saved + conflicts == 40 for saved, conflicts in results)
    assert len(store.all_events()) == sum(saved for saved, _ in results)


def test_many_threads_share_a_store(store: ReviewStore) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def save(number: int) -> int:
        target = episode_target("run", f"e{number}", task_id=number, record="1")
        return store.record(target, f"Reviewer {random.Random(number).random()}", ONE, expected=0).event_id

    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(save, range(24)))
    assert sorted(ids) == list(range(1, 25))
