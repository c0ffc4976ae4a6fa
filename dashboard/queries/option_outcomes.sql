-- What happened to every wanted option value of complete episodes.
SELECT o.run_id, o.episode_id, o.task_id, o.axis, o.wanted_value, o.chosen_value, o.matched, o.purchased,
       o.goal_asin
FROM option_outcomes AS o
JOIN episodes AS e USING (run_id, episode_id)
WHERE e.complete AND list_contains($run_ids, o.run_id)
ORDER BY o.run_id, o.task_id, o.episode_id, o.wanted_value
