-- Every episode of the runs with what the task table tells of it; `matches` says whether it passes the
-- filters ('' and -1 leave one open). Words must all occur in the texts of its task or its own queries.
-- What a failed episode did not record of its task (goal, domain) is taken from the others of that task on the
-- same catalogue.
WITH typed AS (
    SELECT run_id, episode_id, string_agg(query, ' ') AS queries
    FROM searches
    WHERE list_contains($run_ids, run_id)
    GROUP BY run_id, episode_id
),
told AS (
    SELECT
        e.*,
        CASE WHEN complete THEN coalesce(termination_reason, 'unknown') ELSE 'failed' END AS reason,
        CASE $component
            WHEN 'r_type' THEN r_type
            WHEN 'r_att' THEN r_att
            WHEN 'r_option' THEN r_option
            WHEN 'r_price' THEN r_price
        END AS component,
        max(domain) OVER task AS task_domain,
        max(goal_name) OVER task AS task_goal,
        max(goal_asin) OVER task AS task_goal_asin,
        max(coalesce(shown_instruction, instruction_simple, instruction)) OVER task AS task_instruction,
        max(instruction) OVER task AS task_full_instruction,
        queries
    FROM judged e
    JOIN runs r USING (run_id)
    LEFT JOIN typed USING (run_id, episode_id)
    WHERE list_contains($run_ids, e.run_id) AND task_id IS NOT NULL
    WINDOW task AS (PARTITION BY r.catalogue_family, task_id)
),
searchable AS (
    SELECT
        *,
        lower(concat_ws(
            ' ', shown_instruction, task_instruction, task_full_instruction, task_goal, task_goal_asin, queries
        )) AS texts
    FROM told
)
SELECT
    run_id, episode_id, task_id, sample_id, complete, r_success,
    r_strict,
    task_domain AS domain,
    task_instruction AS instruction,
    ($task_id < 0 OR task_id = $task_id)
    AND len(list_filter(CAST($words AS VARCHAR[]), lambda word: NOT contains(texts, word))) = 0
    AND ($domain = '' OR coalesce(task_domain = $domain, false))
    AND ($reason = '' OR reason = $reason)
    AND ($component = '' OR coalesce(component < 1, false)) AS matches
FROM searchable
