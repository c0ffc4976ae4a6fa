-- Share of the other runs' scored episodes that solved a task: how hard it is, told by runs that are not compared
-- and that played the same tasks (`catalogue_family`). Runs that are no policy tell nothing of it: the oracle and
-- the random agent, and plays by hand.
WITH telling AS (
    SELECT run_id
    FROM runs
    WHERE catalogue_family = $family
        AND NOT list_contains($run_ids, run_id)
        AND provider IS DISTINCT FROM 'human'
        AND NOT coalesce(provider = 'scripted' AND model IN ('scripted-oracle', 'scripted-random'), false)
)
SELECT
    coalesce(split, '') AS split,
    task_id,
    avg(CAST(success AS DOUBLE)) AS solved_share,
    count(DISTINCT run_id) AS other_runs
FROM (
    SELECT run_id, split, task_id, success FROM judged WHERE scored
    UNION ALL
    SELECT run_id, split, task_id, success FROM published_outcomes WHERE success IS NOT NULL
)
WHERE run_id IN (SELECT run_id FROM telling)
GROUP BY ALL
ORDER BY split, task_id
