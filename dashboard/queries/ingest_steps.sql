-- Table `steps`: one row a model turn. Rows are not sorted here: who shows steps sorts those that it shows.
SELECT
    stretch,
    episode_id, task_id,
    coalesce(step_index, position) AS step_index,
    page_before AS page_type,
    nullif(verb, '') AS verb,
    CASE WHEN verb <> '' THEN argument END AS argument,
    action, action_type, valid, reason,
    CASE WHEN has_protocol_error THEN coalesce(protocol_error, 'unknown') END AS protocol_error,
    CASE WHEN has_policy_failure THEN coalesce(policy_failure, 'unknown') END AS policy_failure,
    finish_reason, latency_ms, prompt_tokens, completion_tokens, total_tokens, reasoning_tokens, reasoning_chars,
    page_after,
    position
FROM walk
