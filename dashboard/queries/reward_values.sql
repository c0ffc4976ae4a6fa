-- How often each value of one component occurs, by run, over scored episodes: of the traces, else of the published
-- outcomes of single tasks.
SELECT run_id, value, count(*) AS n
FROM (
    SELECT run_id, value FROM component_values($metric, $run_ids)
    UNION ALL
    SELECT run_id, CASE $metric WHEN 'r_strict' THEN reward WHEN 'r_success' THEN CAST(success AS DOUBLE) END
    FROM published_outcomes JOIN runs USING (run_id)
    WHERE NOT has_traces AND reward IS NOT NULL AND list_contains($run_ids, run_id)
)
WHERE value IS NOT NULL
GROUP BY run_id, value
ORDER BY run_id, value
