-- How often each value of one component occurs, by run, over complete episodes.
SELECT run_id, value, count(*) AS n
FROM component_values($metric, $run_ids)
WHERE value IS NOT NULL
GROUP BY run_id, value
ORDER BY run_id, value
