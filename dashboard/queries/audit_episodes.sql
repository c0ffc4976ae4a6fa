-- What audit rules look at of every episode of the runs.
SELECT
    run_id, episode_id, task_id, sample_id, seed, split, schema_version, status, complete, scored,
    reward, r_type, r_att, r_option, r_price, r_loose, r_strict, r_success, termination_reason,
    num_attr_matches, num_option_matches, n_attributes, n_options, steps, error_type, line_offset, line_length
FROM episodes
WHERE list_contains($run_ids, run_id)
ORDER BY run_id, line_offset
