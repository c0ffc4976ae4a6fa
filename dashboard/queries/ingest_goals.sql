-- What is needed to tell wanted options and attributes that were met from those that were not; one row an
-- episode whose goal is recorded. `pages`: the options offered by product pages that the agent saw, unless
-- every wanted option was met. `goal_attributes` only where the trace has to be searched for them.
WITH pages AS (
    SELECT record_id, list({'asin': product_asin, 'options': options}) AS pages
    FROM (
        SELECT record_id, product_asin, any_value(available_options) AS options
        FROM (
            SELECT
                max(CASE WHEN position = 1 THEN rowid END) OVER (ROWS UNBOUNDED PRECEDING) AS record_id,
                product_asin, available_options
            FROM turns
        )
        WHERE product_asin IS NOT NULL AND available_options IS NOT NULL
        GROUP BY record_id, product_asin
    )
    GROUP BY record_id
)
SELECT
    stretch, episode_id, task_id, goal_asin, bought_asin, goal_options, bought_options, purchased,
    CASE WHEN NOT purchased OR num_option_matches IS DISTINCT FROM len(goal_options) THEN pages END AS pages,
    CASE WHEN attributes_met IS NULL THEN goal_attributes END AS goal_attributes,
    num_attr_matches, bought_name, bought_attributes
FROM goals LEFT JOIN pages USING (record_id)
WHERE len(goal_options) > 0 OR (attributes_met IS NULL AND len(goal_attributes) > 0)
ORDER BY record_id
