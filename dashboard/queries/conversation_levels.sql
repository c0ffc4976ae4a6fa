-- Passed episodes by run, environment and difficulty.
SELECT run_id, env, difficulty, count(*) AS n, count(*) FILTER (correct) AS passes
FROM conversation_episodes
WHERE counted AND list_contains($run_ids, run_id)
GROUP BY ALL
ORDER BY run_id, env, difficulty
