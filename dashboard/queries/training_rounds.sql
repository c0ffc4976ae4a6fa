-- The rounds of one source with their figures over the training rollouts that count.
WITH figures AS (
    SELECT
        run_id,
        count(*) FILTER (counted) AS rollouts,
        count(*) FILTER (counted AND has_record) AS records,
        count(*) FILTER (counted AND scored) AS scored,
        favg(reward) FILTER (counted AND scored) AS reward_mean,
        stddev_samp(reward) FILTER (counted AND scored) AS reward_sd,
        count(r_success) FILTER (counted AND scored) AS success_n,
        coalesce(sum(r_success) FILTER (counted AND scored), 0) AS successes,
        count(*) FILTER (kind = 'retry') AS retries
    FROM training_rollouts
    GROUP BY run_id
),
told AS (
    SELECT
        run_id,
        count(*) FILTER (technical) AS technical_groups,
        count(all_wrong) AS all_wrong_n,
        count(*) FILTER (all_wrong) AS all_wrong_groups,
        count(zero_variance) AS zero_variance_n,
        count(*) FILTER (zero_variance) AS zero_variance_groups
    FROM training_groups
    GROUP BY run_id
)
SELECT r.*, f.* EXCLUDE (run_id), t.* EXCLUDE (run_id)
FROM training_rounds r
LEFT JOIN figures f USING (run_id)
LEFT JOIN told t USING (run_id)
WHERE r.source = $source
ORDER BY r.source, r.round
