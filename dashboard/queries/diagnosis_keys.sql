-- The tasks of some runs with the price limit that each was scored with.
SELECT DISTINCT task_id, price_upper FROM episodes WHERE list_contains($run_ids, run_id) AND task_id IS NOT NULL
