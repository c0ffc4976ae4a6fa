-- Every run of conversations with its main figures, in the order of the other family's list (runs_with_figures.sql).
SELECT
    'conversations' AS family,
    r.* EXCLUDE (plan, adaptive),
    r.experiment AS label,
    CASE WHEN r.adaptive > 0 THEN 'adaptive' WHEN r.difficulty IS NOT NULL THEN 'fixed difficulty'
        WHEN json_exists(r.plan, '$.difficulty') THEN 'adaptive' -- planned, nothing played yet
        ELSE 'unknown' END AS kind,
    CASE WHEN r.requested > 0 THEN r.complete / r.requested END AS coverage,
    f.reward_mean,
    f.success_rate
FROM conversation_runs r
LEFT JOIN (
    SELECT run_id, favg(reward) AS reward_mean, count(*) FILTER (correct) / count(*) AS success_rate
    FROM conversation_episodes
    WHERE counted
    GROUP BY run_id
) f USING (run_id)
ORDER BY regexp_replace(lower(r.run_id), '\d+', '#', 'g'),
    try_cast(regexp_extract(r.run_id, '(\d+)', 1) AS BIGINT) NULLS FIRST,
    r.run_id
