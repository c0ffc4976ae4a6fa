-- The different origins that the training records of one round state, the most frequent first, each with its
-- first record and the rollout steps in which it occurs.
SELECT
    count(*) AS episodes,
    arg_min(episode_id, (group_index, file)) AS episode_id,
    arg_min(group_name || '/' || file, (group_index, file)) AS file,
    list_sort(list_distinct(list(rollout_step))) AS steps,
    origin
FROM training_rollouts
WHERE run_id = $run_id AND counted AND origin IS NOT NULL
GROUP BY origin
ORDER BY episodes DESC, file
