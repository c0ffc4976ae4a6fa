-- Table `rollouts` of one ingest: one row a rollout of a group. Without a readable record it is what the triage
-- notes. Who calls a rollout unscored is believed: that is a technical failure, never reward 0 (spec 04 B).
SELECT
    $segment AS segment,
    m.group_name, m.kind, m.left_out, m.file, m.sample,
    coalesce(e.episode_id, m.episode_id) AS episode_id,
    e.stretch IS NOT NULL AS has_record,
    m.noted, m.noted_reward, m.noted_success, m.noted_scored, m.noted_components, m.origin,
    CASE
        WHEN e.stretch IS NULL THEN coalesce(m.noted_scored AND m.noted_reward IS NOT NULL, false)
        ELSE e.scored AND m.noted_scored IS DISTINCT FROM false
    END AS scored,
    CASE WHEN e.stretch IS NULL THEN m.noted_reward ELSE e.reward END AS reward,
    CASE WHEN e.stretch IS NULL THEN CAST(m.noted_success AS DOUBLE) ELSE e.r_success END AS r_success,
    e.r_type, e.r_att, e.r_option, e.r_price, e.r_loose, e.r_strict,
    e.num_attr_matches, e.num_option_matches, e.n_attributes, e.n_options,
    e.sample_id AS job_sample, e.seed, e.split,
    e.task_id, e.status, e.complete, e.termination_reason,
    e.steps, e.env_steps, e.protocol_errors, e.policy_failures, e.invalid_actions, e.searches, e.product_opens,
    e.prompt_tokens, e.completion_tokens, e.total_tokens, e.reasoning_tokens, e.duration_ms,
    e.started_at, e.ended_at, e.shown_instruction, e.goal_asin, e.goal_category, e.domain, e.bought_asin,
    e.error_stage, e.error_type, e.error_message, e.schema_version
FROM members m LEFT JOIN episodes e ON e.stretch = m.number
ORDER BY m.place
