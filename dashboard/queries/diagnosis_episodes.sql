-- What the diagnosis needs of each episode of some runs: outcome, which of the products that matter it was shown
-- and opened (those in $wanted, and its own target), how many products in all, signs of being stuck.
WITH wanted AS (
    SELECT DISTINCT unnest(CAST($wanted AS VARCHAR[])) AS asin
),
products AS (
    SELECT run_id, episode_id, asin, bool_or(is_goal) AS is_goal, bool_or(opened) AS opened
    FROM exposures
    WHERE list_contains($run_ids, run_id)
    GROUP BY ALL
),
seen AS (
    SELECT
        run_id, episode_id,
        coalesce(list(p.asin) FILTER (is_goal OR w.asin IS NOT NULL), []) AS shown,
        coalesce(list(p.asin) FILTER (opened AND (is_goal OR w.asin IS NOT NULL)), []) AS opened,
        count(p.asin) AS products_shown,
        count(p.asin) FILTER (opened) AS products_opened
    FROM products p LEFT JOIN wanted w USING (asin)
    GROUP BY ALL
),
repeated AS (
    SELECT run_id, episode_id, max(n) AS most_repeated
    FROM (
        SELECT run_id, episode_id, action, count(*) AS n
        FROM steps
        WHERE list_contains($run_ids, run_id) AND action IS NOT NULL
        GROUP BY ALL
    )
    GROUP BY ALL
)
SELECT
    e.run_id, e.episode_id, e.task_id,
    e.complete, e.scored, e.success, e.termination_reason,
    e.goal_asin, e.bought_asin, e.price_upper, e.price_verifiable,
    e.r_type, e.r_att, e.r_option, e.r_price,
    e.steps, e.protocol_errors, e.invalid_actions, e.searches,
    coalesce(r.most_repeated, 0) AS most_repeated,
    coalesce(s.shown, []) AS shown,
    coalesce(s.opened, []) AS opened,
    coalesce(s.products_shown, 0) AS products_shown,
    coalesce(s.products_opened, 0) AS products_opened,
    nullif(concat_ws(': ', e.error_stage, e.error_type, e.error_message), '') AS error
FROM judged e
LEFT JOIN seen s USING (run_id, episode_id)
LEFT JOIN repeated r USING (run_id, episode_id)
WHERE list_contains($run_ids, e.run_id)
ORDER BY e.run_id, e.task_id, e.sample_id, e.episode_id
