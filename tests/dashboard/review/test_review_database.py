"""The SQLite file: schema versions, damage, foreign files, append-only, readers beside a writer."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from dashboard.lake.sql import load_sql
from dashboard.review import ReviewError, ReviewStore, Verdict, database, episode_target
from dashboard.review.database import APPLICATION_ID, SCHEMA_VERSION, reading, statements, writing

TARGET = episode_target("run", "e", task_id=1, record="1")
SAID = Verdict(("looping",))


@pytest.fixture
def store(tmp_path: Path) -> ReviewStore:
    store = ReviewStore(tmp_path / "reviews.sqlite")
    store.record(TARGET, "Ann", SAID, expected=0)
    return store


def told(store: ReviewStore) -> str:
    """The one line that both a reader and a writer get."""
    with pytest.raises(ReviewError) as reading_error:
        store.current("episode")
    with pytest.raises(ReviewError) as writing_error:
        store.record(TARGET, "Bob", SAID, expected=0)
    assert str(store.path) in str(writing_error.value)
    for error in (reading_error, writing_error):
        assert "\n" not in str(error.value)
    return str(reading_error.value)


def execute(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(sql)


def test_the_file_says_what_it_is(store: ReviewStore) -> None:
    with closing(sqlite3.connect(store.path)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
        assert connection.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


def test_events_can_neither_be_changed_nor_deleted(store: ReviewStore) -> None:
    for sql in ("UPDATE events SET comment = 'x'", "DELETE FROM events"):
        with pytest.raises(sqlite3.IntegrityError, match="only appended"):
            execute(store.path, sql)


def test_a_newer_database_is_left_alone(store: ReviewStore) -> None:
    execute(store.path, f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    assert "this program knows up to" in told(store)


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    execute(path, "CREATE TABLE customers (name TEXT)")
    before = path.read_bytes()
    assert "of another program" in told(ReviewStore(path))
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    path = tmp_path / "text.sqlite"
    path.write_text("this is no database at all, but long enough to be taken for one" * 20)
    before = path.read_bytes()
    assert "is no SQLite database" in told(ReviewStore(path))
    assert path.read_bytes() == before


def test_a_damaged_database_is_told(store: ReviewStore) -> None:
    for number in range(120):
        store.record(episode_target("r", f"e{number}", task_id=1, record=""), "Ann", SAID, expected=0)
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(store.path.read_bytes())
    data[8192:] = os.urandom(len(data) - 8192)
    broken = store.path.with_name("broken.sqlite")
    broken.write_bytes(data)
    message = told(ReviewStore(broken))
    assert "is damaged" in message
    assert "Restore a copy" in message


def test_missing_tables_are_told(tmp_path: Path) -> None:
    path = tmp_path / "empty.sqlite"
    execute(path, "CREATE TABLE x (y)")
    execute(path, f"PRAGMA application_id = {APPLICATION_ID}")
    execute(path, f"PRAGMA user_version = {SCHEMA_VERSION}")
    assert "no such table: events" in told(ReviewStore(path))


def test_an_empty_file_becomes_a_database(tmp_path: Path) -> None:
    path = tmp_path / "reviews.sqlite"
    path.touch()
    store = ReviewStore(path)
    assert store.current("episode").empty
    store.record(TARGET, "Ann", SAID, expected=0)
    assert len(store.current("episode")) == 1


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    store = ReviewStore(tmp_path / "file" / "reviews.sqlite")
    assert store.current("episode").empty
    with pytest.raises(ReviewError, match="cannot be used"):
        store.record(TARGET, "Ann", SAID, expected=0)


def test_a_path_with_odd_characters_works(tmp_path: Path) -> None:
    store = ReviewStore(tmp_path / "a?mode=ro#%41 评" / "reviews.sqlite")
    store.record(TARGET, "Ann", SAID, expected=0)
    assert store.path.is_file()
    assert len(store.current("episode")) == 1


def test_a_failed_change_leaves_nothing(store: ReviewStore) -> None:
    class Stop(Exception):
        pass

    with pytest.raises(Stop), writing(store.path) as connection:
        connection.execute("CREATE TABLE half_done (x)")
        raise Stop
    with writing(store.path) as connection:
        assert not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'half_done'").fetchall()


def test_readers_go_on_while_one_writes(store: ReviewStore) -> None:
    with writing(store.path) as connection:
        connection.execute("SELECT 1")
        assert len(store.current("episode")) == 1
        with reading(store.path) as reader:
            assert reader is not None


def test_a_writer_that_waits_too_long_is_told(store: ReviewStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    with (
        closing(sqlite3.connect(store.path, isolation_level=None)) as other,
        pytest.raises(ReviewError, match="held by another process"),
    ):
        other.execute("BEGIN IMMEDIATE")
        store.record(TARGET, "Bob", SAID, expected=0)
    store.record(TARGET, "Bob", SAID, expected=0)


def test_an_older_schema_is_brought_up_to_date(store: ReviewStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a further migration the kept events stay, and a second writer finds nothing left to do."""
    scripts = {
        "triage_store_schema_1": load_sql("triage_store_schema_1"),
        "next": "CREATE TABLE notes (text TEXT); CREATE INDEX notes_by_text ON notes (text);",
    }
    monkeypatch.setattr(database, "MIGRATIONS", ("triage_store_schema_1", "next"))
    monkeypatch.setattr(database, "SCHEMA_VERSION", 2)
    monkeypatch.setattr(database, "load_sql", scripts.__getitem__)
    for _ in range(2):
        with writing(store.path) as connection:
            assert connection.execute("SELECT count(*) FROM notes").fetchone()[0] == 0
            assert connection.execute("SELECT count(*) FROM events").fetchone()[0] == 1
            assert connection.execute("PRAGMA user_version").fetchone()[0] == 2


def test_a_migration_that_fails_changes_nothing(store: ReviewStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "MIGRATIONS", ("triage_store_schema_1", "next"))
    monkeypatch.setattr(database, "SCHEMA_VERSION", 2)
    monkeypatch.setattr(database, "load_sql", lambda name: "CREATE TABLE notes (text TEXT); SELECT nonsense;")
    with pytest.raises(ReviewError, match="nonsense"), writing(store.path):
        pass
    with closing(sqlite3.connect(store.path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == 1
        assert (
            connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'notes'").fetchone()[0] == 0
        )


def test_scripts_are_cut_into_statements_with_triggers_whole() -> None:
    parts = list(statements(load_sql("triage_store_schema_1")))
    assert len(parts) == 4
    assert all(sqlite3.complete_statement(part) for part in parts)
