-- What failed episodes failed with.
SELECT
    coalesce(error_stage, 'unknown') AS error_stage,
    coalesce(error_type, 'unknown') AS error_type,
    count(*) AS n,
    count(DISTINCT run_id) AS runs,
    min(error_message) AS example
FROM episodes
WHERE NOT complete AND list_contains($run_ids, run_id)
GROUP BY ALL
ORDER BY n DESC, error_stage, error_type
