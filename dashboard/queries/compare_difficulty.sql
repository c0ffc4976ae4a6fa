-- Share of the other runs' scored episodes that solved a task: how hard it is, told by runs that are not compared.
SELECT
    coalesce(split, '') AS split,
    task_id,
    avg(CAST(success AS DOUBLE)) AS solved_share,
    count(DISTINCT run_id) AS other_runs
FROM (
    SELECT run_id, split, task_id, success FROM episodes WHERE scored
    UNION ALL
    SELECT run_id, split, task_id, success FROM published_outcomes WHERE success IS NOT NULL
)
WHERE NOT list_contains($run_ids, run_id)
GROUP BY ALL
ORDER BY split, task_id
