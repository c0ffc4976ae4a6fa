-- Ids of the recorded episodes, by run.
SELECT run_id, list(episode_id) AS episode_ids
FROM episodes
WHERE run_id IN (SELECT unnest($run_ids))
GROUP BY run_id
