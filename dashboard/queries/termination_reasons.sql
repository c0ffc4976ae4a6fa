-- Why episodes ended, by run: the termination reason of complete episodes, `failed` for all others.
SELECT
    run_id,
    CASE WHEN complete THEN coalesce(termination_reason, 'unknown') ELSE 'failed' END AS reason,
    count(*) AS n
FROM episodes
WHERE list_contains($run_ids, run_id)
GROUP BY ALL
ORDER BY run_id, n DESC, reason
