-- Every query typed for one task, in order, and where the wanted product came among the results shown.
SELECT run_id, episode_id, query, total_results, goal_rank
FROM searches
WHERE task_id = $task_id AND list_contains($run_ids, run_id)
ORDER BY run_id, episode_id, search_no
