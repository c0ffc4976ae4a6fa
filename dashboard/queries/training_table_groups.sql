-- Table `training_groups`: one row a group with its triage and the figures of its rollouts. A group is technical
-- when a rollout is unscored or its triage says so; whether all were wrong or rewards did not vary is told of
-- the others only, and only once the group is whole (a triage is there, or as many rollouts as is usual).
CREATE TABLE training_groups AS
WITH told AS (
    SELECT
        o.source, o.run_id, o.round,
        CAST(l.group_name[7:] AS BIGINT) AS group_index,
        CAST((CASE WHEN group_index < 640 * o.round THEN 640 * o.round ELSE 0 END + group_index) // 32 + 1 AS BIGINT)
            AS rollout_step,
        t.* EXCLUDE (segment)
    FROM read_parquet($files) t
    JOIN live l USING (segment, group_name)
    JOIN rounds_found o USING (run_id)
),
figures AS (
    SELECT
        run_id, group_index,
        min(task_id) FILTER (counted) AS task_id,
        count(*) FILTER (counted) AS rollouts,
        count(*) FILTER (counted AND has_record) AS records,
        count(*) FILTER (counted AND scored) AS scored,
        favg(reward) FILTER (counted AND scored) AS reward_mean,
        max(reward) FILTER (counted AND scored) - min(reward) FILTER (counted AND scored) AS reward_range,
        count(r_success) FILTER (counted AND scored) AS success_n,
        sum(r_success) FILTER (counted AND scored) AS successes,
        count(*) FILTER (kind = 'retry') AS retries,
        max(r_success) FILTER (kind = 'retry' AND scored) AS retry_success
    FROM training_rollouts
    GROUP BY run_id, group_index
),
usual AS (
    SELECT run_id, quantile_disc(rollouts, 0.5) AS usual_size FROM figures WHERE rollouts > 0 GROUP BY run_id
)
SELECT
    t.* EXCLUDE (retried),
    t.retried AS noted_retried,
    f.task_id,
    coalesce(f.rollouts, 0) AS rollouts,
    coalesce(f.records, 0) AS records,
    coalesce(f.scored, 0) AS scored,
    f.reward_mean, f.success_n, f.successes,
    coalesce(t.classification = 'environment_or_runtime_error', false) OR coalesce(f.scored < f.rollouts, false)
        AS technical,
    coalesce(f.rollouts, 0) > 0 AND (t.has_triage OR f.rollouts >= u.usual_size) AS whole,
    CASE
        WHEN technical OR NOT whole THEN NULL
        WHEN t.noted_all_wrong IS NOT NULL THEN t.noted_all_wrong
        WHEN f.success_n > 0 THEN f.successes = 0
    END AS all_wrong,
    CASE WHEN NOT technical AND whole AND f.scored > 1 THEN f.reward_range = 0 END AS zero_variance,
    coalesce(t.retried, false) OR coalesce(f.retries, 0) > 0 AS retried,
    f.retry_success
FROM told t
LEFT JOIN figures f USING (run_id, group_index)
LEFT JOIN usual u USING (run_id)
