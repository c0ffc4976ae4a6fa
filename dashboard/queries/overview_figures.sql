-- The figures of every run: reward and success over scored episodes, behaviour and cost over complete ones, where
-- there are traces; else as its summary states them (spec 04 A). sd is the sample deviation (n-1).
SELECT
    run_id,
    count(DISTINCT task_id) FILTER (complete) AS tasks,
    count(*) FILTER (complete) AS episodes,
    count(reward) FILTER (complete) AS reward_n,
    avg(reward) FILTER (complete) AS reward_mean,
    stddev_samp(reward) FILTER (complete) AS reward_sd,
    count(r_success) FILTER (complete) AS success_n,
    sum(r_success) FILTER (complete) AS successes,
    CAST(sum(model_steps) FILTER (complete) AS DOUBLE) / nullif(count(*) FILTER (complete), 0) AS steps_mean,
    CAST(sum(model_steps) FILTER (complete) AS DOUBLE) AS model_steps,
    CAST(sum(env_steps) FILTER (complete) AS DOUBLE) AS env_steps,
    CAST(sum(protocol_errors) FILTER (complete) AS DOUBLE) AS protocol_errors,
    CAST(sum(policy_failures) FILTER (complete) AS DOUBLE) AS policy_failures,
    CAST(sum(invalid_actions) FILTER (complete) AS DOUBLE) AS invalid_actions,
    CAST(sum(total_tokens) FILTER (complete) AS DOUBLE) AS total_tokens,
    avg(duration_ms) FILTER (complete) AS duration_ms_mean
FROM judged
GROUP BY run_id
UNION ALL BY NAME
SELECT
    s.run_id,
    s.completed AS episodes,
    s.scored AS reward_n,
    s.reward_mean,
    s.reward_sem * sqrt(s.scored) AS reward_sd,
    CASE WHEN s.success_rate IS NOT NULL THEN s.scored END AS success_n,
    s.success_rate * s.scored AS successes,
    s.steps_mean,
    s.model_steps,
    s.total_actions AS env_steps,
    s.protocol_errors,
    s.policy_failures,
    s.invalid_actions,
    s.total_tokens,
    s.duration_ms_mean
FROM summaries AS s
JOIN runs AS r USING (run_id)
WHERE NOT r.has_traces
