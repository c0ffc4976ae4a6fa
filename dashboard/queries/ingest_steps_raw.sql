-- The steps of one batch with every value read strictly; one row a step, in recorded order (`position`).
SELECT
    record_id,
    position,
    js_integer(s.step_index) AS step_index,
    js_text(s.action) AS action,
    js_truthy(s.protocol_error) OR js_truthy(s.model.protocol_error) AS has_protocol_error,
    coalesce(
        js_text(json_extract(s.protocol_error, '$.code')), js_text(json_extract(s.model.protocol_error, '$.code'))
    ) AS protocol_error,
    js_truthy(s.policy_failure) OR js_truthy(s.model.policy_failure) AS has_policy_failure,
    coalesce(
        js_text(json_extract(s.policy_failure, '$.code')), js_text(json_extract(s.model.policy_failure, '$.code'))
    ) AS policy_failure,
    js_text(s.model.finish_reason) AS finish_reason,
    js_number(s.model.latency_ms) AS latency_ms,
    js_count(s.model.usage.prompt_tokens) AS prompt_tokens,
    js_count(s.model.usage.completion_tokens) AS completion_tokens,
    js_count(s.model.usage.total_tokens) AS total_tokens,
    js_count(s.model.usage.completion_tokens_details.reasoning_tokens) AS reasoning_tokens,
    length(js_text(s.model.reasoning)) AS reasoning_chars,
    s.environment IS NOT NULL AS answered,
    js_boolean(s.environment.action_feedback.valid) AS valid,
    js_text(s.environment.action_feedback.reason) AS reason,
    js_text(s.environment.observation_state.page_type) AS page_type,
    js_text(s.environment.observation_state.search_text) AS search_text,
    js_text(s.environment.observation_state.normalized_search_text) AS normalized_search_text,
    js_integer(s.environment.observation_state.page) AS page,
    js_integer(s.environment.observation_state.total_results) AS total_results,
    s.environment.observation_state.products AS products,
    js_text(s.environment.observation_state.product.asin) AS product_asin,
    CAST(s.environment.observation_state.available_options AS VARCHAR) AS available_options
FROM (
    SELECT
        $first_id + line_row AS record_id,
        unnest(record.steps) AS s,
        generate_subscripts(record.steps, 1) AS position
    FROM readable
)
