-- The steps of one episode in order.
SELECT position, step_index, page_type, action, action_type, valid, reason, protocol_error, policy_failure,
       latency_ms, prompt_tokens, completion_tokens, page_after
FROM steps
WHERE run_id = $run_id AND episode_id = $episode_id
ORDER BY position
