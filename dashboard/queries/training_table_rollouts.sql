-- Table `training_rollouts`: one row a rollout or retry. Groups are numbered through all rounds, or each round
-- starts again at 0: both give the step counted through the rounds (32 groups a step, 640 a round, spec 04 B).
CREATE TABLE training_rollouts AS
SELECT
    o.source, o.run_id, o.round,
    CAST(l.group_name[7:] AS BIGINT) AS group_index,
    CAST((CASE WHEN group_index < 640 * o.round THEN 640 * o.round ELSE 0 END + group_index) // 32 + 1 AS BIGINT)
        AS rollout_step,
    t.left_out IS NULL AS counted,
    t.* EXCLUDE (segment)
FROM read_parquet($files) t
JOIN live l USING (segment, group_name)
JOIN rounds_found o USING (run_id)
