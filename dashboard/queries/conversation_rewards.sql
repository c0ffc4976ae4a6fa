-- Rewards of one run and their parts: by environment (`env`), by difficulty (`difficulty`) or by both (`both`).
SELECT
    CASE WHEN $grouping <> 'difficulty' THEN env END AS env,
    CASE WHEN $grouping <> 'env' THEN difficulty END AS difficulty,
    count(*) AS n,
    count(*) FILTER (correct) AS passes,
    favg(reward) AS reward_mean, stddev_samp(reward) AS reward_sd,
    favg(r_task) AS r_task_mean, stddev_samp(r_task) AS r_task_sd,
    favg(r_efficiency) AS r_efficiency_mean, stddev_samp(r_efficiency) AS r_efficiency_sd,
    favg(r_hallucination) AS r_hallucination_mean, stddev_samp(r_hallucination) AS r_hallucination_sd,
    avg(turns) AS turns_mean,
    CAST(sum(tool_calls) AS BIGINT) AS tool_calls,
    CAST(sum(tool_errors) AS BIGINT) AS tool_errors
FROM conversation_episodes
WHERE counted AND run_id = $run_id
GROUP BY 1, 2
ORDER BY 1, 2
