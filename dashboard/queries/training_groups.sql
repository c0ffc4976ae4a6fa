-- Groups of one source; a step, round or class that is NULL means all.
WITH wrong AS (
    SELECT run_id, group_index, count(*) AS problems
    FROM training_problems
    WHERE source = $source
    GROUP BY run_id, group_index
)
SELECT
    g.run_id, g.round, g.group_index, g.rollout_step, g.task_id, g.mode, g.rollouts, g.scored, g.reward_mean,
    g.success_n, g.successes, g.technical, g.whole, g.all_wrong, g.zero_variance, g.classification,
    g.retried, g.retry_success, len(g.skill_ids) AS skills, len(g.chunk_ids) AS chunks,
    coalesce(w.problems, 0) AS problems
FROM training_groups g
LEFT JOIN wrong w USING (run_id, group_index)
WHERE g.source = $source
    AND ($step IS NULL OR g.rollout_step = $step)
    AND ($round IS NULL OR g.round = $round)
    AND ($class IS NULL OR coalesce(g.classification, 'not recorded') = $class)
ORDER BY g.round, g.group_index
