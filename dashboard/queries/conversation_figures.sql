-- One row a run: its episodes with figures, those that passed, the mean reward with its spread, difficulties played.
SELECT
    run_id,
    count(*) AS n,
    count(*) FILTER (correct) AS passes,
    favg(reward) AS reward_mean,
    stddev_samp(reward) AS reward_sd,
    min(difficulty) AS lowest,
    max(difficulty) AS highest
FROM conversation_episodes
WHERE counted AND list_contains($run_ids, run_id)
GROUP BY run_id
ORDER BY run_id
