-- Every episode of the runs with what reviewers filter and sort by, worst first: completed failures by strict
-- reward, then loose reward, then how many of the other runs solved the task (most first); after them
-- episodes without a score, technical failures, and last the successes. `record` tells a recording apart from
-- an earlier one of the same id. What a failed episode did not record of its task is taken from the others.
WITH told AS (
    SELECT
        e.*,
        coalesce(r.product_data_sha256, '') AS catalogue,
        r.catalogue_family AS family,
        bool_or(success) OVER (PARTITION BY e.run_id, task_id) AS run_solved
    FROM judged e
    JOIN runs r USING (run_id)
    WHERE list_contains($run_ids, e.run_id)
),
task_runs AS (
    SELECT family, task_id, count(DISTINCT run_id) AS runs,
           count(DISTINCT run_id) FILTER (run_solved) AS solved
    FROM told
    GROUP BY family, task_id
)
SELECT
    t.run_id, episode_id, task_id, sample_id, split, complete, scored, success,
    CASE WHEN complete THEN coalesce(termination_reason, 'unknown') ELSE 'failed' END AS reason,
    max(domain) OVER (PARTITION BY family, task_id) AS domain,
    r_type, r_att, r_option, r_price, r_success,
    r_strict, r_loose,
    steps, protocol_errors, policy_failures, invalid_actions, shown_instruction,
    error_type, error_message,
    coalesce(k.runs - 1, 0) AS other_runs,
    coalesce(k.solved - CAST(run_solved AS INTEGER), 0) AS solved_by_others,
    catalogue,
    coalesce(CAST(epoch_us(started_at) AS VARCHAR), '') AS record,
    line_offset, line_length
FROM told t
LEFT JOIN task_runs k USING (family, task_id)
ORDER BY
    CASE WHEN success THEN 3 WHEN NOT complete THEN 2 WHEN NOT scored THEN 1 ELSE 0 END,
    r_strict, r_loose,
    solved_by_others / nullif(other_runs, 0) DESC NULLS LAST,
    t.run_id, task_id, sample_id, episode_id
