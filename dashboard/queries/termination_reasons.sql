-- Why episodes ended, by run: the termination reason of complete episodes, `failed` for all others;
-- of a run without traces as its summary counts them.
SELECT
    run_id,
    CASE WHEN complete THEN coalesce(termination_reason, 'unknown') ELSE 'failed' END AS reason,
    count(*) AS n
FROM episodes
WHERE list_contains($run_ids, run_id)
GROUP BY ALL
UNION ALL
SELECT run_id, reason.name, reason.n
FROM (
    SELECT s.run_id, unnest(s.termination_reasons) AS reason
    FROM summaries AS s
    JOIN runs AS r USING (run_id)
    WHERE NOT r.has_traces AND list_contains($run_ids, s.run_id)
)
UNION ALL
SELECT s.run_id, 'failed', s.failed
FROM summaries AS s
JOIN runs AS r USING (run_id)
WHERE NOT r.has_traces AND s.failed > 0 AND list_contains($run_ids, s.run_id)
ORDER BY run_id, n DESC, reason
