-- Table `attribute_outcomes`: one row a wanted attribute; `rows` are those that Python had to tell.
SELECT
    stretch, episode_id, task_id, purchased, goal_asin, bought_asin,
    unnest(goal_attributes) AS wanted_attribute,
    attributes_met AS matched
FROM goals
WHERE attributes_met IS NOT NULL
UNION ALL
FROM rows
