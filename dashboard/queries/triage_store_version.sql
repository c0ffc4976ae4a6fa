-- SQLite: the number of the last event; it grows with every change.
SELECT coalesce(max(event_id), 0) FROM events
