-- The rollouts and the retry of one group.
SELECT
    kind, left_out, counted, file, sample, episode_id, has_record, scored, reward, r_success, task_id,
    termination_reason, steps, invalid_actions, protocol_errors, total_tokens, duration_ms, error_type, error_message
FROM training_rollouts
WHERE run_id = $run_id AND group_index = $group_index
ORDER BY kind DESC, sample NULLS LAST, file NULLS LAST, episode_id
