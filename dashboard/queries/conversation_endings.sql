-- How the episodes of one run ended, by environment.
SELECT env, ending, count(*) AS n
FROM conversation_episodes
WHERE counted AND run_id = $run_id
GROUP BY ALL
ORDER BY env, ending
