-- Every run with its main figures: computed from the traces, else as recorded in summary.json.
WITH computed AS (
    SELECT
        run_id,
        favg(reward) FILTER (complete) AS reward_mean,
        stddev_samp(reward) FILTER (complete) / sqrt(count(reward) FILTER (complete)) AS reward_sem,
        favg(r_success) FILTER (complete) AS success_rate,
        sum(model_steps) FILTER (complete) / count(*) FILTER (complete) AS steps_mean
    FROM judged
    GROUP BY run_id
)
SELECT
    r.*,
    CASE WHEN r.has_traces THEN c.reward_mean ELSE s.reward_mean END AS reward_mean,
    CASE WHEN r.has_traces THEN c.reward_sem ELSE s.reward_sem END AS reward_sem,
    CASE WHEN r.has_traces THEN c.success_rate ELSE s.success_rate END AS success_rate,
    CASE WHEN r.has_traces THEN c.steps_mean ELSE s.steps_mean END AS steps_mean
FROM runs r
LEFT JOIN computed c USING (run_id)
LEFT JOIN summaries s USING (run_id)
ORDER BY regexp_replace(lower(r.run_id), '\d+', '#', 'g'),
    try_cast(regexp_extract(r.run_id, '(\d+)', 1) AS BIGINT) NULLS FIRST,
    r.run_id
