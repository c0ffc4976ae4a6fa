-- What is needed to tell wanted options and attributes that were met from those that were not. Many episodes of one
-- task end alike: a row is a `question` that all episodes of `record_ids` have in common. `pages`: the options
-- offered by product pages that the agent saw, in the order of the first look, unless every wanted option was
-- met. `goal_attributes` only where the trace has to be searched for them.
CREATE OR REPLACE TABLE questions AS
WITH looks AS (
    SELECT
        rowid AS turn_id,
        max(CASE WHEN position = 1 THEN rowid END) OVER (ROWS UNBOUNDED PRECEDING) AS record_id,
        product_asin, available_options
    FROM turns
),
offers AS (
    SELECT record_id, product_asin, min(turn_id) AS first_look, arg_min(available_options, turn_id) AS options
    FROM looks
    WHERE product_asin IS NOT NULL AND available_options IS NOT NULL
    GROUP BY record_id, product_asin
),
pages AS (
    SELECT record_id, list({'asin': product_asin, 'options': options} ORDER BY first_look) AS pages
    FROM offers
    GROUP BY record_id
),
asked AS (
    SELECT
        record_id, goal_asin, bought_asin, goal_options, purchased,
        CASE WHEN purchased THEN bought_options END AS bought_options,
        CASE WHEN NOT purchased OR num_option_matches IS DISTINCT FROM len(goal_options) THEN pages END AS pages,
        attributes_met IS NULL AND len(goal_attributes) > 0 AS of_attributes,
        CASE WHEN of_attributes THEN goal_attributes END AS goal_attributes,
        CASE WHEN of_attributes THEN num_attr_matches END AS num_attr_matches,
        CASE WHEN of_attributes THEN bought_name END AS bought_name,
        CASE WHEN of_attributes THEN bought_attributes END AS bought_attributes
    FROM goals LEFT JOIN pages USING (record_id)
    WHERE len(goal_options) > 0 OR of_attributes
)
SELECT min(record_id) AS question, list(record_id) AS record_ids, * EXCLUDE (record_id, of_attributes)
FROM asked
GROUP BY ALL
