-- Table `option_outcomes`: one row a wanted option, as Python answered.
SELECT
    g.stretch, g.episode_id, g.task_id, g.purchased, g.goal_asin, g.bought_asin,
    a.axis, a.wanted_value, a.chosen_axis, a.chosen_value, a.matched
FROM answers a
JOIN (SELECT question, unnest(record_ids) AS record_id FROM questions) USING (question)
JOIN goals g USING (record_id)
ORDER BY record_id, a.place
