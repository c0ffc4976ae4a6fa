-- What happened to every wanted attribute of complete episodes.
SELECT a.run_id, a.episode_id, a.task_id, a.wanted_attribute, a.matched, a.purchased
FROM attribute_outcomes AS a
JOIN episodes AS e USING (run_id, episode_id)
WHERE e.complete AND list_contains($run_ids, a.run_id)
ORDER BY a.run_id, a.task_id, a.episode_id, a.wanted_attribute
