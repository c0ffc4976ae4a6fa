-- What is needed to tell wanted options and attributes that were met from those that were not; one row an
-- episode whose goal is recorded. `pages`: the options offered by product pages that the agent saw.
WITH offered AS (
    SELECT record_id, product_asin, any_value(available_options) AS options
    FROM walk
    WHERE product_asin IS NOT NULL AND available_options IS NOT NULL
    GROUP BY record_id, product_asin
),
pages AS (
    SELECT record_id, list({'asin': product_asin, 'options': options}) AS pages
    FROM offered
    GROUP BY record_id
)
SELECT
    stretch, episode_id, task_id, goal_asin, bought_asin, goal_attributes, goal_options, num_attr_matches,
    num_option_matches, bought_name, bought_attributes, bought_options,
    coalesce(termination_reason = 'purchase', false) AND bought_asin IS NOT NULL AS purchased,
    pages
FROM winners LEFT JOIN pages USING (record_id)
WHERE len(goal_attributes) > 0 OR len(goal_options) > 0
ORDER BY stretch, task_id, sample_id, episode_id
