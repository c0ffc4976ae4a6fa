-- Episodes of one run for the paired comparison (spec 04 D): key, metrics, and what the tasks are cut by.
-- A rate of an episode without any such step is 0 of 0 and counts as 0, as in the published comparisons.
SELECT
    coalesce(split, '') AS split,
    task_id,
    coalesce(sample_id, 0) AS sample_id,
    scored,
    reward, r_type, r_att, r_option, r_price, r_loose, r_strict, r_success,
    steps,
    coalesce(protocol_errors / nullif(model_steps, 0), 0) AS protocol_error_rate,
    coalesce(policy_failures / nullif(model_steps, 0), 0) AS policy_failure_rate,
    coalesce(invalid_actions / nullif(env_steps, 0), 0) AS invalid_action_rate,
    prompt_tokens, completion_tokens, total_tokens, reasoning_tokens, duration_ms,
    episode_id, domain, n_options, n_attributes, has_budget, shown_instruction
FROM judged
WHERE run_id = $run_id AND task_id IS NOT NULL
UNION ALL BY NAME
SELECT
    coalesce(split, '') AS split,
    task_id,
    coalesce(sample_id, 0) AS sample_id,
    reward IS NOT NULL AS scored,
    reward,
    CAST(success AS DOUBLE) AS r_success
FROM published_outcomes
WHERE run_id = $run_id
ORDER BY split, task_id, sample_id
