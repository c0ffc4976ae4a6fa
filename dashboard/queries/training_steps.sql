-- Figures of each rollout step of one source. Rates over groups leave technical groups out, the share without a
-- skill and the retries count all groups (as the trainer's own figures do). An unscored rollout is in no mean.
WITH rollouts AS (
    SELECT
        rollout_step AS step,
        count(*) AS rollouts,
        count(*) FILTER (scored) AS reward_n,
        favg(reward) FILTER (scored) AS reward_mean,
        stddev_samp(reward) FILTER (scored) AS reward_sd,
        count(r_success) FILTER (scored) AS success_n,
        favg(r_success) FILTER (scored) AS success_rate
    FROM training_rollouts
    WHERE source = $source AND counted
    GROUP BY rollout_step
),
groups AS (
    SELECT
        rollout_step AS step,
        min(round) AS round,
        count(*) AS groups,
        count(*) FILTER (technical) AS technical_groups,
        count(all_wrong) AS all_wrong_n,
        count(*) FILTER (all_wrong) / nullif(count(all_wrong), 0) AS all_wrong_rate,
        count(zero_variance) AS zero_variance_n,
        count(*) FILTER (zero_variance) / nullif(count(zero_variance), 0) AS zero_variance_rate,
        count(mode) AS skill_free_n,
        count(*) FILTER (mode = 'skill_free') / nullif(count(mode), 0) AS skill_free_share,
        favg(q) AS q,
        count(*) FILTER (retried) AS retried_groups
    FROM training_groups
    WHERE source = $source
    GROUP BY rollout_step
)
SELECT * FROM groups LEFT JOIN rollouts USING (step) ORDER BY step
