-- The figures of every run with traces, over complete episodes (spec 04 A); an unscored episode leaves
-- the mean of what it lacks. sd is the sample deviation (n-1).
SELECT
    run_id,
    count(*) AS episodes,
    count(DISTINCT task_id) AS tasks,
    count(*) FILTER (complete) AS completed,
    count(reward) FILTER (complete) AS reward_n,
    avg(reward) FILTER (complete) AS reward_mean,
    stddev_samp(reward) FILTER (complete) AS reward_sd,
    count(r_success) FILTER (complete) AS success_n,
    sum(r_success) FILTER (complete) AS successes,
    sum(model_steps) FILTER (complete) / count(*) FILTER (complete) AS steps_mean,
    sum(model_steps) FILTER (complete) AS model_steps,
    sum(env_steps) FILTER (complete) AS env_steps,
    sum(protocol_errors) FILTER (complete) AS protocol_errors,
    sum(policy_failures) FILTER (complete) AS policy_failures,
    sum(invalid_actions) FILTER (complete) AS invalid_actions,
    sum(total_tokens) FILTER (complete) AS total_tokens,
    avg(duration_ms) FILTER (complete) AS duration_ms_mean
FROM episodes
GROUP BY run_id
