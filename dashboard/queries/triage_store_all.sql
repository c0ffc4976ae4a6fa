-- SQLite: the whole history, oldest first.
SELECT * FROM events ORDER BY event_id
