-- SQLite: version 1 of the review database. Events are only ever appended; what stands is each reviewer's
-- last event on a target.
CREATE TABLE events (
    event_id INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    reviewer TEXT NOT NULL CHECK (reviewer <> ''),
    target TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('episode', 'task')),
    run_id TEXT NOT NULL,
    episode_id TEXT NOT NULL,
    task_id INTEGER,
    catalogue TEXT NOT NULL,
    record TEXT NOT NULL,
    action TEXT NOT NULL CHECK (action IN ('verdict', 'retract', 'undo')),
    present INTEGER NOT NULL CHECK (present IN (0, 1)),
    labels TEXT NOT NULL CHECK (json_valid(labels)),
    severity TEXT NOT NULL CHECK (severity IN ('', 'minor', 'major', 'critical')),
    comment TEXT NOT NULL,
    restores INTEGER
) STRICT;

CREATE INDEX events_by_target ON events (target, reviewer, event_id);

CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
BEGIN
    SELECT raise(ABORT, 'events are only appended');
END;

CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events
BEGIN
    SELECT raise(ABORT, 'events are only appended');
END;
