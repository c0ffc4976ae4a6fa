-- What audit rules look at of every file (or noted rollout without a file) of one round.
SELECT
    group_index, rollout_step, kind, left_out, counted, has_record,
    CASE WHEN file IS NOT NULL THEN group_name || '/' || file END AS file,
    group_name || '/triage.json' AS triage_file,
    sample, job_sample, episode_id, task_id, seed, split,
    noted, noted_reward, noted_scored, noted_components,
    schema_version, status, complete, scored, reward,
    r_type, r_att, r_option, r_price, r_loose, r_strict, r_success, termination_reason,
    num_attr_matches, num_option_matches, n_attributes, n_options, steps, error_type,
    coalesce(steps, 0) AS model_steps,
    coalesce(protocol_errors, 0) AS protocol_errors,
    coalesce(policy_failures, 0) AS policy_failures,
    coalesce(env_steps, 0) AS env_steps,
    coalesce(invalid_actions, 0) AS invalid_actions,
    coalesce(completion_tokens, 0) AS completion_tokens,
    coalesce(prompt_tokens, 0) AS prompt_tokens,
    coalesce(total_tokens, 0) AS total_tokens,
    duration_ms
FROM training_rollouts
WHERE run_id = $run_id
ORDER BY group_index, kind DESC, sample NULLS LAST, file NULLS LAST, episode_id
