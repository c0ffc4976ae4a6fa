-- The latest episodes of runs in the order of the file, the last one first, at most $most a run. `ended`:
-- seconds since 1970, NULL when the episode does not say.
SELECT run_id, episode_id, task_id, complete, success, r_strict, epoch(ended_at) AS ended
FROM judged
WHERE list_contains($run_ids, run_id)
QUALIFY row_number() OVER (PARTITION BY run_id ORDER BY line_offset DESC) <= $most
ORDER BY run_id, line_offset DESC
