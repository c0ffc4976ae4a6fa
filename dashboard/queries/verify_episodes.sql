-- Every recorded episode of a run, in task order.
SELECT episode_id FROM episodes WHERE run_id = $run_id ORDER BY task_id, sample_id, episode_id
