-- What the episodes of the runs can be narrowed to: domains and reasons of their end.
SELECT DISTINCT
    domain,
    CASE WHEN complete THEN coalesce(termination_reason, 'unknown') ELSE 'failed' END AS reason
FROM episodes
WHERE list_contains($run_ids, run_id)
