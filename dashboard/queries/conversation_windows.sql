-- The saved curricula of some runs.
SELECT run_id, env, low, high, attempts, passes, episodes
FROM conversation_windows
WHERE list_contains($run_ids, run_id)
ORDER BY run_id
