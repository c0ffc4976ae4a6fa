-- What the episodes of one run can be filtered by.
SELECT env, difficulty, ending, count(*) AS n
FROM conversation_episodes
WHERE counted AND run_id = $run_id
GROUP BY ALL
ORDER BY env, difficulty, ending
