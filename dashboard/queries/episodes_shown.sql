-- What a list of episodes says about each.
SELECT run_id, episode_id, termination_reason, r_strict, shown_instruction, bought_name
FROM judged
WHERE list_contains($run_ids, run_id)
