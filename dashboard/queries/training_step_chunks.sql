-- How often each chunk of the curriculum was in the skill of a group that was to get one, by rollout step of one
-- source, and the inclusion probability that the curriculum of that state asks for.
WITH listed AS (
    SELECT rollout_step AS step, round, state_id, unnest(list_distinct(chunk_ids)) AS chunk_id, skill_ids
    FROM training_groups
    WHERE source = $source AND mode IN ('assisted', 'assisted_empty') AND skill_ids IS NOT NULL
),
targets AS (
    SELECT state_id, chunk_id, any_value(rho) AS rho FROM training_targets GROUP BY state_id, chunk_id
)
SELECT
    l.step,
    min(l.round) AS round,
    l.chunk_id,
    count(*) AS n,
    count(*) FILTER (list_contains(l.skill_ids, l.chunk_id)) AS included,
    included / n AS inclusion_rate,
    CASE WHEN min(t.rho) = max(t.rho) THEN min(t.rho) END AS target_rho
FROM listed l
LEFT JOIN targets t USING (state_id, chunk_id)
GROUP BY l.step, l.chunk_id
ORDER BY l.step, l.chunk_id
