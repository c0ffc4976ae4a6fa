-- SQLite: the verdicts that stand: the last event of each reviewer on each target, unless it took it back.
SELECT *
FROM events
WHERE event_id IN (SELECT max(event_id) FROM events GROUP BY target, reviewer) AND present AND kind = :kind
ORDER BY event_id
