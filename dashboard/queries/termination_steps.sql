-- After how many model steps episodes ended, by reason (of complete episodes; `failed` for all others).
SELECT
    CASE WHEN complete THEN coalesce(termination_reason, 'unknown') ELSE 'failed' END AS reason,
    model_steps AS steps,
    count(*) AS n
FROM episodes
WHERE list_contains($run_ids, run_id)
GROUP BY ALL
ORDER BY reason, steps
