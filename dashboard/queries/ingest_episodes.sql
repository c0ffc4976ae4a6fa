-- Table `episodes`: one row an episode (its winning record).
WITH counted AS (
    SELECT
        record_id,
        count(*) FILTER (has_protocol_error) AS protocol_errors,
        count(*) FILTER (has_policy_failure) AS policy_failures,
        count(*) FILTER (answered AND NOT has_protocol_error AND NOT has_policy_failure) AS env_steps,
        count(*) FILTER (answered AND NOT has_protocol_error AND NOT has_policy_failure AND valid = false)
            AS invalid_actions,
        sum(prompt_tokens) AS prompt_tokens,
        sum(completion_tokens) AS completion_tokens,
        sum(total_tokens) AS total_tokens,
        sum(reasoning_tokens) AS reasoning_tokens,
        count(*) FILTER (action_type = 'search') AS searches,
        count(*) FILTER (action_type = 'open_product') AS product_opens
    FROM walk
    GROUP BY record_id
)
SELECT
    stretch,
    episode_id, task_id, sample_id, seed, split, status,
    complete, scored, reward, r_type, r_att, r_option, r_price, r_loose, r_strict, r_success,
    complete AND coalesce(r_success = 1, false) AS success,
    termination_reason, target_asin_match, price_verifiable, price_upper, price_method,
    num_attr_matches, num_option_matches,
    len(goal_attributes) AS n_attributes,
    len(goal_options) AS n_options,
    CASE WHEN has_goal THEN price_upper IS NOT NULL END AS has_budget,
    coalesce(steps, 0) AS steps,
    coalesce(steps, 0) AS model_steps,
    coalesce(env_steps, 0) AS env_steps,
    coalesce(protocol_errors, 0) AS protocol_errors,
    coalesce(policy_failures, 0) AS policy_failures,
    coalesce(invalid_actions, 0) AS invalid_actions,
    try_cast(prompt_tokens AS BIGINT) AS prompt_tokens,
    try_cast(completion_tokens AS BIGINT) AS completion_tokens,
    try_cast(total_tokens AS BIGINT) AS total_tokens,
    try_cast(reasoning_tokens AS BIGINT) AS reasoning_tokens,
    duration_ms,
    try_cast(started_at AS TIMESTAMPTZ) AS started_at,
    try_cast(ended_at AS TIMESTAMPTZ) AS ended_at,
    instruction, instruction_simple, shown_instruction,
    goal_asin, goal_name, goal_category,
    nullif(trim(regexp_extract(goal_category, '^\s*([^›>/\\]*)', 1)), '') AS domain,
    bought_asin, bought_name, bought_price,
    coalesce(searches, 0) AS searches,
    coalesce(product_opens, 0) AS product_opens,
    error_stage, error_type, error_message, schema_version, provenance_hash,
    coalesce(winners.line_offset, line_places.line_offset) AS line_offset,
    coalesce(winners.line_length, line_places.line_length) AS line_length
FROM winners LEFT JOIN counted USING (record_id) LEFT JOIN line_places USING (line_no)
ORDER BY stretch, line_offset
