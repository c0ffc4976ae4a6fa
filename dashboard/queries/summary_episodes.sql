-- What the summary of one run is computed from (spec 04 A), one row an episode.
SELECT
    complete, reward, r_att, r_loose, r_option, r_price, r_strict, r_success, r_type,
    coalesce(model_steps, 0) AS model_steps,
    coalesce(protocol_errors, 0) AS protocol_errors,
    coalesce(policy_failures, 0) AS policy_failures,
    coalesce(env_steps, 0) AS env_steps,
    coalesce(invalid_actions, 0) AS invalid_actions,
    coalesce(completion_tokens, 0) AS completion_tokens,
    coalesce(prompt_tokens, 0) AS prompt_tokens,
    coalesce(total_tokens, 0) AS total_tokens,
    duration_ms, termination_reason, error_type
FROM episodes
WHERE run_id = $run_id
ORDER BY line_offset
