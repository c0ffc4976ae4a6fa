-- What is needed to tell wanted options and attributes that were met from those that were not; one row an
-- episode whose goal is recorded. `pages`: the options offered by product pages that the agent saw.
WITH pages AS (
    SELECT record_id, list({'asin': asin, 'options': options}) AS pages
    FROM stage_offers
    GROUP BY record_id
)
SELECT
    stretch, episode_id, task_id, goal_asin, bought_asin, goal_attributes, goal_options, num_attr_matches,
    num_option_matches, bought_name, bought_attributes, bought_options,
    coalesce(termination_reason = 'purchase', false) AND bought_asin IS NOT NULL AS purchased,
    pages
FROM winners LEFT JOIN pages USING (record_id)
WHERE len(goal_attributes) > 0 OR len(goal_options) > 0
ORDER BY record_id
