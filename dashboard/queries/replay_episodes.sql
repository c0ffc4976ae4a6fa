-- The episodes of one run in the order in which Replay leafs through them.
SELECT episode_id, task_id, sample_id, complete, r_success, r_strict
FROM judged
WHERE run_id = $run_id
ORDER BY task_id, sample_id, episode_id
