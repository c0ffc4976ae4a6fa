-- SQLite: every event on one target, oldest first; of one reviewer or (an empty name) of all.
SELECT * FROM events
WHERE target = :target AND (:reviewer = '' OR reviewer = :reviewer)
ORDER BY event_id
