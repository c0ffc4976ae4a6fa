-- What audit rules look at of every group of one round: its triage, and what its files give.
WITH files AS (
    SELECT
        group_index,
        count(*) FILTER (counted AND file IS NOT NULL) AS files,
        list_sort(list_distinct(list(sample) FILTER (counted AND file IS NOT NULL))) AS samples,
        list_sort(list_distinct(list(task_id) FILTER (counted AND has_record))) AS tasks,
        count(*) FILTER (kind = 'retry') AS retry_files,
        count(*) FILTER (kind = 'retry' AND scored) AS retry_scored
    FROM training_rollouts
    WHERE run_id = $run_id
    GROUP BY group_index
)
SELECT
    g.group_index, g.rollout_step, printf('group-%09d', g.group_index) AS folder,
    g.has_triage, g.state_id, g.triage_round_id, g.seed, g.q, g.classification, g.noted_all_wrong, g.noted_retried,
    g.rollouts, g.records, g.scored, g.success_n, coalesce(g.successes, 0) AS successes, g.retry_success,
    coalesce(f.files, 0) AS files, coalesce(f.samples, []) AS samples, coalesce(f.tasks, []) AS tasks,
    coalesce(f.retry_files, 0) AS retry_files, coalesce(f.retry_scored, 0) AS retry_scored
FROM training_groups g
LEFT JOIN files f USING (group_index)
WHERE g.run_id = $run_id
ORDER BY g.group_index
