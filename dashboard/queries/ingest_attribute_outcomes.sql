-- Table `attribute_outcomes`: one row a wanted attribute; `answers` are those that Python had to tell.
SELECT
    stretch, episode_id, task_id, purchased, goal_asin, bought_asin,
    unnest(goal_attributes) AS wanted_attribute,
    attributes_met AS matched
FROM goals
WHERE attributes_met IS NOT NULL
UNION ALL
(
    SELECT
        g.stretch, g.episode_id, g.task_id, g.purchased, g.goal_asin, g.bought_asin,
        a.wanted_attribute, a.matched
    FROM answers a
    JOIN (SELECT question, unnest(record_ids) AS record_id FROM questions) USING (question)
    JOIN goals g USING (record_id)
    ORDER BY record_id, a.place
)
