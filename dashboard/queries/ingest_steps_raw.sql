-- The steps of one batch with every value read strictly; one row a step, in recorded order (`position`).
SELECT
    record_id,
    position,
    js_integer(s.step_index) AS step_index,
    s.action AS action,
    js_truthy(s.protocol_error) OR js_truthy(s.model.protocol_error) AS has_protocol_error,
    js_code(s.protocol_error, s.model.protocol_error) AS protocol_error,
    js_truthy(s.policy_failure) OR js_truthy(s.model.policy_failure) AS has_policy_failure,
    js_code(s.policy_failure, s.model.policy_failure) AS policy_failure,
    s.model.finish_reason AS finish_reason,
    js_number(s.model.latency_ms) AS latency_ms,
    js_count(s.model.usage.prompt_tokens) AS prompt_tokens,
    js_count(s.model.usage.completion_tokens) AS completion_tokens,
    js_count(s.model.usage.total_tokens) AS total_tokens,
    js_count(s.model.usage.completion_tokens_details.reasoning_tokens) AS reasoning_tokens,
    length(s.model.reasoning) AS reasoning_chars,
    s.environment IS NOT NULL AS answered,
    js_boolean(s.environment.action_feedback.valid) AS valid,
    s.environment.action_feedback.reason AS reason,
    s.environment.observation_state.page_type AS page_type
FROM steps_of_batch
