-- All episodes of one task in the runs, with what is set beside each other.
SELECT
    run_id, episode_id, task_id, sample_id, complete, r_success, r_strict, r_type, r_att, r_option, r_price,
    CASE WHEN complete THEN coalesce(termination_reason, 'unknown') ELSE 'failed' END AS reason,
    steps, protocol_errors, policy_failures, invalid_actions, total_tokens, duration_ms,
    shown_instruction, goal_asin, goal_name, bought_asin, bought_name, bought_price, target_asin_match,
    error_stage, error_type, error_message
FROM judged
WHERE task_id = $task_id AND list_contains($run_ids, run_id)
ORDER BY run_id, sample_id, episode_id
